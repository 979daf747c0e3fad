/**
 * Whether the file can be written, for `/readyz`. Costs nothing while writes succeed. After a write failed because of the disk
 * (full, broken, read-only), each check tries another write, and the store is ready again when that succeeds.
 */
import { isDiskError, type SqliteDatabase } from './database.ts'

/** More than a page, so that free pages inside the file do not suffice. */
const probeBytes = 65_536

export function createDiskCheck(database: SqliteDatabase) {
  let isWritable = true

  return {
    /** Call it with the error of every failed write. */
    failed(error: unknown): void {
      if (!isDiskError(error)) return
      isWritable = false
    },
    /** Rejects while the file cannot be written. */
    async ready(write: <Result>(work: () => Result) => Promise<Result>): Promise<void> {
      if (isWritable) return
      try {
        // Two commits: a row that one commit inserts and deletes is never written.
        await write(() => database.prepare(insertProbe).run('x'.repeat(probeBytes)))
        await write(() => database.prepare(removeProbe).run())
      } catch (cause) {
        throw new Error(`the database file cannot be written: ${(cause as Error).message}`, { cause })
      }
      isWritable = true
    },
  }
}

const insertProbe = `INSERT INTO notes (kind, key, version, updated_at, expires_at, value)
  VALUES (x'00', x'00', 1, 0, 0, ?) ON CONFLICT (kind, key) DO UPDATE SET value = excluded.value`
const removeProbe = `DELETE FROM notes WHERE kind = x'00' AND key = x'00'`
