/** How the task list is loaded, and how changes of the change feed are merged into it: newest status first, without duplicates. */
import type { TaskSummary } from '../../../api/admin.ts'
import { callAdmin } from '../../../api/admin-client.ts'
import type { PagedListOptions } from '../../../api/paged-list.ts'
import { taskListQuery, matchTaskFilters, type TaskFilters } from './task-filters.ts'

/** Small, so that the first page loads quickly; later pages are larger. */
const firstPageSize = 100
const nextPageSize = 500

export function taskListOptions(filters: TaskFilters): PagedListOptions<TaskSummary> {
  // "The last hour" stays the same for every page.
  const baseQuery = taskListQuery(filters, Date.now())
  return {
    keyOf: ({ id }) => id,
    // The hub looks through a thousand tasks for a page.
    maxEmptyPages: 10,
    merge: mergeTasks,
    newer: newerTask,
    matches: (task) => matchTaskFilters(filters, task, Date.now()) !== 'no',
    async load(before, signal) {
      const range = before === undefined ? { limit: firstPageSize } : { limit: nextPageSize, before: String(before) }
      const page = await callAdmin('listTasks', { query: { ...baseQuery, ...range }, signal })
      return { items: page.tasks, before: page.before }
    },
    onChange(change, list) {
      if (change.type === 'tasks') list.scheduleRefresh(true)
      if (change.type !== 'task') return
      const match = matchTaskFilters(filters, change.task, Date.now())
      // An old task of another caller, or one whose text the page does not have: the hub decides whether it is listed.
      list.applyItem(change.task, match === 'yes' && change.task.title === undefined ? 'ask' : match)
    },
  }
}

/** The order of the hub: by status time, ties by id, both descending. */
export function compareByStatusTime(one: TaskSummary, other: TaskSummary): number {
  if (one.statusAt !== other.statusAt) return one.statusAt < other.statusAt ? 1 : -1
  return one.id < other.id ? 1 : one.id > other.id ? -1 : 0
}

/** The change feed sends the title of a task only once. An update may also be older than the known state. */
export function newerTask(known: TaskSummary | undefined, update: TaskSummary): TaskSummary {
  if (known === undefined) return update
  if (update.head < known.head) return known
  const title = update.title ?? known.title
  return title === undefined ? update : { ...update, title }
}

/** Adds or updates tasks, in order. */
export function mergeTasks(list: readonly TaskSummary[], update: Iterable<TaskSummary>): readonly TaskSummary[] {
  const all = new Map(list.map((task) => [task.id, task]))
  for (const task of update) all.set(task.id, newerTask(all.get(task.id), task))
  return [...all.values()].sort(compareByStatusTime)
}
