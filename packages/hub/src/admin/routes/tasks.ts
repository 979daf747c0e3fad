/** `/admin/tasks`: the tasks of all owners, each with its log, and as clients of every version receive it. */
import { A2AError } from '@parley/a2a'
import {
  traceIdOfTask,
  traceIdOf,
  omitUndefined,
  httpBindingNames,
  type HandlerPush,
  type LargeReader,
  recordBytes,
  recordsBytes,
  type ResponseMemory,
  taskBytes,
  type TaskAdmin,
  type TaskAtHead,
  wireFrames,
} from '@parley/a2a/internal'
import type { LogRecord, Store } from '@parley/a2a/stores'
import { z } from 'zod'
import { notFoundError, RouteError, isoTime } from '../../http/json-response.ts'
import {
  timestamp,
  jsonObject,
  limitField,
  nameField,
  listOf,
  timeQuery,
  type AdminRoute,
  jsonRoute,
  RouteResult,
  taggedRoutes,
} from '../route.ts'
import { pushCursor, pushCursorToJson } from '../push-view.ts'
import type { TaskFactsReader } from '../task-facts.ts'
import { searchTasks, taskSorts } from '../task-search.ts'
import { countWaiting } from '../waiting-tasks.ts'
import { causeDetails, taskSummaryOf, taskState, taskSummary } from '../task-view.ts'

export interface TaskRoutesDeps {
  readonly store: Store
  readonly facts: TaskFactsReader
  /** Removes secrets from an error. */
  redact(text: string): string
  readonly now: () => number
  tasks(): Promise<TaskAdmin>
  push(): Promise<Pick<HandlerPush, 'cursors'> | undefined>
}

const params = z.object({ taskId: nameField })
/** Maximum size of one page of a log, regardless of its limit: `after` is the cursor of the next page. */
const pageBytes = 4_000_000
/** Writing a larger record to count its bytes would take too long. */
const maxMeasuredBytes = 500_000
/** The events of one page of frames: each is encoded once for every version and binding, which a large one would do in one long step. */
const maxFramedBytes = 500_000
/** A stack and its causes. */
const maxCauseLength = 20_000
const pageFields = { limit: limitField(200, 1_000), after: z.coerce.number().int().min(0).default(0) }

const recordSchema = z
  .strictObject({
    seq: z.int(),
    at: timestamp,
    type: z.string(),
    isVisible: z.boolean().describe('Whether clients receive it.'),
    bytes: z.int().describe('As JSON; estimated for a large one.'),
    body: jsonObject,
  })
  .meta({ id: 'LogRecord' })

const frameSchema = z.strictObject({
  version: z.string(),
  binding: z.enum(httpBindingNames),
  payload: z.unknown().describe('The event, as clients of that version read it.'),
  frame: z.string().describe('The bytes of the stream.'),
})

const headFields = {
  head: z.int().describe('The seq of the last event.'),
  firstSeq: z.int().describe('The seq of the first one that is still in the log.'),
  after: z.int().optional().describe('Pass it to get the next page; absent on the last.'),
}

const detailSchema = z
  .strictObject({
    ...taskSummary.shape,
    firstSeq: z.int(),
    traceId: z.string(),
    task: jsonObject.describe('As in A2A 1.0: status, history, artifacts.'),
    push: z.array(pushCursor),
    causeDetails: z.string().optional().describe('The error that ended it, with its stack and causes.'),
  })
  .meta({ id: 'TaskDetail' })

