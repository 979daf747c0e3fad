/** `/admin/tasks`: the tasks of everybody, each with its log, and as clients of every version are told it. */
import { A2AError, type LogRecord, type Store, traceIdOfTask, traceIdOf } from '@parley/a2a'
import { type HandlerPush, type TaskDesk, wireFrames } from '@parley/a2a/server'
import { z } from 'zod'
import { notFound, RouteError, time } from '../answer.ts'
import { instant, json, limit, name, several, when } from '../fields.ts'
import { pushCursor, shownCursor } from '../push-view.ts'
import { type Route, route, Told } from '../route.ts'
import { searchTasks } from '../task-search.ts'
import { firstText, summaryOf, taskState, taskSummary } from '../task-view.ts'

export interface TaskRouteParts {
  readonly store: Store
  tasks(): Promise<TaskDesk>
  push(): Promise<Pick<HandlerPush, 'cursors'> | undefined>
}

const tag = 'Tasks'
const params = z.object({ taskId: name })
/** Of one answer: a chatty task has thousands of records. */
/** What one answer holds of a log, whatever its limit says: `after` tells where to go on. */
const pageBytes = 4_000_000
const page = { limit: limit(200, 1_000), after: z.coerce.number().int().min(0).default(0) }

const record = z
  .strictObject({
    seq: z.int(),
    at: instant,
    type: z.string(),
    isVisible: z.boolean().meta({ description: 'Whether clients are told it.' }),
    bytes: z.int(),
    body: json,
  })
  .meta({ id: 'LogRecord' })

const frame = z.strictObject({
  version: z.enum(['1.0', '0.3', '0.2']),
  binding: z.enum(['JSONRPC', 'HTTP+JSON']),
  payload: z.unknown().meta({ description: 'The event, as clients of that version read it.' }),
  frame: z.string().meta({ description: 'The bytes of the stream.' }),
})

const head = {
  head: z.int().meta({ description: 'The number of the last event.' }),
  firstSeq: z.int().meta({ description: 'The number of the first that is still in the log.' }),
  after: z.int().optional().meta({ description: 'To be asked for next, if there are more.' }),
}

const detail = z
  .strictObject({
    ...taskSummary.shape,
    firstSeq: z.int(),
    traceId: z.string(),
    task: json.meta({ description: 'As A2A 1.0 writes it: status, history, artifacts.' }),
    push: z.array(pushCursor),
  })
  .meta({ id: 'TaskDetail' })

