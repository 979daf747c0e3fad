/** Tasks in a list, with their state, their owner and an excerpt of the first message; and the search for them. */
import { isTerminal, omitUndefined, taskStates } from '@parley/a2a'
import type { Message, Store, TaskRow, SearchQuery } from '@parley/a2a'
import { z } from 'zod'
import { isoTime, RouteError } from '../http/json-response.ts'
import { timestamp } from './route.ts'
import { textOfParts } from '../agents/part-reader.ts'

export const taskState = z.enum(taskStates).exclude(['TASK_STATE_UNSPECIFIED'])

export const taskSummary = z
  .strictObject({
    id: z.string(),
    contextId: z.string(),
    agent: z.string(),
    caller: z.string().describe('The owner of the task.'),
    tenant: z.string(),
    state: z.string(),
    statusAt: timestamp,
    createdAt: timestamp,
    durationMs: z.number().optional().describe('From its first event to its end, once it has ended.'),
    title: z.string().optional().describe('The beginning of its first message.'),
    statusText: z.string().optional().describe('The beginning of its status message.'),
    head: z.int().describe('The seq of its last event.'),
    dueAt: timestamp.optional().describe('When its turn or its wait for input times out.'),
  })
  .meta({ id: 'TaskSummary' })

type TaskSummary = z.output<typeof taskSummary>

/** Enough to recognize it. */
const maxExcerptLength = 200

export function taskSummaryOf(row: TaskRow, title: string | undefined): TaskSummary {
  const { id, contextId, agent, owner, tenant, status, statusAt, createdAt, head, due } = row
  const statusText = messageExcerpt(status.message)
  return {
    id,
    contextId,
    agent,
    caller: owner,
    tenant,
    state: status.state,
    statusAt: isoTime(statusAt),
    createdAt: isoTime(createdAt),
    ...(isTerminal(status.state) ? { durationMs: Math.max(0, statusAt - createdAt) } : {}),
    ...(title !== undefined && title !== '' ? { title: toExcerpt(title) } : {}),
    ...omitUndefined({ statusText }),
    head,
    ...(due !== undefined ? { dueAt: isoTime(due.at) } : {}),
  }
}

/** Limit for the records before the first message. */
const maxFirstBytes = 100_000

/** The first message is among the first records; if the log was pruned, the snapshot has it. */
export async function firstMessageText(store: Pick<Store, 'tasks'>, taskId: string): Promise<string | undefined> {
  for (const { body } of await store.tasks.read(taskId, 0, 3, maxFirstBytes)) {
    if (body.type === 'message') return fullText(body.message)
  }
  const [first] = (await store.tasks.loadSnapshot(taskId))?.task.history ?? []
  return fullText(first)
}

/** The first message, as lists show it. */
export async function taskTitle(store: Pick<Store, 'tasks'>, taskId: string): Promise<string | undefined> {
  const text = await firstMessageText(store, taskId)
  return text === undefined || text === '' ? undefined : toExcerpt(text)
}

/** The beginning of the text, if there is any. */
export function messageExcerpt(message: Message | undefined): string | undefined {
  const text = fullText(message)
  return text === undefined || text === '' ? undefined : toExcerpt(text)
}

function fullText(message: Message | undefined): string | undefined {
  return message === undefined ? undefined : textOfParts(message.parts).trim()
}

function toExcerpt(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ')
  return line.length <= maxExcerptLength ? line : `${line.slice(0, maxExcerptLength).toWellFormed()}…`
}

interface TaskQuery extends Omit<SearchQuery, 'before'> {
  /** Matches the first message, the status, an id or the metadata; ignores case. */
  readonly text?: string
  /** The `before` of the previous page. */
  readonly before?: string
}

type TaskCursor = NonNullable<SearchQuery['before']>

const searchBatch = 100
/** Tasks read for one page, regardless of the number of matches. */
const maxSearched = 1_000

/**
 * Tasks of all owners, in pages. The store filters by indexed fields. Text is matched while reading, up to a fixed number of tasks
 * per page; clients that search further request the next page.
 */
export async function searchTasks(
  store: Pick<Store, 'tasks'>,
  { text, before, limit, ...query }: TaskQuery,
): Promise<{ readonly tasks: readonly TaskSummary[]; readonly before?: string }> {
  const needle = text?.toLowerCase()
  const found: TaskSummary[] = []
  let cursor = before === undefined ? undefined : parseTaskCursor(before)
  for (let searched = 0; ;) {
    const size = needle === undefined ? limit : searchBatch
    const { tasks, more } = await store.tasks.search({
      ...query,
      limit: size,
      ...(cursor !== undefined ? { before: cursor } : {}),
    })
    const titles = await Promise.all(tasks.map(({ id }) => firstMessageText(store, id)))
    for (const [index, row] of tasks.entries()) {
      if (needle !== undefined && !matchesText(row, titles[index], needle)) continue
      found.push(taskSummaryOf(row, titles[index]))
      const isLast = index === tasks.length - 1 && !more
      if (found.length === limit && !isLast) return { tasks: found, before: formatTaskCursor(row) }
    }
    const last = tasks.at(-1)
    if (!more || last === undefined) return { tasks: found }
    searched += tasks.length
    if (searched >= maxSearched) return { tasks: found, before: formatTaskCursor(last) }
    cursor = { statusAt: last.statusAt, id: last.id }
  }
}

function matchesText(
  { id, contextId, owner, agent, status, metadata }: TaskRow,
  title: string | undefined,
  needle: string,
) {
  const said = [
    title,
    id,
    contextId,
    owner,
    agent,
    JSON.stringify(status.message ?? ''),
    JSON.stringify(metadata ?? ''),
  ]
  return said.some((one) => one?.toLowerCase().includes(needle) === true)
}

/** The end of a page. It grants no access, so it needs no signature. */
function formatTaskCursor({ statusAt, id }: TaskRow): string {
  return `${statusAt.toString(36)}.${id}`
}

function parseTaskCursor(text: string): TaskCursor {
  const [, at, id] = /^(-?[0-9a-z]{1,11})\.(.{1,1024})$/s.exec(text) ?? []
  if (at === undefined || id === undefined) {
    const violations = [{ field: 'before', description: 'must be the value returned by the previous page' }]
    throw new RouteError('INVALID_PARAMS', 'before: must be the value returned by the previous page', { violations })
  }
  return { statusAt: Number.parseInt(at, 36), id }
}
