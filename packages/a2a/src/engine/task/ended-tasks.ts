/**
 * Reads a task that has ended for one response. Most are read once: a `LoadedTask` in the cache would be moved by the garbage
 * collector, push another task out, and be released unused. A task that is read again soon is loaded.
 */
import type { LogRecord } from '../../model/record.ts'
import type { StateTransition } from '../../model/state-transition.ts'
import { isTerminal } from '../../model/state.ts'
import type { Task } from '../../model/task.ts'
import type { Partition, StoredTask, TaskRow } from '../../stores/store.ts'
import { emptyFold, foldRecord, taskView, type TaskFold } from './fold.ts'
import type { LoadedTaskDeps } from './loaded-task.ts'

/** A task as a reader needs it. */
export interface TaskReading {
  readonly partition: Partition
  /** False while its first append is in flight. */
  readonly isStored: boolean
  readonly view: Task
  /** The seq of the last event in the view. */
  readonly head: number
  readonly transitions: readonly StateTransition[] | undefined
}

/** Between this many other reads and twice as many, a read is forgotten. */
const rememberedReads = 250

export type FoldDeps = Pick<LoadedTaskDeps, 'coalescesText' | 'keepsTransitions'>

/** `undefined`: the store cannot read tasks at once. */
export function createEndedTasks({ store, ...deps }: FoldDeps & Pick<LoadedTaskDeps, 'store'>) {
  const { loadStored } = store.tasks
  if (loadStored === undefined) return undefined
  let newest = new Set<string>()
  let older = newest

  /** Only ids of tasks that exist: a caller may send any text as an id. */
  function remember(id: string): void {
    if (newest.size >= rememberedReads) {
      older = newest
      newest = new Set()
    }
    newest.add(id)
  }

  function readingOf(stored: StoredTask | undefined): TaskReading | undefined {
    if (stored === undefined || !isTerminal(stored.row.status.state)) return undefined
    const { row, records, task } = stored
    remember(row.id)
    const partition = partitionOf(row)
    if (records !== undefined) {
      const fold = foldLog(deps, row, records)
      return { partition, isStored: true, view: taskView(fold), head: fold.head, transitions: fold.transitions }
    }
    // A view has no transitions: they are in the internal part of a snapshot.
    if (task === undefined || deps.keepsTransitions(row.agent)) return undefined
    return { partition, isStored: true, view: task, head: row.head, transitions: undefined }
  }

  /** `undefined`: the task must be loaded, or does not exist. */
  return function read(id: string): TaskReading | undefined | Promise<TaskReading | undefined> {
    if (newest.has(id) || older.has(id)) return undefined
    const stored = loadStored(id)
    return stored instanceof Promise ? stored.then(readingOf) : readingOf(stored)
  }
}

/** The fold of a whole log. */
export function foldLog(deps: FoldDeps, row: TaskRow, records: readonly LogRecord[]): TaskFold {
  const fold = emptyFold(row.id, row.contextId, row.status, row.metadata)
  if (deps.keepsTransitions(row.agent)) fold.transitions = []
  const coalesceText = deps.coalescesText(row.agent)
  for (const record of records) foldRecord(fold, record, coalesceText)
  return fold
}

export function partitionOf({ tenant, agent, owner }: TaskRow): Partition {
  return { tenant, agent, owner }
}