export function taskRoutes({ store, facts, redact, now, tasks, push }: TaskRoutesDeps): readonly AdminRoute[] {
  return taggedRoutes('Tasks', [
    jsonRoute('GET /admin/tasks', {
      name: 'listTasks',
      summary: 'Lists the tasks of all callers, newest status first.',
      description:
        'With `text` or `level`, a page can be short or empty although more follow: each page searches a limited number. `sort` by `time`, ' +
        '`agent` and `state` covers all tasks and costs no more than the default, which is `time`, `desc`. Within an agent or a ' +
        'state, the newest status comes first; states that need a person come first. `sort=duration` compares the working time of ' +
        'the 1,000 newest matches, which is in no index; `compared` is present if there are older ones.',
      query: z.strictObject({
        limit: limitField(50, 500),
        before: z.string().max(3_000).optional(),
        sort: z.enum(taskSorts).optional(),
        direction: z
          .enum(['asc', 'desc'])
          .optional()
          .describe('Default `desc` for `time` and `duration`, otherwise `asc`.'),
        agent: nameField.optional(),
        state: listOf(taskState).optional().describe('One or more, separated by commas.'),
        caller: nameField.optional(),
        level: z.enum(['top']).optional().describe('`top`: without tasks that an agent delegated.'),
        context: nameField.optional(),
        since: timeQuery.optional().describe('Of the status, inclusive.'),
        until: timeQuery.optional().describe('Of the status, exclusive.'),
        text: z
          .string()
          .min(1)
          .max(200)
          .optional()
          .describe('In the first message, the status, the error, an id or the metadata; case-insensitive.'),
      }),
      response: z.strictObject({
        tasks: z.array(taskSummary),
        before: z.string().optional(),
        compared: z.int().optional().describe('Only this many of the newest matches were compared.'),
      }),
      async handle({ query: { limit: most, state, caller, context, since, ...rest } }) {
        const {
          tasks: found,
          before,
          compared,
        } = await searchTasks(
          { store, facts, now },
          {
            ...omitUndefined({ ...rest, states: state, owner: caller, contextId: context, from: since }),
            limit: most,
          },
        )
        return { tasks: [...found], ...omitUndefined({ before, compared }) }
      },
    }),
    jsonRoute('GET /admin/task-counts', {
      name: 'countTasks',
      summary: 'The number of tasks in each state.',
      response: z.strictObject({
        states: z.record(z.string(), z.int()),
        unfinished: z.array(z.strictObject({ agent: z.string(), state: z.string(), tasks: z.int() })),
        waiting: z
          .int()
          .describe(
            'Tasks that wait for their caller, without delegated ones: the task of the original caller waits, too.',
          ),
      }),
      async handle() {
        const [states, unfinished, waiting] = await Promise.all([
          store.tasks.countStates(),
          store.tasks.countUnfinished(),
          countWaiting(store),
        ])
        return {
          states: Object.fromEntries(states.map((one) => [one.state, one.tasks])),
          unfinished: unfinished.map(({ agent, state, tasks: count }) => ({ agent, state, tasks: count })),
          waiting: [...waiting.values()].reduce((sum, count) => sum + count, 0),
        }
      },
    }),
    jsonRoute('GET /admin/tasks/{taskId}', {
      name: 'getTask',
      summary: 'Shows a task of any owner.',
      params,
      response: detailSchema,
      async handle({ params: { taskId }, memory }) {
        const all = await tasks()
        const found = await memory.read((reader) => all.get(taskId, reader), sizeOfFound)
        const [row, pushHandler] = await Promise.all([store.tasks.load(taskId), push()])
        if (row === undefined || found === undefined) throw notFoundError()
        const [read, firstSeq, cursors, traceId] = await Promise.all([
          facts.read(row, true),
          store.tasks.firstSeq(taskId),
          pushHandler?.cursors(taskId) ?? [],
          traceOf(taskId),
        ])
        return {
          ...taskSummaryOf(row, read),
          // A client that shows the task and continues after `head` misses nothing.
          head: found.head,
          ...omitUndefined({ causeDetails: causeDetails(read, maxCauseLength) }),
          firstSeq,
          traceId,
          task: found.task as unknown as Record<string, unknown>,
          push: cursors.map((cursor) => pushCursorToJson(taskId, cursor)),
        }
      },
    }),
    jsonRoute('GET /admin/tasks/{taskId}/events', {
      name: 'listTaskEvents',
      summary: 'The stored log of a task, including internal records.',
      params,
      query: z.strictObject(pageFields),
      response: z.strictObject({ events: z.array(recordSchema), ...headFields }),
      async handle({ params: { taskId }, query, memory }) {
        const { records, ...rest } = await read(taskId, query, memory)
        return { events: records.map((record) => recordToJson(record, redact)), ...rest }
      },
    }),
    jsonRoute('GET /admin/tasks/{taskId}/wire', {
      name: 'listTaskFrames',
      summary: 'The events of a task, as sent to clients of each version.',
      params,
      query: z.strictObject(pageFields),
      response: z.strictObject({
        events: z.array(
          z.strictObject({
            seq: z.int(),
            at: timestamp,
            frames: z.array(frameSchema),
            omittedBytes: z
              .int()
              .optional()
              .describe('The size of an event whose frames are left out, because they are large.'),
          }),
        ),
        ...headFields,
      }),
      async handle({ params: { taskId }, query, memory }) {
        const { records, contextId, ...rest } = await readWithContext(taskId, query, memory)
        let room = maxFramedBytes
        const events = records.flatMap((one) => {
          const event = { seq: one.seq, at: isoTime(one.at) }
          const size = recordBytes(one.body)
          if (size > room) return isVisible(one.body) ? [{ ...event, frames: [], omittedBytes: size }] : []
          room -= size
          const frames = wireFrames({ id: taskId, contextId }, one)
          if (frames.length === 0) return []
          const shown = frames.map((made) => ({ ...made, payload: JSON.parse(made.payload) as unknown }))
          return [{ ...event, frames: shown }]
        })
        return { events, ...rest }
      },
    }),
    jsonRoute('POST /admin/tasks/{taskId}/cancel', {
      name: 'cancelTask',
      summary: 'Cancels a task, as its caller would.',
      params,
      response: z.strictObject({ task: jsonObject }),
      async handle({ params: { taskId } }) {
        try {
          const task = await (await tasks()).cancel(taskId)
          return new RouteResult(
            { task: task as unknown as Record<string, unknown> },
            { auditTarget: { task: taskId } },
          )
        } catch (reason) {
          throw toRouteError(reason)
        }
      },
    }),
  ])

  async function readWithContext(taskId: string, { limit: most, after }: PageQuery, memory: ResponseMemory) {
    const row = await store.tasks.load(taskId)
    if (row === undefined) throw notFoundError()
    const [records, firstSeq] = await Promise.all([
      memory.read((reader) => readRecords(taskId, after, most, reader), recordsBytes),
      store.tasks.firstSeq(taskId),
    ])
    const last = records.at(-1)?.seq
    const hasMore = last !== undefined && last < row.head
    return { records, contextId: row.contextId, head: row.head, firstSeq, ...(hasMore ? { after: last } : {}) }
  }

  async function read(taskId: string, query: PageQuery, memory: ResponseMemory) {
    const { contextId: _, ...rest } = await readWithContext(taskId, query, memory)
    return rest
  }

  async function readRecords(taskId: string, after: number, most: number, { admitRead }: LargeReader) {
    // A page ends with the record that exceeds its size, which may be nearly all of the task.
    const bytes = (await store.tasks.sizeOf?.(taskId)) ?? 0
    const nextStep = bytes > pageBytes ? await admitRead(bytes) : undefined
    return store.tasks.read(taskId, after, most, pageBytes, nextStep)
  }

  /** The trace of the request that began it, or its own. */
  async function traceOf(taskId: string): Promise<string> {
    for (const { body } of await store.tasks.read(taskId, 0, 3, pageBytes)) {
      if (body.type === 'message') return traceIdOf(body.options?.traceparent) ?? traceIdOfTask(taskId)
    }
    return traceIdOfTask(taskId)
  }
}

