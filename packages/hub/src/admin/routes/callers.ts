/** `/admin/callers`: what each caller does, by the name of its keys. */
import { omitUndefined } from '@parley/a2a/internal'
import { z } from 'zod'
import type { ApiKeys } from '../../auth/api-keys.ts'
import { isoTime } from '../../http/json-response.ts'
import { callerRanges, type CallerUsage } from '../../telemetry/stats/caller-stats.ts'
import type { StatsHistory } from '../../telemetry/stats/stats-history.ts'
import { type AdminRoute, jsonRoute, limitField, taggedRoutes, timestamp } from '../route.ts'

export interface CallerRoutesDeps {
  readonly stats: Pick<StatsHistory, 'callers'>
  readonly keys: Pick<ApiKeys, 'get' | 'ofCaller'>
}

const usage = z.strictObject({
  calls: z.int().describe('Messages that it sent.'),
  errors: z.int().describe('Requests that ended with an error of the hub or of an agent, and failed tasks.'),
  refused: z
    .int()
    .describe('Requests that a limit of the hub or of an agent refused (429). They are no calls, and no errors.'),
  inputTokens: z.int().describe('Also of tasks that agents delegated on its behalf.'),
  outputTokens: z.int(),
  cost: z.number().optional().describe('By the configured prices; absent if no price is known.'),
})

const callerUsage = z
  .strictObject({
    caller: z.string().describe('The principal: the owner of its tasks.'),
    keys: z.array(z.strictObject({ id: z.string(), name: z.string() })).describe('Up to ten of its API keys.'),
    ...usage.shape,
    lastSeenAt: timestamp.optional().describe('Its last request in the range; absent if only its tasks continued.'),
  })
  .meta({ id: 'CallerUsage' })

const maxKeys = 10

export function callerRoutes({ stats, keys }: CallerRoutesDeps): readonly AdminRoute[] {
  return taggedRoutes('Health', [
    jsonRoute('GET /admin/callers', {
      name: 'listCallers',
      summary:
        'What each caller did: calls, errors, refused requests, tokens and cost. The one with the most calls first.',
      description:
        'Of all replicas, in whole hours for `24h` and in whole days, in UTC, for longer ranges. The first 1,000 callers of an hour ' +
        'or a day on each replica are counted by themselves.',
      query: z.strictObject({ range: z.enum(callerRanges).default('24h'), limit: limitField(100, 1_000) }),
      response: z.strictObject({
        callers: z.array(callerUsage),
        more: z.int().describe('Callers that are left out by the limit.'),
        others: usage.optional().describe('Callers that were not counted by themselves; absent if there are none.'),
      }),
      async handle({ query: { range, limit } }) {
        const all = await stats.callers(range)
        const named = all.flatMap(({ caller, ...one }) => (caller === undefined ? [] : [{ caller, ...one }]))
        const others = all.find(({ caller }) => caller === undefined)
        return {
          callers: await Promise.all(
            named.slice(0, limit).map(async (one) => ({
              ...usageToJson(one),
              caller: one.caller,
              ...seen(one),
              keys: await keysOf(one.caller),
            })),
          ),
          more: Math.max(0, named.length - limit),
          ...(others === undefined ? {} : { others: usageToJson(others) }),
        }
      },
    }),
  ])

  /** Revoked keys have no entry among those of a caller; a key without a principal of its own is named by its id. */
  async function keysOf(caller: string) {
    const own = /^key:(\w+)$/.exec(caller)?.[1]
    const found = own === undefined ? await keys.ofCaller(caller, maxKeys) : [await keys.get(own)]
    return found.flatMap((key) => (key === undefined ? [] : [{ id: key.id, name: key.name }]))
  }
}

function usageToJson({ calls, errors, refused, inputTokens, outputTokens, cost }: CallerUsage) {
  return { calls, errors, refused, inputTokens, outputTokens, ...omitUndefined({ cost }) }
}

function seen({ lastSeenAt }: CallerUsage) {
  return lastSeenAt === 0 ? {} : { lastSeenAt: isoTime(lastSeenAt) }
}
