/**
 * Tasks of everybody, a page at a time. What the store has an index for it finds itself; a text is looked for in what comes,
 * so many tasks a page and no more: whoever wants to look further asks for the next page.
 */
import type { SearchQuery, Store, TaskRow } from '@parley/a2a'
import { RouteError } from './answer.ts'
import { firstText, summaryOf, type TaskSummary } from './task-view.ts'

export interface TaskQuery extends Omit<SearchQuery, 'before'> {
  /** In the first message, the status, an id or the metadata; whatever the case. */
  readonly text?: string
  /** As the page before said. */
  readonly before?: string
}

export interface TaskPage {
  readonly tasks: readonly TaskSummary[]
  readonly before?: string
}

type Place = NonNullable<SearchQuery['before']>

const piece = 100
/** Looked at for one page, however few of them fit. */
const mostSearched = 1_000

export async function searchTasks(
  store: Pick<Store, 'search' | 'read' | 'loadSnapshot'>,
  { text, before, limit, ...query }: TaskQuery,
): Promise<TaskPage> {
  const words = text?.toLowerCase()
  const found: TaskSummary[] = []
  let place = before === undefined ? undefined : readPlace(before)
  for (let searched = 0; ;) {
    const size = words === undefined ? limit : piece
    const { tasks, more } = await store.search({
      ...query,
      limit: size,
      ...(place !== undefined ? { before: place } : {}),
    })
    const titles = await Promise.all(tasks.map(({ id }) => firstText(store, id)))
    for (const [index, row] of tasks.entries()) {
      if (words !== undefined && !holds(row, titles[index], words)) continue
      found.push(summaryOf(row, titles[index]))
      const isLast = index === tasks.length - 1 && !more
      if (found.length === limit && !isLast) return { tasks: found, before: writePlace(row) }
    }
    const last = tasks.at(-1)
    if (!more || last === undefined) return { tasks: found }
    searched += tasks.length
    if (searched >= mostSearched) return { tasks: found, before: writePlace(last) }
    place = { statusAt: last.statusAt, id: last.id }
  }
}

function holds({ id, contextId, owner, agent, status, metadata }: TaskRow, title: string | undefined, words: string) {
  const said = [
    title,
    id,
    contextId,
    owner,
    agent,
    JSON.stringify(status.message ?? ''),
    JSON.stringify(metadata ?? ''),
  ]
  return said.some((one) => one?.toLowerCase().includes(words) === true)
}

/** Where a page ended. It opens nothing, so nobody has to sign it. */
function writePlace({ statusAt, id }: TaskRow): string {
  return `${statusAt.toString(36)}.${id}`
}

function readPlace(text: string): Place {
  const [, at, id] = /^(-?[0-9a-z]{1,11})\.(.{1,1024})$/s.exec(text) ?? []
  if (at === undefined || id === undefined) {
    const violations = [{ field: 'before', description: 'give what the page before said' }]
    throw new RouteError('INVALID_PARAMS', 'before: give what the page before said', { violations })
  }
  return { statusAt: Number.parseInt(at, 36), id }
}
