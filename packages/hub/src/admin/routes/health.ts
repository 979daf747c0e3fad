/** `/admin/health`: how the hub is, and how the last hour went. */
import type { Store } from '@parley/a2a'
import type { Handler } from '@parley/a2a/server'
import { z } from 'zod'
import type { AgentView } from '../agent-view.ts'
import { time } from '../answer.ts'
import { instant } from '../fields.ts'
import type { Pulse } from '../pulse.ts'
import { type Route, route } from '../route.ts'

export interface HealthRouteParts {
  readonly store: Pick<Store, 'ready' | 'countStates' | 'searchPush'>
  /** For people: where tasks are kept. */
  readonly storeName: string
  handler(): Promise<Pick<Handler, 'streams' | 'push'>>
  readonly view: AgentView
  readonly pulse: Pulse
  readonly version: string
  readonly instance: string
  readonly now: () => number
}

const tag = 'Health'

export function healthRoutes(parts: HealthRouteParts): readonly Route[] {
  const { store, storeName, view, pulse, version, instance, now } = parts
  const startedAt = now()
  const startedMonotonic = performance.now()
  return [
    route({
      method: 'GET',
      path: '/admin/health',
      name: 'getHealth',
      summary: 'How the hub is: its store, its agents, its webhooks.',
      tag,
      answer: z
        .strictObject({
          status: z.enum(['ok', 'degraded']).meta({ description: 'Degraded: the store or an agent is not well.' }),
          version: z.string(),
          node: z.string(),
          protocols: z.array(z.string()),
          instance: z.string().meta({ description: 'Another one after each restart.' }),
          startedAt: instant,
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
            drifted: z.array(z.string()).meta({ description: 'Remote agents whose card waits to be approved.' }),
          }),
          tasks: z.record(z.string(), z.int()),
          streams: z.int(),
          push: z.strictObject({
            isOn: z.boolean(),
            dead: z.int().meta({ description: 'Webhooks that were given up; at most 100 are counted.' }),
          }),
        })
        .meta({ id: 'Health' }),
      async handle() {
        const kept = await storeHealth()
        const { streams, push } = await parts.handler()
        const agents = kept.isReady ? await view.list() : []
        const dead = kept.isReady ? await store.searchPush({ state: 'dead', limit: 100 }) : { pushes: [] }
        const states = kept.isReady ? await store.countStates() : []
        const down = agents.filter(({ state, health }) => state !== 'open' || health.state === 'down')
        return {
          status: kept.isReady && down.length === 0 ? ('ok' as const) : ('degraded' as const),
          version,
          node: process.versions.node,
          protocols: ['1.0', '0.3', '0.2'],
          instance,
          startedAt: time(startedAt),
          uptimeMs: Math.round(performance.now() - startedMonotonic),
          store: kept,
          agents: {
            all: agents.length,
            open: agents.filter(({ state }) => state === 'open').length,
            down: down.map(({ name }) => name),
            drifted: agents.filter(({ drift }) => drift !== undefined).map(({ name }) => name),
          },
          tasks: Object.fromEntries(states.map(({ state, tasks }) => [state, tasks])),
          streams: streams(),
          push: { isOn: push !== undefined, dead: dead.pushes.length },
        }
      },
    }),
    route({
      method: 'GET',
      path: '/admin/health/pulse',
      name: 'getPulse',
      summary: 'The last hour of this process, minute by minute.',
      tag,
      answer: z.strictObject({
        minutes: z.array(
          z.strictObject({
            at: instant,
            requests: z.int(),
            errors: z.int(),
            p50Ms: z.number().optional(),
            p99Ms: z.number().optional(),
            streams: z.int(),
          }),
        ),
      }),
      handle: () => ({ minutes: pulse.read().map(({ at, ...rest }) => ({ at: time(at), ...rest })) }),
    }),
  ]

  /** Whether it answers, and how fast: one that can be read may still not be written. */
  async function storeHealth() {
    const began = performance.now()
    const trouble = await Promise.all([store.countStates(), store.ready?.()]).then(
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
