/** How the task list is loaded, and how changes of the change feed are merged into it: in its order, without duplicates. */
import { signal } from '@preact/signals'
import type { TaskSummary } from '../../../api/admin.ts'
import { callAdmin } from '../../../api/admin-client.ts'
import type { PagedList, PagedListOptions } from '../../../api/paged-list.ts'
import { isWaitingState } from '../../../components/status/task-states.ts'
import { taskListQuery, matchTaskFilters, type TaskFilters } from './task-filters.ts'
import { compareTasks, isDefaultOrder, taskOrderRequest, type TaskOrder } from './task-order.ts'

/** Small, so that the first page loads quickly; later pages are larger. */
const firstPageSize = 100
const nextPageSize = 500

/** The number of newest matches that the hub has compared, if there are older ones. */
export const comparedCount = signal<number | undefined>(undefined)

export function taskListOptions(filters: TaskFilters, order: TaskOrder): PagedListOptions<TaskSummary> {
  // "The last hour" stays the same for every page.
  const baseQuery = { ...taskListQuery(filters, Date.now()), ...taskOrderRequest(order) }
  const compare = compareTasks(order)
  return {
    keyOf: ({ id }) => id,
    // The hub looks through a thousand tasks for a page.
    maxEmptyPages: 10,
    merge: (known, update) => mergeTasks(known, update, compare),
    newer: newerTask,
    matches: (task) => matchTaskFilters(filters, task, Date.now()) !== 'no',
    async load(before, signal) {
      const range = before === undefined ? { limit: firstPageSize } : { limit: nextPageSize, before: String(before) }
      const page = await callAdmin('listTasks', { query: { ...baseQuery, ...range }, signal })
      comparedCount.value = page.compared
      return { items: page.tasks, before: page.before }
    },
    onChange(change, list) {
      if (change.type === 'tasks') list.scheduleRefresh(true)
      if (change.type !== 'task') return
      if (!isDefaultOrder(order) && isBeyondLoaded(change.task, list)) return
      const match = matchTaskFilters(filters, change.task, Date.now())
      // An old task of another caller, or one whose text the page does not have: the hub decides whether it is listed.
      list.applyItem(change.task, match === 'yes' && change.task.title === undefined ? 'ask' : match)
    },
  }

  /** A task that comes after the loaded pages is loaded with its page. */
  function isBeyondLoaded(task: TaskSummary, list: PagedList<TaskSummary>): boolean {
    const shown = list.items.peek() ?? []
    const last = shown.at(-1)
    const isKnown = shown.some(({ id }) => id === task.id)
    return last !== undefined && !isKnown && list.hasMore.peek() && compare(task, last) > 0
  }
}

/** The change feed sends some facts only with some changes. An update may also be older than the known state. */
export function newerTask(known: TaskSummary | undefined, update: TaskSummary): TaskSummary {
  if (known === undefined) return update
  if (update.head < known.head) return known
  const { title, callerName, result, waitingMs } = { ...known, ...update }
  return {
    ...update,
    ...(callerName !== undefined ? { callerName } : {}),
    ...(title !== undefined ? { title } : {}),
    ...(result !== undefined ? { result } : {}),
    ...(waitingMs !== undefined ? { waitingMs } : {}),
    ...endedWait(known, update),
  }
}

/** The wait that ended with this update, unless the hub has counted it. */
function endedWait(known: TaskSummary, update: TaskSummary): Pick<TaskSummary, 'waitingMs'> | undefined {
  if (update.waitingMs !== undefined || !isWaitingState(known.state) || isWaitingState(update.state)) return undefined
  return { waitingMs: (known.waitingMs ?? 0) + Math.max(0, Date.parse(update.statusAt) - Date.parse(known.statusAt)) }
}

/** Adds or updates tasks, in order. */
export function mergeTasks(
  list: readonly TaskSummary[],
  update: Iterable<TaskSummary>,
  compare: (one: TaskSummary, other: TaskSummary) => number,
): readonly TaskSummary[] {
  const all = new Map(list.map((task) => [task.id, task]))
  for (const task of update) all.set(task.id, newerTask(all.get(task.id), task))
  return [...all.values()].sort(compare)
}
