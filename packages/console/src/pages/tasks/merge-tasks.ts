/** One list out of what was loaded and what the stream tells: the newest status first, every task once. */
import type { TaskSummary } from '../../api/admin.ts'

/** As the hub orders them: by the time of the status, ties by id, both descending. */
export function before(one: TaskSummary, other: TaskSummary): number {
  if (one.statusAt !== other.statusAt) return one.statusAt < other.statusAt ? 1 : -1
  return one.id < other.id ? 1 : one.id > other.id ? -1 : 0
}

/** The stream tells the title of a task only once. What it tells may also be older than what we know. */
export function newer(known: TaskSummary | undefined, told: TaskSummary): TaskSummary {
  if (known === undefined) return told
  if (told.head < known.head) return known
  const title = told.title ?? known.title
  return title === undefined ? told : { ...told, title }
}

/** With these added or brought up to date, in order. */
export function merge(list: readonly TaskSummary[], told: Iterable<TaskSummary>): readonly TaskSummary[] {
  const all = new Map(list.map((task) => [task.id, task]))
  for (const task of told) all.set(task.id, newer(all.get(task.id), task))
  return [...all.values()].sort(before)
}

/** Each where it stands, for whoever is reading. */
export function updateInPlace(list: readonly TaskSummary[], told: TaskSummary): readonly TaskSummary[] {
  return list.map((task) => (task.id === told.id ? newer(task, told) : task))
}
