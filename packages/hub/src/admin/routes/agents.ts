/** `/admin/agents`: the state of each agent, and its cards. */
import { type CardVariant, newestVersion, versionIds } from '@parley/a2a/internal'
import { z } from 'zod'
import { matchesFilter } from '../../discovery/listed-agent.ts'
import type { AgentRegistry } from '../../registry/agent-registry.ts'
import type { HealthMonitor } from '../../health/health-monitor.ts'
import { agentSummary, type AgentSummary } from '../agent-summary.ts'
import type { AgentView } from '../agent-view.ts'
import { notFoundError, RouteError } from '../../http/json-response.ts'
import { nameField, type AdminRoute, jsonRoute, taggedRoutes } from '../route.ts'
import { endpointSchema, agentCardsSchema, type OwnCard, signatureInfo, remoteCardToJson } from '../card-view.ts'

export interface AgentRoutesDeps {
  readonly view: AgentView
  readonly registry: Pick<AgentRegistry, 'open' | 'refreshCard' | 'status' | 'retryNow' | 'stopRetrying'>
  readonly health: Pick<HealthMonitor, 'retryNow' | 'stopRetrying'>
  /** A card as clients receive it; `undefined` if there is none. */
  card(agent: string, variant: CardVariant): Promise<string | undefined>
  /** The entry in the file, with secrets redacted; `undefined` if there is no file. */
  entry(agent: string): unknown
}

const params = z.object({ agent: nameField })
const variants: readonly CardVariant[] = ['merged', ...versionIds]

const detail = agentSummary
  .extend({
    endpoints: z.array(endpointSchema),
    inputModes: z.array(z.string()),
    outputModes: z.array(z.string()),
    streaming: z.boolean(),
    pushNotifications: z.boolean(),
    extensions: z.array(z.string()),
    entry: z.unknown().optional().describe('Its entry in the configuration, without secrets.'),
  })
  .meta({ id: 'AgentDetail' })

export function agentRoutes({ view, registry, health, card, entry }: AgentRoutesDeps): readonly AdminRoute[] {
  return taggedRoutes('Agents', [
    jsonRoute('GET /admin/agents', {
      name: 'listAgents',
      summary: 'Lists the agents with their health and load.',
      query: z.strictObject({
        text: z.string().min(1).max(200).optional(),
        tag: z.string().max(200).optional(),
        skill: z.string().max(200).optional(),
        kind: z.string().max(64).optional(),
        check: z
          .literal('now')
          .optional()
          .describe('Checks the health of all agents first, and waits for the results.'),
      }),
      response: z.strictObject({ agents: z.array(agentSummary) }),
      async handle({ query: { kind, check, ...filter } }) {
        const all = await view.list({ isChecked: check === 'now' })
        return {
          agents: all.filter((agent) => matchesFilter(agent, filter) && (kind === undefined || agent.kind === kind)),
        }
      },
    }),
    jsonRoute('GET /admin/agents/{agent}', {
      name: 'getAgent',
      summary: 'Shows an agent with its endpoints and its entry.',
      params,
      response: detail,
      async handle({ params: { agent } }) {
        const summary = await requireSummary(agent)
        const configured = entry(agent)
        return { ...summary, ...(await cardFacts(agent)), ...(configured !== undefined ? { entry: configured } : {}) }
      },
    }),
    jsonRoute('POST /admin/agents/{agent}/look', {
      name: 'lookAtAgent',
      summary: 'Reads the description of the agent again.',
      params,
      response: agentSummary,
      async handle({ params: { agent } }) {
        await registry.refreshCard(agent)
        return requireSummary(agent)
      },
    }),
    jsonRoute('POST /admin/agents/{agent}/retry', {
      name: 'retryAgent',
      summary: 'Tries now to open or to reach an agent that is down, and continues to retry.',
      description: 'Responds when the attempt has ended.',
      params,
      response: agentSummary,
      event: 'agent.retried',
      async handle({ params: { agent } }) {
        requireAgent(agent)
        await registry.retryNow(agent)
        await health.retryNow(agent)
        return requireSummary(agent)
      },
    }),
    jsonRoute('POST /admin/agents/{agent}/stop-retrying', {
      name: 'stopRetryingAgent',
      summary: 'Stops retrying an agent that is down.',
      description:
        'Until `retryAgent`, a change of its configuration or a restart of the hub. No effect on an agent that is up.',
      params,
      response: agentSummary,
      event: 'agent.retry-stopped',
      handle({ params: { agent } }) {
        requireAgent(agent)
        registry.stopRetrying(agent)
        health.stopRetrying(agent)
        return requireSummary(agent)
      },
    }),
    jsonRoute('GET /admin/agents/{agent}/card', {
      name: 'getAgentCards',
      summary: 'The card as clients of each version see it, with the state of its signatures.',
      params,
      response: agentCardsSchema,
      async handle({ params: { agent } }) {
        const texts = await Promise.all(variants.map(async (variant) => [variant, await card(agent, variant)] as const))
        const shown = texts.flatMap(([variant, text]) =>
          text === undefined ? [] : [[variant, JSON.parse(text) as OwnCard] as const],
        )
        const newest = shown.find(([variant]) => variant === newestVersion)?.[1]
        if (newest === undefined) throw notFoundError()
        const remote = await registry.open(agent)?.cardWatch?.state()
        return {
          cards: Object.fromEntries(shown),
          signatures: (newest.signatures ?? []).map(signatureInfo),
          ...(remote !== undefined ? { remote: remoteCardToJson(remote) } : {}),
        }
      },
    }),
    jsonRoute('POST /admin/agents/{agent}/card/approve', {
      name: 'approveCard',
      summary: "Approves a remote agent's card that has changed.",
      params,
      body: z.strictObject({ fingerprint: z.string().max(64) }),
      response: agentSummary,
      event: 'card.approved',
      async handle({ params: { agent }, body: { fingerprint } }) {
        const watch = registry.open(agent)?.cardWatch
        if (watch === undefined) throw notFoundError()
        if (!(await watch.approve(fingerprint))) {
          throw new RouteError('CONFLICT', 'The card has changed since you loaded it: load it again')
        }
        return requireSummary(agent)
      },
    }),
  ])

  function requireAgent(agent: string): void {
    if (registry.status(agent) === undefined) throw notFoundError()
  }

  async function requireSummary(agent: string): Promise<AgentSummary> {
    const summary = await view.get(agent)
    if (summary === undefined) throw notFoundError()
    return summary
  }

  /** The fields of the newest card that a summary lacks. */
  async function cardFacts(agent: string) {
    const text = await card(agent, newestVersion)
    const shown = (text === undefined ? {} : JSON.parse(text)) as OwnCard
    return {
      endpoints: (shown.supportedInterfaces ?? []).map(({ url, protocolBinding, protocolVersion, tenant }) => ({
        url,
        protocolBinding,
        protocolVersion,
        ...(tenant !== undefined ? { tenant } : {}),
      })),
      inputModes: shown.defaultInputModes ?? [],
      outputModes: shown.defaultOutputModes ?? [],
      streaming: shown.capabilities?.streaming === true,
      pushNotifications: shown.capabilities?.pushNotifications === true,
      extensions: (shown.capabilities?.extensions ?? []).map(({ uri }) => uri),
    }
  }
}
