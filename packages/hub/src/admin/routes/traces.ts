/** `/admin/traces`: requests as trees of spans with their times. */
import { z } from 'zod'
import type { TraceNode, Traces, TraceSummary } from '../../telemetry/traces/trace-types.ts'
import { notFoundError, RouteError, isoTime } from '../../http/json-response.ts'
import { timestamp, jsonObject, limitField, nameField, timeQuery, jsonRoute, taggedRoutes } from '../route.ts'
import type { AdminRoute } from '../route.ts'
import { taskState } from '../task-view.ts'

const summarySchema = z
  .strictObject({
    type: z.literal('A2A_TASK'),
    traceId: z.string(),
    taskId: z.string(),
    title: z
      .string()
      .optional()
      .describe('The beginning of the first message of the task; read from the task, not stored in traces.'),
    contextId: z.string(),
    agent: z.string(),
    caller: z.string(),
    tenant: z.string(),
    state: z.string(),
    status: z.enum(['PENDING', 'SUCCESS', 'ERROR']),
    idempotencyKey: z.string(),
    delegationContext: z
      .strictObject({
        parentTaskId: z.string().optional(),
        rootTaskId: z.string().optional(),
        depth: z.int(),
        visited: z.array(z.string()),
      })
      .optional(),
    startedAt: timestamp,
    endedAt: timestamp.optional(),
    durationMs: z.number().optional(),
    error: z.string().optional(),
    agents: z.array(z.string()),
    models: z.array(z.string()),
    tools: z.array(z.string()),
    tasks: z.int(),
    turns: z.int(),
    spans: z.int(),
    errors: z.int(),
    inputTokens: z.number(),
    outputTokens: z.number(),
    cost: z.number().optional(),
  })
  .meta({ id: 'Trace' })

interface TraceNodeJson {
  traceId: string
  spanId: string
  parentId?: string | undefined
  taskId: string
  name: string
  kind: string
  startedAt: string
  endedAt?: string | undefined
  durationMs?: number | undefined
  outcome?: 'ok' | 'error' | 'canceled' | undefined
  attributes: Record<string, unknown>
  events: { seq: number; spanId: string; name: string; at: string; attributes: Record<string, unknown> }[]
  droppedEvents: number
  children: TraceNodeJson[]
}

const spanSchema: z.ZodType<TraceNodeJson> = z
  .strictObject({
    traceId: z.string(),
    spanId: z.string(),
    parentId: z.string().optional(),
    taskId: z.string(),
    name: z.string(),
    kind: z.string(),
    startedAt: timestamp,
    endedAt: timestamp.optional(),
    durationMs: z.number().optional(),
    outcome: z.enum(['ok', 'error', 'canceled']).optional(),
    attributes: jsonObject,
    events: z.array(
      z.strictObject({ seq: z.int(), spanId: z.string(), name: z.string(), at: timestamp, attributes: jsonObject }),
    ),
    droppedEvents: z.int(),
    get children() {
      return z.array(spanSchema)
    },
  })
  .meta({ id: 'Span' })

export function traceRoutes(
  traces: () => Traces | undefined,
  titleOf: (taskId: string) => Promise<string | undefined>,
): readonly AdminRoute[] {
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
      response: z.strictObject({ traces: z.array(summarySchema), before: z.string().optional() }),
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
        traces: z.array(z.strictObject({ summary: summarySchema, root: spanSchema, isPartial: z.boolean() })),
      }),
      async handle({ params: { id } }) {
        const found = await requireTraces().get(id)
        if (found.length === 0) throw notFoundError()
        return {
          traces: await Promise.all(
            found.map(async (one) => ({
              summary: await shownSummary(one.summary),
              root: traceNodeToJson(one.root),
              isPartial: one.isPartial,
            })),
          ),
        }
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
    const title = await titleOf(summarized.taskId)
    return { ...traceSummaryToJson(summarized), ...(title !== undefined ? { title } : {}) }
  }
}

function traceSummaryToJson({ startedAt, endedAt, delegationContext, agents, models, tools, ...rest }: TraceSummary) {
  return {
    ...rest,
    agents: [...agents],
    models: [...models],
    tools: [...tools],
    ...(delegationContext !== undefined
      ? { delegationContext: { ...delegationContext, visited: [...delegationContext.visited] } }
      : {}),
    startedAt: isoTime(startedAt),
    ...(endedAt !== undefined ? { endedAt: isoTime(endedAt), durationMs: endedAt - startedAt } : {}),
  }
}

function traceNodeToJson(node: TraceNode): TraceNodeJson {
  const { traceId, spanId, parentId, taskId, name: spanName, kind, startedAt, endedAt, outcome } = node
  return {
    traceId,
    spanId,
    ...(parentId !== undefined ? { parentId } : {}),
    taskId,
    name: spanName,
    kind,
    startedAt: isoTime(startedAt),
    ...(endedAt !== undefined ? { endedAt: isoTime(endedAt), durationMs: endedAt - startedAt } : {}),
    ...(outcome !== undefined ? { outcome } : {}),
    attributes: { ...node.attributes },
    events: node.events.map(({ seq, spanId: of, name: eventName, at, attributes }) => ({
      seq,
      spanId: of,
      name: eventName,
      at: isoTime(at),
      attributes: { ...attributes },
    })),
    droppedEvents: node.droppedEvents,
    children: node.children.map(traceNodeToJson),
  }
}
