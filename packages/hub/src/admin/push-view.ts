/** A webhook as the operator sees it: its push cursor and its next attempt. */
import { type PushAttempt, omitUndefined, type PushCursor, type HandlerPush } from '@parley/a2a/internal'
import type { Store } from '@parley/a2a/stores'
import { z } from 'zod'
import { isoTime } from '../http/json-response.ts'
import { timestamp } from './route.ts'
import { taskTitle } from './task-view.ts'

export const pushState = z
  .enum(['active', 'dead', 'done'])
  .describe('Dead: the last attempt failed. Done: the task has ended and all events are delivered.')

export const pushCursor = z
  .strictObject({
    taskId: z.string(),
    configId: z.string(),
    url: z.string(),
    state: pushState,
    deliveredSeq: z.int().describe('All events up to this one are delivered.'),
    attempt: z.int().describe('The number of attempts for the next event.'),
    dueAt: timestamp.optional().describe('The time of the next attempt.'),
    createdAt: timestamp.optional(),
  })
  .meta({ id: 'PushCursor' })

export const pushAttempt = z
  .strictObject({
    seq: z.int().describe('The delivered event.'),
    attempt: z.int(),
    at: timestamp,
    durationMs: z.number(),
    outcome: z.string().describe('A status, or the error.'),
    answer: z.string().optional().describe('The beginning of a response that rejected the event.'),
  })
  .meta({ id: 'PushAttempt' })

/** With its task and the result of the last attempt. */
export const pushSummary = z
  .strictObject({
    ...pushCursor.shape,
    agent: z.string(),
    title: z.string().optional().describe('The beginning of the first message of the task.'),
    head: z.int().describe('The seq of the last event of the task.'),
    last: pushAttempt.optional().describe('The last attempt.'),
  })
  .meta({ id: 'PushSummary' })

type PushSummary = z.output<typeof pushSummary>

export async function loadPushSummary(
  store: Pick<Store, 'tasks'>,
  taskId: string,
  cursor: PushCursor & { readonly createdAt?: number },
  [last]: readonly PushAttempt[],
): Promise<PushSummary> {
  const [row, title] = await Promise.all([store.tasks.load(taskId), taskTitle(store, taskId)])
  return {
    ...pushCursorToJson(taskId, cursor),
    agent: row?.agent ?? '',
    ...(title !== undefined ? { title } : {}),
    head: row?.head ?? cursor.deliveredSeq,
    ...(last !== undefined ? { last: pushAttemptToJson(last) } : {}),
  }
}

export function pushAttemptToJson({ seq, attempt, at, durationMs, outcome, answer }: PushAttempt) {
  return { seq, attempt, at: isoTime(at), durationMs, outcome, ...(answer !== undefined ? { answer } : {}) }
}

export function pushCursorToJson(taskId: string, cursor: PushCursor & { readonly createdAt?: number }) {
  const { id, url, state, deliveredSeq, attempt, dueAt, createdAt } = cursor
  return {
    taskId,
    configId: id,
    url: redactUrl(url),
    state,
    deliveredSeq,
    attempt,
    ...(dueAt !== undefined ? { dueAt: isoTime(dueAt) } : {}),
    ...(createdAt !== undefined ? { createdAt: isoTime(createdAt) } : {}),
  }
}

/** Some webhook URLs contain a secret. */
function redactUrl(text: string): string {
  if (!URL.canParse(text)) return text
  const url = new URL(text)
  url.username = ''
  url.password = ''
  for (const name of url.searchParams.keys()) url.searchParams.set(name, '…')
  return url.href
}

export type PushSearchSource = Pick<HandlerPush, 'search' | 'attempts'>

interface PushQuery {
  readonly limit: number
  readonly before?: number | undefined
  readonly state?: PushSummary['state'] | undefined
  readonly agent?: string | undefined
  /** Ignores case. */
  readonly text?: string | undefined
}

/** Webhooks read for one page, regardless of the number of matches. */
const maxSearched = 1_000

/**
 * Webhooks of all tasks, in pages. The store filters by state. Agent and text are matched while reading, up to a fixed number of
 * webhooks per page; clients that search further request the next page.
 */
export async function searchPush(
  store: Pick<Store, 'tasks'>,
  source: PushSearchSource,
  { limit, before, state, agent, text }: PushQuery,
): Promise<{ readonly push: readonly PushSummary[]; readonly before?: number }> {
  const needle = text?.toLowerCase()
  let place = before
  for (let searched = 0; ;) {
    const page = await source.search({
      limit,
      ...omitUndefined({ before: place, state }),
    })
    const found = await Promise.all(
      page.cursors.map(async (cursor) =>
        loadPushSummary(store, cursor.taskId, cursor, await source.attempts(cursor.taskId, cursor.id, 1)),
      ),
    )
    const push = found.filter(
      (one) => (agent === undefined || one.agent === agent) && (needle === undefined || matchesText(one, needle)),
    )
    searched += page.cursors.length
    // A page of the store is not split: there is no cursor inside it.
    if (page.before === undefined || push.length > 0 || searched >= maxSearched) {
      return { push, ...omitUndefined({ before: page.before }) }
    }
    place = page.before
  }
}

function matchesText({ taskId, configId, url, agent, title, last }: PushSummary, needle: string): boolean {
  return [url, taskId, configId, agent, title, last?.outcome, last?.answer].some(
    (one) => one?.toLowerCase().includes(needle) === true,
  )
}
