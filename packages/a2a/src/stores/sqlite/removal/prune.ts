/** Removes finished tasks and logs that a snapshot covers, oldest first, within one transaction. */
import type { Retention } from '../../store.ts'
import type { SqliteContext } from '../context.ts'
import { type RemovableTask, createTaskRemoval } from './remove-task.ts'

interface FinishedTask extends RemovableTask {
  readonly status_at: number
}

/** Claims removed in one call: with a call every ten seconds, as many as 2,000 tasks per second leave behind. */
const messagesPerCall = 20_000

/** Attempts and push notification configs removed in one call. */
const deliveriesPerCall = 10_000

export function createPrune(context: SqliteContext) {
  const { database, epoch, counters, messages, now, steady } = context
  const remove = createTaskRemoval(context)
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
  // Attempts are written in the order of their time.
  const dropAttempts = database.prepare(`
    DELETE FROM push_attempts WHERE ref IN (SELECT ref FROM (SELECT ref, at FROM push_attempts WHERE ref > 0 ORDER BY ref LIMIT ?) WHERE at < ?)`)
  const dropEndedPushes = database.prepare(`
    DELETE FROM pushes WHERE ref IN (
      SELECT pushes.ref FROM pushes JOIN tasks ON tasks.ref = pushes.task
      WHERE pushes.state IN ('done', 'dead') AND tasks.finished = 1 AND tasks.status_at < ? LIMIT ?)`)

  function oldestFinished(before: number, limit: number): readonly FinishedTask[] {
    if (limit <= 0) return []
    const found = [0, 1].flatMap((dropped) => oldest.all(dropped, before, limit))
    return found.sort((a, b) => a.status_at - b.status_at).slice(0, limit)
  }

  return function prune({ finishedBefore, maxTasks, logBefore, deliveriesBefore, batch }: Retention): number {
    messages.sweep(steady(now()), messagesPerCall)
    if (deliveriesBefore !== undefined) {
      dropAttempts.run(deliveriesPerCall, deliveriesBefore)
      dropEndedPushes.run(deliveriesBefore, deliveriesPerCall)
    }
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
