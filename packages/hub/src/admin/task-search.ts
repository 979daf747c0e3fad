/**
 * The search for tasks of all owners, in pages, by keyset. The store filters by indexed fields and has one index for the time, so
 * these orders are cheap: by time in both directions, by agent and by state, which go through one agent or state after the other.
 * Working time and text are in no index. They are read from the tasks themselves, a fixed number of them per page.
 */
import { isTerminal, type TaskState } from '@parley/a2a'
import type { SearchQuery } from '@parley/a2a/internal'
import type { Store, TaskRow } from '@parley/a2a/stores'
import { isDelegated } from '../delegation/delegated-owner.ts'
import { RouteError } from '../http/json-response.ts'
import type { TaskFacts, TaskFactsReader } from './task-facts.ts'
import { taskSummaryOf, type TaskSummary } from './task-view.ts'

export const taskSorts = ['time', 'duration', 'agent', 'state'] as const
export type TaskSort = (typeof taskSorts)[number]

export interface TaskQuery extends Omit<SearchQuery, 'before' | 'order'> {
  /** Matches the first message, the status, the error, an id or the metadata; ignores case. */
  readonly text?: string
  /** Without tasks that an agent delegated. */
  readonly level?: 'top'
  readonly sort?: TaskSort
  readonly direction?: 'asc' | 'desc'
  /** The `before` of the previous page. */
  readonly before?: string
}

export interface TaskSearchDeps {
  readonly store: Pick<Store, 'tasks'>
  readonly facts: TaskFactsReader
  readonly now: () => number
}

export interface TaskSearchPage {
  readonly tasks: readonly TaskSummary[]
  readonly before?: string
  /** Set if only this many of the newest matches were compared. */
  readonly compared?: number
}

const searchBatch = 100
/** Tasks read for one page, regardless of the number of matches. */
const maxSearched = 1_000

/** What needs a person comes first, then what runs, then what went wrong. */
const stateOrder: readonly TaskState[] = [
  'TASK_STATE_INPUT_REQUIRED',
  'TASK_STATE_AUTH_REQUIRED',
  'TASK_STATE_WORKING',
  'TASK_STATE_SUBMITTED',
  'TASK_STATE_FAILED',
  'TASK_STATE_REJECTED',
  'TASK_STATE_CANCELED',
  'TASK_STATE_COMPLETED',
]

export function searchTasks(deps: TaskSearchDeps, query: TaskQuery): Promise<TaskSearchPage> {
  return query.sort === 'duration' ? searchByDuration(deps, query) : searchInGroups(deps, query)
}

/** One part of the list: all tasks, those of one agent or those in one state; within it by time. */
interface TaskGroup {
  readonly key: string
  readonly filter: Pick<SearchQuery, 'agent' | 'states'>
}

async function searchInGroups({ store, facts }: TaskSearchDeps, query: TaskQuery): Promise<TaskSearchPage> {
  const { text, level, before, limit, sort = 'time', direction, ...filter } = query
  const order = sort === 'time' && direction === 'asc' ? 'oldest' : 'newest'
  const needle = text?.toLowerCase()
  const cursor = before === undefined ? undefined : parseCursor(before, sort)
  const groups = await groupsOf(store, query)
  const first = cursor === undefined ? 0 : groups.findIndex(({ key }) => key === cursor.key)
  if (first < 0) throw invalidCursor()
  const found: TaskSummary[] = []
  let searched = 0
  for (const [index, group] of groups.entries()) {
    if (index < first) continue
    const isLastGroup = index === groups.length - 1
    let after: SearchQuery['before'] = index === first ? cursor : undefined
    for (let hasMore = true; hasMore;) {
      const size = needle === undefined && level === undefined ? limit - found.length : searchBatch
      const { tasks, more } = await store.tasks.search({
        ...filter,
        ...group.filter,
        order,
        limit: size,
        ...(after !== undefined ? { before: after } : {}),
      })
      const read = await mapInBatches(tasks, async (row) => (isLeftOut(row, level) ? undefined : facts.read(row)))
      for (const [at, row] of tasks.entries()) {
        if (isLeftOut(row, level)) continue
        if (needle !== undefined && !matchesText(row, read[at], needle)) continue
        found.push(taskSummaryOf(row, read[at]))
        const isEnd = isLastGroup && !more && at === tasks.length - 1
        if (found.length === limit && !isEnd) return { tasks: found, before: formatCursor(group.key, row, sort) }
      }
      hasMore = more
      after = tasks.at(-1)
      searched += tasks.length
      if (hasMore && after !== undefined && searched >= maxSearched)
        return { tasks: found, before: formatCursor(group.key, after, sort) }
    }
  }
  return { tasks: found }
}

function isLeftOut({ owner }: TaskRow, level: TaskQuery['level']): boolean {
  return level === 'top' && isDelegated(owner)
}

async function groupsOf(store: Pick<Store, 'tasks'>, query: TaskQuery): Promise<readonly TaskGroup[]> {
  const { sort = 'time', direction = 'asc', agent, states } = query
  if (sort === 'time') return [{ key: '', filter: {} }]
  const groups =
    sort === 'state'
      ? stateOrder
          .filter((state) => states === undefined || states.includes(state))
          .map((state) => ({ key: state, filter: { states: [state] } }))
      : (agent === undefined ? [...(await store.tasks.agents())] : [agent])
          .sort((one, other) => one.localeCompare(other, 'en') || (one < other ? -1 : 1))
          .map((name) => ({ key: name, filter: { agent: name } }))
  return direction === 'desc' ? groups.toReversed() : groups
}

