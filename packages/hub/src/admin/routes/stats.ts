/** `/admin/stats`: requests, response times, errors, streams, tokens and cost over time, of the hub or of one agent. */
import { z } from 'zod'
import { isoTime, notFoundError } from '../../http/json-response.ts'
import type { StatsHistory } from '../../telemetry/stats/stats-history.ts'
import { statRanges } from '../../telemetry/stats/stats-series.ts'
import { timestamp, type AdminRoute, jsonRoute, nameField, taggedRoutes } from '../route.ts'

export interface StatsRoutesDeps {
  readonly stats: Pick<StatsHistory, 'series'>
  hasAgent(name: string): boolean
  readonly now: () => number
}

const values = z.strictObject({
  requests: z.int().describe('Answered operations, and tasks that another agent delegated; without agent cards.'),
  calls: z.int().describe('Messages for an agent: those of clients, and tasks that another agent delegated.'),
  errors: z.int().describe('Requests that ended with an error of the hub or of the agent.'),
  tasks: z.int().describe('Tasks that started.'),
  failed: z.int().describe('Tasks that ended as failed.'),
  streams: z.int().describe('The maximum number of open streams.'),
  inputTokens: z.int(),
  outputTokens: z.int(),
  cost: z.number().optional().describe('By the configured prices; absent if no price is known.'),
  p50Ms: z.number().optional().describe('Response time of calls; for a stream, until its first event.'),
  p95Ms: z.number().optional(),
  p99Ms: z.number().optional(),
})

const statSeries = z
  .strictObject({
    range: z.enum(statRanges),
    agent: z.string().optional(),
    stepMs: z.int().describe('The length of a step: 1 min, 5 min, 1 h or 4 h, by the range.'),
    until: timestamp.describe('The time of this response: the last step is not over.'),
    steps: z.array(values.extend({ at: timestamp.describe('The start of the step.') })).describe('Oldest first.'),
    totals: values.describe('Of the whole range.'),
  })
  .meta({ id: 'StatSeries' })

export function statsRoutes({ stats, hasAgent, now }: StatsRoutesDeps): readonly AdminRoute[] {
  return taggedRoutes('Health', [
    jsonRoute('GET /admin/stats', {
      name: 'getStats',
      summary: 'Statistics over time, of the hub or of one agent.',
      description: 'Of all replicas. They are kept in the store for 30 days and survive a restart.',
      query: z.strictObject({ range: z.enum(statRanges).default('1h'), agent: nameField.optional() }),
      response: statSeries,
      async handle({ query: { range, agent } }) {
        if (agent !== undefined && !hasAgent(agent)) throw notFoundError()
        const { steps, totals, stepMs } = await stats.series(range, agent)
        return {
          range,
          ...(agent === undefined ? {} : { agent }),
          stepMs,
          until: isoTime(now()),
          steps: steps.map(({ at, ...step }) => ({ at: isoTime(at), ...step })),
          totals,
        }
      },
    }),
  ])
}
