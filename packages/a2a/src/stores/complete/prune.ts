/** What retention removes from a log store: the oldest finished tasks, covered logs, and ended webhooks. Never an open task. */
import type { LogRow, LogStore } from '../log-store.ts'
import type { Retention } from '../store.ts'
import { decodeText } from '../text-encoding.ts'
import type { createPushCursors } from './push-cursors.ts'
import type { TaskEntry, TaskTable } from './task-table.ts'

/** How many finished tasks are inspected in one call for logs and webhooks that may go. */
const inspectedPerCall = 1_000

export function createPrune(log: LogStore, table: TaskTable, { attempts }: ReturnType<typeof createPushCursors>) {
  /** Where the inspection continues. */
  let inspected: LogRow | undefined

  return async function prune({ finishedBefore, maxTasks, batch, ...later }: Retention): Promise<number> {
    const removed = log.remove === undefined ? 0 : await removeOldest(finishedBefore, maxTasks, batch)
    return removed + (await inspect(later, batch - removed))
  }

  async function removeOldest(before = -Infinity, maxTasks = Infinity, batch: number): Promise<number> {
    if (before === -Infinity && maxTasks === Infinity) return 0
    const { rows, total } = await log.list({ where: { isOpen: false }, order: 'oldest', limit: batch })
    const surplus = total + table.open.size - maxTasks
    const ids = rows.filter(({ statusAt }, index) => statusAt < before || index < surplus).map(({ id }) => id)
    if (ids.length > 0) await log.remove?.(ids)
    for (const id of ids) attempts.delete(decodeText(id))
    return ids.length
  }

  /** Drops logs that a snapshot covers, and ended webhooks of finished tasks. Returns the number of dropped logs. */
  async function inspect(
    { logBefore = -Infinity, deliveriesBefore = -Infinity }: Pick<Retention, 'logBefore' | 'deliveriesBefore'>,
    limit: number,
  ): Promise<number> {
    const latest = Math.max(log.snapshots === undefined ? -Infinity : logBefore, deliveriesBefore)
    if (latest === -Infinity) return 0
    for (const [taskId, made] of attempts)
      attempts.set(
        taskId,
        made.filter(({ at }) => at >= deliveriesBefore),
      )
    const query = { where: { isOpen: false }, order: 'oldest', limit: inspectedPerCall } as const
    const { rows } = await log.list({ ...query, ...(inspected === undefined ? {} : { after: inspected }) })
    const old = rows.filter(({ statusAt }) => statusAt < latest)
    inspected = old.length < inspectedPerCall ? undefined : old.at(-1)
    let dropped = 0
    for (const row of old) {
      const { row: task, pushes } = table.stateOf(row)
      if (row.statusAt < deliveriesBefore && pushes.length > 0) await dropPushes(task.id)
      if (row.statusAt < logBefore && dropped < limit && (await dropLog(task.id, task.head))) dropped += 1
    }
    return dropped
  }

  async function dropPushes(taskId: string): Promise<void> {
    await table.exclusively([taskId], () =>
      table.update(taskId, (entry: TaskEntry | undefined) => {
        if (entry === undefined || entry.state.pushes.some(({ state }) => state === 'active'))
          return { answer: undefined }
        return { answer: undefined, next: { ...entry.state, pushes: [] } }
      }),
    )
  }

  async function dropLog(taskId: string, head: number): Promise<boolean> {
    const snapshot = await log.snapshots?.load(taskId)
    return (
      snapshot !== undefined && snapshot.seq >= head && log.snapshots !== undefined && log.snapshots.dropLog(taskId)
    )
  }
}
