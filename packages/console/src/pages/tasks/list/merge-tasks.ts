/** Merges loaded tasks with changes of the change feed: newest status first, without duplicates. */
import type { TaskSummary } from '../../../api/admin.ts'

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