/** Without its facts: those of 1,000 tasks may be large. */
interface ComparedTask {
  readonly row: TaskRow
  readonly workingMs: number
  readonly isMatch: boolean
}

/** Tasks whose logs are read at the same time. */
const readBatch = 20

async function mapInBatches<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = []
  for (let at = 0; at < items.length; at += readBatch) {
    results.push(...(await Promise.all(items.slice(at, at + readBatch).map(work))))
  }
  return results
}

/** The newest matches, by working time. The cursor has the time of the first page, so that running tasks keep their place. */
async function searchByDuration({ store, facts, now }: TaskSearchDeps, query: TaskQuery): Promise<TaskSearchPage> {
  const { text, level, before, limit, sort: _, direction = 'desc', ...filter } = query
  const cursor = before === undefined ? undefined : parseDurationCursor(before)
  const asOf = cursor?.asOf ?? now()
  const until = Math.min(filter.until ?? Infinity, asOf + 1)
  const { tasks: newest, more } = await store.tasks.search({ ...filter, until, limit: maxSearched })
  const tasks = newest.filter((row) => !isLeftOut(row, level))
  const needle = text?.toLowerCase()
  const compared = await mapInBatches(tasks, async (row): Promise<ComparedTask> => {
    const read = await facts.read(row)
    const isMatch = needle === undefined || matchesText(row, read, needle)
    return { row, workingMs: workingTime(row, read, asOf), isMatch }
  })
  const sign = direction === 'desc' ? 1 : -1
  const order = (one: Pick<ComparedTask, 'workingMs'>, other: Pick<ComparedTask, 'workingMs'>): number =>
    sign * (other.workingMs - one.workingMs)
  const matches = compared
    .filter(({ isMatch }) => isMatch)
    .sort((one, other) => order(one, other) || (one.row.id < other.row.id ? 1 : -1))
    .filter((task) => cursor === undefined || (order(cursor, task) || (task.row.id < cursor.id ? -1 : 1)) < 0)
  const page = matches.slice(0, limit)
  const last = page.at(-1)
  return {
    tasks: await mapInBatches(page, async ({ row }) => taskSummaryOf(row, await facts.read(row))),
    ...(matches.length > limit && last !== undefined ? { before: formatDurationCursor(asOf, last) } : {}),
    ...(more ? { compared: newest.length } : {}),
  }
}

/** Without the time in which the task waited for its caller. */
function workingTime({ status: { state }, statusAt, createdAt }: TaskRow, facts: TaskFacts, now: number): number {
  const isAtWork = state === 'TASK_STATE_WORKING' || state === 'TASK_STATE_SUBMITTED'
  const until = isAtWork && !isTerminal(state) ? Math.max(now, statusAt) : statusAt
  return Math.max(0, until - createdAt - (facts.waitingMs ?? 0))
}

function matchesText(
  { id, contextId, owner, agent, status, metadata }: TaskRow,
  facts: TaskFacts | undefined,
  needle: string,
): boolean {
  const searched = [
    facts?.title,
    facts?.cause,
    id,
    contextId,
    owner,
    agent,
    JSON.stringify(status.message ?? ''),
    JSON.stringify(metadata ?? ''),
  ]
  return searched.some((one) => one?.toLowerCase().includes(needle) === true)
}

type TaskPosition = NonNullable<SearchQuery['before']>

/** The end of a page. It grants no access, so it needs no signature. Groups precede it: an agent or a state. */
function formatCursor(group: string, { statusAt, id }: TaskPosition, sort: TaskSort): string {
  const position = `${statusAt.toString(36)}.${id}`
  return sort === 'time' ? position : `${encodeURIComponent(group)}~${position}`
}

function parseCursor(text: string, sort: TaskSort): TaskPosition & { readonly key: string } {
  const pattern = sort === 'time' ? /^()(-?[0-9a-z]{1,11})\.(.+)$/s : /^([^~]+)~(-?[0-9a-z]{1,11})\.(.+)$/s
  const [, group, at, id] = pattern.exec(text) ?? []
  if (group === undefined || at === undefined || id === undefined) throw invalidCursor()
  return { key: decodeGroup(group), statusAt: Number.parseInt(at, 36), id }
}

function decodeGroup(group: string): string {
  try {
    return decodeURIComponent(group)
  } catch {
    throw invalidCursor()
  }
}

function formatDurationCursor(asOf: number, { row, workingMs }: ComparedTask): string {
  return `${asOf.toString(36)}.${workingMs.toString(36)}.${row.id}`
}

function parseDurationCursor(text: string) {
  const [, asOf, workingMs, id] = /^([0-9a-z]{1,11})\.([0-9a-z]{1,11})\.(.+)$/s.exec(text) ?? []
  if (asOf === undefined || workingMs === undefined || id === undefined) throw invalidCursor()
  return { asOf: Number.parseInt(asOf, 36), workingMs: Number.parseInt(workingMs, 36), id }
}

function invalidCursor(): RouteError {
  const violations = [{ field: 'before', description: 'must be the value returned by the previous page' }]
  return new RouteError('INVALID_PARAMS', 'before: must be the value returned by the previous page', { violations })
}
