/**
 * Erases tasks and key-value entries. With `secure_delete` SQLite overwrites what it deletes with zeros; without it, deleted text
 * stays in free pages until they are used again. Older copies, of rows that grew and moved, need a compaction (compact.ts).
 */
import {
  type ErasedCounts,
  type EraseOrder,
  type OrphanCounts,
  emptyErasedCounts,
  sumOfCounts,
} from '../../erasure-store.ts'
import { keyToBytes } from '../../key-value-keys.ts'
import type { SqliteContext } from '../context.ts'
import { createTaskRemoval, removableColumns, type RemovableTask } from './remove-task.ts'

/** All functions but `findOwners` run within a transaction. */
export function createErase(context: SqliteContext) {
  const { database, epoch, counters } = context
  const remove = createTaskRemoval(context)
  const find = database.prepare<RemovableTask>(`SELECT ${removableColumns} FROM tasks WHERE id = ?`)
  const removeEntry = database.prepare('DELETE FROM notes WHERE kind = ? AND key = ?')
  const replaceEntry = database.prepare('UPDATE notes SET value = ?, version = version + 1 WHERE kind = ? AND key = ?')
  // Not by LIKE, which ignores case and has wildcards.
  const owners = database.prepare<{ owner: string }>(
    `SELECT DISTINCT owner FROM counters WHERE tasks > 0 AND substr(owner, -length(?1)) = ?1`,
  )
  const isOrphan = (table: string): string => `NOT EXISTS (SELECT 1 FROM tasks WHERE tasks.id = ${table}.task_id)`
  const orphanClaims = ['messages', 'sealed_messages'].map((table) =>
    database.prepare(`DELETE FROM ${table} WHERE ${isOrphan(table)}`),
  )

  function overwriting<Result>(work: () => Result): Result {
    database.exec('PRAGMA secure_delete = ON')
    try {
      return work()
    } finally {
      database.exec('PRAGMA secure_delete = OFF')
    }
  }

  function erase({ taskIds = [], entries = [], replacements = [] }: EraseOrder): ErasedCounts {
    let counts = emptyErasedCounts
    for (const id of taskIds) {
      const task = find.get(id)
      if (task !== undefined) counts = sumOfCounts(counts, remove(task))
    }
    let [removed, replaced] = [0, 0]
    for (const { kind, key } of entries) removed += removeEntry.run(keyToBytes(kind), keyToBytes(key))
    for (const { kind, key, value } of replacements)
      replaced += replaceEntry.run(JSON.stringify(value), keyToBytes(kind), keyToBytes(key))
    if (counts.tasks > 0) {
      epoch.keepPosition()
      counters.write()
      counters.dropEmpty()
    }
    return { ...counts, entries: removed, replaced }
  }

  return {
    findOwners: (suffix: string): readonly string[] =>
      suffix === '' ? [] : owners.all(suffix).map(({ owner }) => owner),
    erase: (order: EraseOrder): ErasedCounts => overwriting(() => erase(order)),
    removeOrphans: (): OrphanCounts =>
      overwriting(() => ({ messageClaims: orphanClaims.reduce((sum, claims) => sum + claims.run(), 0), rows: 0 })),
  }
}
