/** `/admin/agents`: each agent as it is, and as its callers see it. */
import type { CardVariant } from '@parley/a2a/server'
import { z } from 'zod'
import type { CardState } from '../../agents/kind.ts'
import { fits } from '../../discovery/listed-agent.ts'
import type { Registry } from '../../registry.ts'
import { agentSummary, type AgentView } from '../agent-view.ts'
import { notFound, RouteError, time } from '../answer.ts'
import { instant, json, name } from '../fields.ts'
import { type Route, route } from '../route.ts'

export interface AgentRouteParts {
  readonly view: AgentView
  readonly registry: Pick<Registry, 'open' | 'look' | 'status'>
  /** A card as clients are shown it; nothing if there is none. */
  card(agent: string, variant: CardVariant): Promise<string | undefined>
  /** What the file says of it, without secrets; nothing where there is no file. */
  entry(agent: string): unknown
}

const tag = 'Agents'
const params = z.object({ agent: name })
const variants = ['merged', '1.0', '0.3', '0.2'] as const

const endpoint = z.strictObject({
  url: z.string(),
  protocolBinding: z.string(),
  protocolVersion: z.string(),
  tenant: z.string().optional(),
})

const detail = agentSummary
  .extend({
    endpoints: z.array(endpoint),
    inputModes: z.array(z.string()),
    outputModes: z.array(z.string()),
    streaming: z.boolean(),
    pushNotifications: z.boolean(),
    extensions: z.array(z.string()),
    entry: z.unknown().optional().meta({ description: 'Its entry in the configuration, without secrets.' }),
  })
  .meta({ id: 'AgentDetail' })

const seen = z.strictObject({ fingerprint: z.string(), at: instant, card: json })

const cards = z
  .strictObject({
    cards: z
      .strictObject({ merged: json.optional(), '1.0': json.optional(), '0.3': json.optional(), '0.2': json.optional() })
      .meta({ description: 'As clients of each version are shown it; `merged` is for those who name none.' }),
    signatures: z.array(z.strictObject({ alg: z.string(), kid: z.string(), keys: z.string().optional() })),
    remote: z
      .strictObject({
        policy: z.enum(['alert', 'block', 'ignore']),
        approved: seen.optional(),
        changed: seen
          .extend({ fields: z.array(z.string()) })
          .optional()
          .meta({ description: 'What it says now, where that was not approved, and what of it is otherwise.' }),
        signature: z
          .strictObject({
            status: z.enum(['unchecked', 'unsigned', 'unverified', 'verified']),
            why: z.string().optional(),
            kid: z.string().optional(),
            alg: z.string().optional(),
            keys: z.string().optional(),
            form: z.string().optional(),
          })
          .optional(),
      })
      .optional()
      .meta({ description: 'Of an agent that others run: its own card.' }),
  })
  .meta({ id: 'AgentCards' })