export function taskRoutes({ store, tasks, push }: TaskRouteParts): readonly Route[] {
  return [
    route({
      method: 'GET',
      path: '/admin/tasks',
      name: 'listTasks',
      summary: 'Lists the tasks of everybody, the newest status first.',
      description:
        'With a text, a page may be short or empty while there are more: each looks through so many and no further.',
      tag,
      query: z.strictObject({
        limit: limit(50, 500),
        before: z.string().max(1_100).optional(),
        agent: name.optional(),
        state: several(taskState).optional().meta({ description: 'One or more, with commas.' }),
        caller: name.optional(),
        context: name.optional(),
        since: when.optional().meta({ description: 'Of the status, inclusive.' }),
        until: when.optional().meta({ description: 'Of the status, exclusive.' }),
        text: z
          .string()
          .min(1)
          .max(200)
          .optional()
          .meta({ description: 'In the first message, the status, an id or the metadata; whatever the case.' }),
      }),
      answer: z.strictObject({ tasks: z.array(taskSummary), before: z.string().optional() }),
      async handle({ query: { limit: most, before, agent, state, caller, context, since, until, text } }) {
        const found = await searchTasks(store, {
          limit: most,
          ...(before !== undefined ? { before } : {}),
          ...(agent !== undefined ? { agent } : {}),
          ...(state !== undefined ? { states: state } : {}),
          ...(caller !== undefined ? { owner: caller } : {}),
          ...(context !== undefined ? { contextId: context } : {}),
          ...(since !== undefined ? { from: since } : {}),
          ...(until !== undefined ? { until } : {}),
          ...(text !== undefined ? { text } : {}),
        })
        return { tasks: [...found.tasks], ...(found.before !== undefined ? { before: found.before } : {}) }
      },
    }),
    route({
      method: 'GET',
      path: '/admin/task-counts',
      name: 'countTasks',
      summary: 'How many tasks there are in each state.',
      tag,
      answer: z.strictObject({
        states: z.record(z.string(), z.int()),
        unfinished: z.array(z.strictObject({ agent: z.string(), state: z.string(), tasks: z.int() })),
      }),
      async handle() {
        const [states, unfinished] = await Promise.all([store.countStates(), store.countUnfinished()])
        return {
          states: Object.fromEntries(states.map((one) => [one.state, one.tasks])),
          unfinished: unfinished.map(({ agent, state, tasks: count }) => ({ agent, state, tasks: count })),
        }
      },
    }),
    route({
      method: 'GET',
      path: '/admin/tasks/{taskId}',
      name: 'getTask',
      summary: 'Shows a task, whoever it belongs to.',
      tag,
      params,
      answer: detail,
      async handle({ params: { taskId } }) {
        const [row, task, desk] = await Promise.all([store.load(taskId), (await tasks()).get(taskId), push()])
        if (row === undefined || task === undefined) throw notFound()
        const [title, firstSeq, cursors, traceId] = await Promise.all([
          firstText(store, taskId),
          store.firstSeq(taskId),
          desk?.cursors(taskId) ?? [],
          traceOf(taskId),
        ])
        return {
          ...summaryOf(row, title),
          firstSeq,
          traceId,
          task: task as unknown as Record<string, unknown>,
          push: cursors.map((cursor) => shownCursor(taskId, cursor)),
        }
      },
    }),
    route({
      method: 'GET',
      path: '/admin/tasks/{taskId}/events',
      name: 'listTaskEvents',
      summary: 'The log of a task as it was written, also what no client is told.',
      tag,
      params,
      query: z.strictObject(page),
      answer: z.strictObject({ events: z.array(record), ...head }),
      async handle({ params: { taskId }, query }) {
        const { records, ...rest } = await read(taskId, query)
        return { events: records.map(shownRecord), ...rest }
      },
    }),
    route({
      method: 'GET',
      path: '/admin/tasks/{taskId}/wire',
      name: 'listTaskFrames',
      summary: 'The events of a task as clients of each version get them.',
      tag,
      params,
      query: z.strictObject(page),
      answer: z.strictObject({
        events: z.array(z.strictObject({ seq: z.int(), at: instant, frames: z.array(frame) })),
        ...head,
      }),
      async handle({ params: { taskId }, query }) {
        const { records, contextId, ...rest } = await readWithContext(taskId, query)
        const events = records.flatMap((one) => {
          const frames = wireFrames({ id: taskId, contextId }, one)
          if (frames.length === 0) return []
          const shown = frames.map((made) => ({ ...made, payload: JSON.parse(made.payload) as unknown }))
          return [{ seq: one.seq, at: time(one.at), frames: shown }]
        })
        return { events, ...rest }
      },
    }),
    route({
      method: 'POST',
      path: '/admin/tasks/{taskId}/cancel',
      name: 'cancelTask',
      summary: 'Cancels a task, as its caller would.',
      tag,
      params,
      answer: z.strictObject({ task: json }),
      async handle({ params: { taskId } }) {
        try {
          const task = await (await tasks()).cancel(taskId)
          return new Told({ task: task as unknown as Record<string, unknown> }, { about: { task: taskId } })
        } catch (reason) {
          throw asRefusal(reason)
        }
      },
    }),
  ]

  async function readWithContext(taskId: string, { limit: most, after }: { limit: number; after: number }) {
    const row = await store.load(taskId)
    if (row === undefined) throw notFound()
    const [records, firstSeq] = await Promise.all([store.read(taskId, after, most, pageBytes), store.firstSeq(taskId)])
    const last = records.at(-1)?.seq
    const hasMore = last !== undefined && last < row.head
    return { records, contextId: row.contextId, head: row.head, firstSeq, ...(hasMore ? { after: last } : {}) }
  }

  async function read(taskId: string, query: { limit: number; after: number }) {
    const { contextId: _, ...rest } = await readWithContext(taskId, query)
    return rest
  }

  /** That of the request that began it, or its own. */
  async function traceOf(taskId: string): Promise<string> {
    for (const { body } of await store.read(taskId, 0, 3, pageBytes)) {
      if (body.type === 'message') return traceIdOf(body.options?.traceparent) ?? traceIdOfTask(taskId)
    }
    return traceIdOfTask(taskId)
  }
}

function shownRecord({ seq, at, body }: LogRecord) {
  const isVisible = body.type === 'status' || body.type === 'artifact'
  return {
    seq,
    at: time(at),
    type: body.type,
    isVisible,
    bytes: Buffer.byteLength(JSON.stringify(body)),
    body: body as unknown as Record<string, unknown>,
  }
}

function asRefusal(reason: unknown): unknown {
  if (!(reason instanceof A2AError)) return reason
  if (reason.code === 'TASK_NOT_FOUND') return notFound()
  if (reason.code === 'TASK_NOT_CANCELABLE') return new RouteError('CONFLICT', 'The task has already ended')
  return reason.code === 'UNAVAILABLE' ? new RouteError('UNAVAILABLE', reason.message) : reason
}
