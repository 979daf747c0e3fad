/**
 * Tasks of all owners, in pages. The store filters by indexed fields. Text is matched while reading, up to a fixed number of tasks
 * per page; clients that search further request the next page.
 */
import type { SearchQuery, Store, TaskRow } from '@parley/a2a'
import { RouteError } from '../http/json-response.ts'
import { firstMessageText, taskSummaryOf, type TaskSummary } from './task-view.ts'

export interface TaskQuery extends Omit<SearchQuery, 'before'> {
  /** Matches the first message, the status, an id or the metadata; ignores case. */
  readonly text?: string
  /** The `before` of the previous page. */
  readonly before?: string
}

type TaskCursor = NonNullable<SearchQuery['before']>

const searchBatch = 100
/** Tasks read for one page, regardless of the number of matches. */
const maxSearched = 1_000

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