export function agentRoutes({ view, registry, card, entry }: AgentRouteParts): readonly Route[] {
  return [
    route({
      method: 'GET',
      path: '/admin/agents',
      name: 'listAgents',
      summary: 'Lists the agents: what each is, how it is and what it does.',
      tag,
      query: z.strictObject({
        text: z.string().min(1).max(200).optional(),
        tag: z.string().max(200).optional(),
        skill: z.string().max(200).optional(),
        kind: z.string().max(64).optional(),
      }),
      answer: z.strictObject({ agents: z.array(agentSummary) }),
      async handle({ query: { kind, ...filter } }) {
        const all = await view.list()
        return { agents: all.filter((agent) => fits(agent, filter) && (kind === undefined || agent.kind === kind)) }
      },
    }),
    route({
      method: 'GET',
      path: '/admin/agents/{agent}',
      name: 'getAgent',
      summary: 'Shows an agent with its endpoints and its entry.',
      tag,
      params,
      answer: detail,
      async handle({ params: { agent } }) {
        const summary = await view.get(agent)
        if (summary === undefined) throw notFound()
        const written = entry(agent)
        return { ...summary, ...(await cardFacts(agent)), ...(written !== undefined ? { entry: written } : {}) }
      },
    }),
    route({
      method: 'POST',
      path: '/admin/agents/{agent}/look',
      name: 'lookAtAgent',
      summary: 'Asks the agent anew what it says of itself.',
      tag,
      params,
      answer: agentSummary,
      async handle({ params: { agent } }) {
        await registry.look(agent)
        const summary = await view.get(agent)
        if (summary === undefined) throw notFound()
        return summary
      },
    }),
    route({
      method: 'GET',
      path: '/admin/agents/{agent}/card',
      name: 'getAgentCards',
      summary: 'The card as clients of each version see it, with the state of its signatures.',
      tag,
      params,
      answer: cards,
      async handle({ params: { agent } }) {
        const texts = await Promise.all(variants.map(async (variant) => [variant, await card(agent, variant)] as const))
        const shown = texts.flatMap(([variant, text]) =>
          text === undefined ? [] : [[variant, JSON.parse(text) as Card] as const],
        )
        const newest = shown.find(([variant]) => variant === '1.0')?.[1]
        if (newest === undefined) throw notFound()
        const remote = await registry.open(agent)?.cardWatch?.state()
        return {
          cards: Object.fromEntries(shown),
          signatures: (newest.signatures ?? []).map(signerOf),
          ...(remote !== undefined ? { remote: shownRemote(remote) } : {}),
        }
      },
    }),
    route({
      method: 'POST',
      path: '/admin/agents/{agent}/card/approve',
      name: 'approveCard',
      summary: "Approves a remote agent's card that has changed.",
      tag,
      params,
      body: z.strictObject({ fingerprint: z.string().max(64) }),
      answer: agentSummary,
      event: 'card.approved',
      async handle({ params: { agent }, body: { fingerprint } }) {
        const watch = registry.open(agent)?.cardWatch
        if (watch === undefined) throw notFound()
        if (!(await watch.approve(fingerprint))) {
          throw new RouteError('CONFLICT', 'This is not the card that waits: look at it again')
        }
        const summary = await view.get(agent)
        if (summary === undefined) throw notFound()
        return summary
      },
    }),
  ]

  /** What the newest card says that a summary does not. */
  async function cardFacts(agent: string) {
    const text = await card(agent, '1.0')
    const shown = (text === undefined ? {} : JSON.parse(text)) as Card
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

/** What we read of a card that we wrote ourselves. */
interface Card {
  readonly [member: string]: unknown
  readonly supportedInterfaces?: readonly z.input<typeof endpoint>[]
  readonly defaultInputModes?: string[]
  readonly defaultOutputModes?: string[]
  readonly capabilities?: {
    readonly streaming?: boolean
    readonly pushNotifications?: boolean
    readonly extensions?: readonly { readonly uri: string }[]
  }
  readonly signatures?: readonly { readonly protected: string }[]
}

function signerOf({ protected: header }: { readonly protected: string }) {
  const { alg, kid, jku } = JSON.parse(Buffer.from(header, 'base64url').toString()) as {
    alg: string
    kid: string
    jku?: string
  }
  return { alg, kid, ...(jku !== undefined ? { keys: jku } : {}) }
}

function shownRemote({ policy, approved, changed, signature }: CardState) {
  const shown = ({ fingerprint, at, card: own }: NonNullable<CardState['approved']>) => ({
    fingerprint,
    at: time(at),
    card: own as unknown as Record<string, unknown>,
  })
  return {
    policy,
    ...(approved !== undefined ? { approved: shown(approved) } : {}),
    ...(changed !== undefined ? { changed: { ...shown(changed), fields: [...changed.fields] } } : {}),
    ...(signature !== undefined ? { signature } : {}),
  }
}
