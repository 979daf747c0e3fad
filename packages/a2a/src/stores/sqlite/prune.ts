/** Removes finished tasks and logs that a snapshot covers, oldest first, within one transaction. */
import type { Partition, Retention } from '../store.ts'
import type { BlobTable } from './blob-table.ts'
import type { Counters } from './counters.ts'
import type { SqliteDatabase } from './database.ts'
import type { Epoch } from './epoch.ts'
import type { SqliteMessageClaims } from './message-claims.ts'

interface FinishedTask extends Partition {
  readonly ref: number
  readonly state: number
  readonly status_at: number
}

/** Claims removed in one call: with a call every ten seconds, as many as 2,000 tasks per second leave behind. */
const messagesPerCall = 20_000

export interface PruneDeps {
  readonly database: SqliteDatabase
  readonly epoch: Epoch
  readonly counters: Counters
  readonly blobs: BlobTable
  readonly messages: SqliteMessageClaims
  readonly now: () => number
  /** Converts a time just read from the clock to steady time, which claims use. */
  readonly steady: (at: number) => number
}

export function createPrune({ database, epoch, counters, blobs, messages, now, steady }: PruneDeps) {
  const columns = 'ref, state, status_at, tenant, agent, owner'
  const oldest = database.prepare<FinishedTask>(`
    SELECT ${columns} FROM tasks INDEXED BY tasks_finished
    WHERE finished = 1 AND log_dropped = ? AND status_at < ? AND pushes = 0 ORDER BY status_at, id LIMIT ?`)
  const covered = database.prepare<FinishedTask>(`
    SELECT ${columns} FROM tasks INDEXED BY tasks_finished
    WHERE finished = 1 AND log_dropped = 0 AND status_at < ? AND pushes = 0
      AND EXISTS (SELECT 1 FROM snapshots WHERE task = ref AND seq >= head) ORDER BY status_at, id LIMIT ?`)
  const dropLog = database.prepare('DELETE FROM log WHERE task = ?')
  const markDropped = database.prepare('UPDATE tasks SET log_dropped = 1 WHERE ref = ?')
  const others = ['snapshots', 'pushes', 'push_attempts'].map((table) =>
    database.prepare(`DELETE FROM ${table} WHERE task = ?`),
  )
  const removeTask = database.prepare('DELETE FROM tasks WHERE ref = ?')

  function oldestFinished(before: number, limit: number): readonly FinishedTask[] {
    if (limit <= 0) return []
    const found = [0, 1].flatMap((dropped) => oldest.all(dropped, before, limit))
    return found.sort((a, b) => a.status_at - b.status_at).slice(0, limit)
  }

  function remove(task: FinishedTask): void {
    dropLog.run(task.ref)
    for (const table of others) table.run(task.ref)
    blobs.release(task.ref)
    removeTask.run(task.ref)
    counters.change(task, task.state, -1)
  }

  return function prune({ finishedBefore, maxTasks, logBefore, batch }: Retention): number {
    messages.sweep(steady(now()), messagesPerCall)
    counters.write()
    const total = counters.total()
    const removed = finishedBefore === undefined ? [] : [...oldestFinished(finishedBefore, batch)]
    for (const task of removed) remove(task)
    if (maxTasks !== undefined) {
      const excess = Math.min(total - removed.length - maxTasks, batch - removed.length)
      for (const task of oldestFinished(Number.MAX_SAFE_INTEGER, excess)) {
        remove(task)
        removed.push(task)
      }
    }
    const left = batch - removed.length
    const dropped = logBefore === undefined || left <= 0 ? [] : covered.all(logBefore, left)
    for (const { ref } of dropped) {
      dropLog.run(ref)
      markDropped.run(ref)
    }
    if (removed.length + dropped.length > 0) {
      epoch.keepPosition()
      counters.write()
      counters.dropEmpty()
    }
    return removed.length + dropped.length
  }
}
