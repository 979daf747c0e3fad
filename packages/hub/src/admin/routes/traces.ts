/** `/admin/traces`: requests as trees of spans with their times. */
import { omitUndefined } from '@parley/a2a/internal'
import { z } from 'zod'
import type { Traces, TraceSummary } from '../../telemetry/traces/trace-types.ts'
import { notFoundError, RouteError } from '../../http/json-response.ts'
import { limitField, nameField, timeQuery, jsonRoute, taggedRoutes } from '../route.ts'
import type { AdminRoute } from '../route.ts'
import { taskState, type TaskSummary } from '../task-view.ts'
import { rangeMs, statRanges } from '../../telemetry/stats/stats-series.ts'
import {
  timePartsSchema,
  traceNodeToJson,
  traceSpanSchema,
  traceSummarySchema,
  traceSummaryToJson,
} from '../trace-view.ts'

export interface TraceRoutesDeps {
  traces(): Traces | undefined
  taskOf(taskId: string): Promise<TaskSummary | undefined>
  hasAgent(name: string): boolean
  readonly now: () => number
}

export function traceRoutes({ traces, taskOf, hasAgent, now }: TraceRoutesDeps): readonly AdminRoute[] {
  return taggedRoutes('Traces', [
    jsonRoute('GET /admin/traces', {
      name: 'listTraces',
      summary: 'Lists traces, newest first.',
      query: z.strictObject({
        limit: limitField(50, 500),
        before: z.string().max(1_100).optional(),
        agent: nameField.optional().describe('An agent of the trace.'),
        caller: nameField.optional(),
        context: nameField.optional(),
        state: taskState.optional(),
        status: z.enum(['PENDING', 'SUCCESS', 'ERROR']).optional(),
        since: timeQuery.optional(),
        until: timeQuery.optional(),
        minDurationMs: z.coerce.number().min(0).optional(),
        minErrors: z.coerce
          .number()
          .int()
          .min(0)
          .optional()
          .describe('At least this many spans failed; also in traces that succeeded.'),
        text: z
          .string()
          .min(1)
          .max(200)
          .optional()
          .describe('In an id, an error, or the name of an agent, a model or a tool.'),
      }),
      response: z.strictObject({ traces: z.array(traceSummarySchema), before: z.string().optional() }),
      async handle({ query: { context, ...query } }) {
        const page = await requireTraces().list({ ...query, contextId: context })
        return {
          traces: await Promise.all(page.traces.map(shownSummary)),
          ...(page.before !== undefined ? { before: page.before } : {}),
        }
      },
    }),
    jsonRoute('GET /admin/traces/{id}', {
      name: 'getTrace',
      summary: 'Shows a trace by its id or the id of a task.',
      params: z.object({ id: nameField }),
      response: z.strictObject({
        traces: z.array(
          z.strictObject({
            summary: traceSummarySchema,
            root: traceSpanSchema,
            times: timePartsSchema.describe('Where the time of the root task went.'),
            isPartial: z.boolean(),
          }),
        ),
      }),
      async handle({ params: { id } }) {
        const found = await requireTraces().get(id)
        if (found.length === 0) throw notFoundError()
        return {
          traces: await Promise.all(
            found.map(async (one) => ({
              summary: await shownSummary(one.summary),
              root: traceNodeToJson(one.root),
              times: one.times,
              isPartial: one.isPartial,
            })),
          ),
        }
      },
    }),
    jsonRoute('GET /admin/agents/{agent}/times', {
      name: 'getAgentTimes',
      summary: 'Where the time of the tasks of an agent went that ended in a range, by their spans.',
      params: z.object({ agent: nameField }),
      query: z.strictObject({ range: z.enum(statRanges).default('24h') }),
      response: z.strictObject({
        times: timePartsSchema.describe('The sum over the tasks.'),
        tasks: z.int().describe('Tasks that were read: at most the newest 200.'),
        isCut: z.boolean().describe('Whether the range has older tasks, which were not read.'),
      }),
      async handle({ params: { agent }, query: { range } }) {
        if (!hasAgent(agent)) throw notFoundError()
        const until = now() + 1
        return requireTraces().times({ agent, since: until - rangeMs[range], until })
      },
    }),
  ])

  function requireTraces(): Traces {
    const open = traces()
    if (open === undefined)
      throw new RouteError('UNAVAILABLE', 'Traces are not stored: set `telemetry` in the configuration')
    return open
  }

  async function shownSummary(summarized: TraceSummary) {
    const task = await taskOf(summarized.taskId)
    const { title, statusAt, waitingMs, cause, failedChild, callerName } = task ?? {}
    return {
      ...traceSummaryToJson(summarized),
      ...omitUndefined({ title, statusAt, waitingMs, cause, failedChild, callerName }),
    }
  }
}