interface PageQuery {
  readonly limit: number
  readonly after: number
}

function sizeOfFound(found: TaskAtHead | undefined): number {
  return found === undefined ? 0 : taskBytes(found.task)
}

function recordToJson({ seq, at, body }: LogRecord, redact: TaskRoutesDeps['redact']) {
  const estimate = recordBytes(body)
  return {
    seq,
    at: isoTime(at),
    type: body.type,
    isVisible: isVisible(body),
    bytes: estimate > maxMeasuredBytes ? estimate : Buffer.byteLength(JSON.stringify(body)),
    // A note is the error that ended the task; the other records have what people and agents wrote.
    body: (body.type === 'note' ? { ...body, text: redact(body.text) } : body) as unknown as Record<string, unknown>,
  }
}

function toRouteError(reason: unknown): unknown {
  if (!(reason instanceof A2AError)) return reason
  if (reason.code === 'TASK_NOT_FOUND') return notFoundError()
  if (reason.code === 'TASK_NOT_CANCELABLE') return new RouteError('CONFLICT', 'The task has already ended')
  return reason.code === 'UNAVAILABLE' ? new RouteError('UNAVAILABLE', reason.message) : reason
}

/** Whether clients receive a record. */
function isVisible({ type }: LogRecord['body']): boolean {
  return type === 'status' || type === 'artifact'
}
