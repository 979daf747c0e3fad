/** Traces and their spans as the admin API shows them. */
import { z } from 'zod'
import type { TraceNode, TraceSummary } from '../telemetry/traces/trace-types.ts'
import { isoTime } from '../http/json-response.ts'
import { timestamp, jsonObject } from './route.ts'
import { taskSummary } from './task-view.ts'

export const traceSummarySchema = z
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
    callerName: z.string().optional().describe('The name of its API key; read when shown.'),
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
    statusAt: timestamp.optional().describe('The time of the last status of its task.'),
    waitingMs: z
      .number()
      .optional()
      .describe('How long its task waited for input or sign-in; read from the task, as in a task list.'),
    error: z.string().optional(),
    cause: z.string().optional().describe('Why its task failed, for operators; read from the task.'),
    failedChild: taskSummary.shape.failedChild,
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

export const timePartsSchema = z
  .strictObject({
    queueMs: z.number().describe('From the message to the first call of a model or a tool.'),
    firstModelMs: z.number().describe('The first call of a model.'),
    modelMs: z.number().describe('Other calls of models.'),
    toolsMs: z.number().describe('Tools and other agents, while no model was called.'),
    otherMs: z.number().describe('The rest of its turns.'),
    waitingMs: z.number().describe('Between its turns: for its caller.'),
    deliveryMs: z.number().describe('Attempts to deliver its webhooks, which may follow the task.'),
  })
  .meta({ id: 'TimeParts' })

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

export const traceSpanSchema: z.ZodType<TraceNodeJson> = z
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
      return z.array(traceSpanSchema)
    },
  })
  .meta({ id: 'Span' })

export function traceSummaryToJson({
  startedAt,
  endedAt,
  delegationContext,
  agents,
  models,
  tools,
  ...rest
}: TraceSummary) {
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

export function traceNodeToJson(node: TraceNode): TraceNodeJson {
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
