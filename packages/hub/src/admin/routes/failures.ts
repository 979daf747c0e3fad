/** `/admin/failures`: why tasks failed, in groups. */
import { omitUndefined } from '@parley/a2a/internal'
import { z } from 'zod'
import { isoTime, notFoundError } from '../../http/json-response.ts'
import { rangeMs, statRanges } from '../../telemetry/stats/stats-series.ts'
import type { FailureGroups, FailureQuery } from '../failure-groups.ts'
import { type AdminRoute, jsonRoute, limitField, nameField, taggedRoutes, timestamp } from '../route.ts'
import { taskSummary, taskSummaryOf } from '../task-view.ts'
import type { TaskFactsReader } from '../task-facts.ts'

export interface FailureRoutesDeps {
  readonly facts: TaskFactsReader
  hasAgent(name: string): boolean
  readonly now: () => number
  groups(query: FailureQuery): Promise<FailureGroups>
}

const failureGroup = z
  .strictObject({
    agent: z.string(),
    code: z.string().optional().describe('The reported reason, or the code of a system error.'),
    cause: z.string().optional().describe('Ids, numbers, times and addresses are replaced by placeholders.'),
    count: z.int(),
    since: timestamp.describe('The first of them that was read.'),
    newest: taskSummary,
    trend: z.array(z.int()).describe('How many failed in each twelfth of the range, oldest first.'),
  })
  .meta({ id: 'FailureGroup' })

export function failureRoutes({ facts, hasAgent, now, groups }: FailureRoutesDeps): readonly AdminRoute[] {
  return taggedRoutes('Tasks', [
    jsonRoute('GET /admin/failures', {
      name: 'listFailures',
      summary: 'Groups the failed tasks of a range by agent, error code and cause; the most frequent first.',
      query: z.strictObject({
        range: z.enum(statRanges).default('24h'),
        agent: nameField.optional(),
        limit: limitField(20, 200).describe('Groups.'),
      }),
      response: z.strictObject({
        groups: z.array(failureGroup),
        more: z.int().describe('Groups that are left out by the limit.'),
        read: z.int().describe('Failed tasks that were read: at most the newest 10,000.'),
        isCut: z.boolean().describe('Whether the range has older failed tasks, which were not read.'),
      }),
      async handle({ query: { range, agent, limit } }) {
        if (agent !== undefined && !hasAgent(agent)) throw notFoundError()
        const until = now() + 1
        const { groups: all, ...counted } = await groups({ since: until - rangeMs[range], until, agent })
        const shown = all.slice(0, limit).map(async ({ code, cause, firstAt, newest, trend, ...group }) => ({
          ...group,
          ...omitUndefined({ code, cause }),
          since: isoTime(firstAt),
          newest: taskSummaryOf(newest, await facts.read(newest)),
          trend: [...trend],
        }))
        return { groups: await Promise.all(shown), more: Math.max(0, all.length - limit), ...counted }
      },
    }),
  ])
}
