/** `/admin/health`: the state of the hub. */
import type { FullStore } from '@parley/a2a'
import type { Handler } from '@parley/a2a/server'
import { z } from 'zod'
import type { AgentView } from '../agent-view.ts'
import { isoTime } from '../../http/json-response.ts'
import { timestamp, type AdminRoute, jsonRoute, taggedRoutes } from '../route.ts'

export interface HealthRoutesDeps {
  readonly store: Pick<FullStore, 'ready' | 'tasks' | 'push'>
  /** Where tasks are stored, for display. */
  readonly storeName: string
  handler(): Promise<Pick<Handler, 'openStreams' | 'push'>>
  readonly view: AgentView
  readonly version: string
  readonly instance: string
  readonly now: () => number
}

const healthSchema = z
  .strictObject({
    status: z.enum(['ok', 'degraded']).describe('Degraded: the store or an agent is unhealthy.'),
    version: z.string(),
    node: z.string(),
    protocols: z.array(z.string()),
    instance: z.string().describe('Changes with each restart.'),
    startedAt: timestamp,
    uptimeMs: z.number(),
    store: z.strictObject({
      name: z.string(),
      isReady: z.boolean(),
      latencyMs: z.number(),
      trouble: z.string().optional(),
    }),
    agents: z.strictObject({
      all: z.int(),
      open: z.int(),
      down: z.array(z.string()),
      drifted: z.array(z.string()).describe('Remote agents whose card awaits approval.'),
    }),
    tasks: z.record(z.string(), z.int()),
    streams: z.int(),
    push: z.strictObject({
      isOn: z.boolean(),
      dead: z.int().describe('Dead webhooks; at most 100 are counted.'),
    }),
  })
  .meta({ id: 'Health' })

export type HubHealth = z.output<typeof healthSchema>

export function healthRoutes(parts: HealthRoutesDeps): readonly AdminRoute[] {
  const { store, storeName, view, version, instance, now } = parts
  const startedAt = now()
  const startedMonotonic = performance.now()
  return taggedRoutes('Health', [
    jsonRoute('GET /admin/health', {
      name: 'getHealth',
      summary: 'The health of the hub: store, agents, webhooks.',
      response: healthSchema,
      async handle() {
        const storeStatus = await storeHealth()
        const { openStreams, push } = await parts.handler()
        const agents = storeStatus.isReady ? await view.list() : []
        const dead = storeStatus.isReady ? await store.push.search({ state: 'dead', limit: 100 }) : { pushes: [] }
        const states = storeStatus.isReady ? await store.tasks.countStates() : []
        const down = agents.filter(({ state, health }) => state !== 'open' || health.state === 'down')
        return {
          status: storeStatus.isReady && down.length === 0 ? ('ok' as const) : ('degraded' as const),
          version,
          node: process.versions.node,
          protocols: ['1.0', '0.3', '0.2'],
          instance,
          startedAt: isoTime(startedAt),
          uptimeMs: Math.round(performance.now() - startedMonotonic),
          store: storeStatus,
          agents: {
            all: agents.length,
            open: agents.filter(({ state }) => state === 'open').length,
            down: down.map(({ name }) => name),
            drifted: agents.filter(({ drift }) => drift !== undefined).map(({ name }) => name),
          },
          tasks: Object.fromEntries(states.map(({ state, tasks }) => [state, tasks])),
          streams: openStreams(),
          push: { isOn: push !== undefined, dead: dead.pushes.length },
        }
      },
    }),
  ])

  /** Whether the store responds, and how fast: a readable store may still not be writable. */
  async function storeHealth() {
    const began = performance.now()
    const trouble = await Promise.all([store.tasks.countStates(), store.ready?.()]).then(
      () => undefined,
      (reason: unknown) => (reason instanceof Error ? reason.message : String(reason)),
    )
    const latencyMs = Math.round((performance.now() - began) * 10) / 10
    return {
      name: storeName,
      isReady: trouble === undefined,
      latencyMs,
      ...(trouble !== undefined ? { trouble } : {}),
    }
  }
}
