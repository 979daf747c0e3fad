/** Takes over orphans, renews leases, and finds due tasks. */
import { dueAgainMs } from '../task-store.ts'
import type { DueTime, LeasedTask, TaskRow } from '../store.ts'
import type { BlobTable } from './blob-table.ts'
import type { SqliteDatabase } from './database.ts'
import type { Epoch } from './epoch.ts'
import { type SqliteTaskColumns, sqliteTaskColumns, readSqliteTask, toSqliteInteger } from './rows.ts'

/** All of these run within a transaction. */
export function createSqliteLeases(database: SqliteDatabase, epoch: Epoch, blobs: BlobTable) {
  const isOrphan = 'holder IS NOT NULL AND (lease_until <= ?1 OR fence < ?2)'
  const orphans = database.prepare<SqliteTaskColumns>(`
    SELECT ${sqliteTaskColumns} FROM tasks WHERE finished = 0 AND ${isOrphan} ORDER BY created_at, id LIMIT ?3`)
  const lease = database.prepare(`
    UPDATE tasks SET holder = ?1, lease_until = ?2, fence = ?3, due_at = ?4 WHERE ref = ?5`)
  const renew = database.prepare(
    `UPDATE tasks SET lease_until = ?1 WHERE id = ?2 AND holder = ?3 AND lease_until > ?4 AND fence >= ?5
      AND fence = coalesce(?6, fence)`,
  )
  const due = database.prepare<SqliteTaskColumns & { due_kind: DueTime['kind']; due_at: number }>(
    `SELECT ${sqliteTaskColumns} FROM tasks WHERE due_at IS NOT NULL AND due_at <= ?1 AND NOT (due_kind = 'turn' AND ${isOrphan})
      ORDER BY due_at, id LIMIT ?3`,
  )
  const putOff = database.prepare('UPDATE tasks SET due_at = ? WHERE ref = ?')

  return {
    claimOrphans(holder: string, now: number, ttlMs: number, limit: number): readonly LeasedTask[] {
      return orphans.all(now, epoch.firstFence, limit).map((columns) => {
        const fence = epoch.newFence()
        const { due_kind: kind, due_at: dueAt } = columns
        const due_at = kind === 'turn' && dueAt !== null ? Math.max(dueAt, toSqliteInteger(now + dueAgainMs)) : dueAt
        lease.run(holder, toSqliteInteger(now + ttlMs), fence, due_at, columns.ref)
        return { task: readSqliteTask({ ...columns, due_at }, blobs), fence }
      })
    },
    renew(
      holder: string,
      taskIds: readonly string[],
      until: number,
      now: number,
      fences?: readonly number[],
    ): readonly string[] {
      const isGone = (id: string, index: number): boolean =>
        renew.run(toSqliteInteger(until), id, holder, now, epoch.firstFence, fences?.[index] ?? null) === 0
      return taskIds.filter(isGone)
    },
    claimDue(now: number, limit: number): readonly { readonly task: TaskRow; readonly due: DueTime }[] {
      return due.all(now, epoch.firstFence, limit).map((columns) => {
        const again = now + dueAgainMs
        putOff.run(again, columns.ref)
        return {
          task: readSqliteTask({ ...columns, due_at: again }, blobs),
          due: { kind: columns.due_kind, at: columns.due_at },
        }
      })
    },
  }
}
