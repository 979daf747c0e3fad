/** Removes one task with everything that belongs to it, within a transaction. */
import { type ErasedCounts, emptyErasedCounts } from '../../erasure-store.ts'
import type { Partition } from '../../task-store.ts'
import type { SqliteContext } from '../context.ts'

export interface RemovableTask extends Partition {
  readonly ref: number
  readonly state: number
}

/** The columns of a `RemovableTask`. */
export const removableColumns = 'ref, state, tenant, agent, owner'

/** The caller writes the counters at the end of the transaction. Returns what was removed. */
export function createTaskRemoval({ database, counters, blobs }: SqliteContext) {
  const removal = (table: string, column = 'task') => database.prepare(`DELETE FROM ${table} WHERE ${column} = ?`)
  const [log, snapshots, pushes, attempts] = [
    removal('log'),
    removal('snapshots'),
    removal('pushes'),
    removal('push_attempts'),
  ]
  const row = removal('tasks', 'ref')

  return function remove(task: RemovableTask): ErasedCounts {
    const counts = {
      ...emptyErasedCounts,
      tasks: 1,
      logBatches: log.run(task.ref),
      snapshots: snapshots.run(task.ref),
      pushConfigs: pushes.run(task.ref),
      pushAttempts: attempts.run(task.ref),
      blobs: blobs.release(task.ref),
    }
    row.run(task.ref)
    counters.change(task, task.state, -1)
    return counts
  }
}
