/**
 * Whether the file can be written, for `/readyz`. Asked for nothing while all is well: only after a write failed for a reason
 * of the disk (full, broken, read-only) is another one tried, and the store is ready again when that has worked.
 */
import { isDiskError, type Database } from './database.ts'

export interface DiskCheck {
  /** Told of every write that failed. */
  failed(error: unknown): void
  /** Rejects while the file cannot be written. */
  ready(write: <Result>(work: () => Result) => Promise<Result>): Promise<void>
}

/** More than a page, so that it does not pass by what was free inside the file. */
const probeBytes = 65_536

export function createDiskCheck(database: Database): DiskCheck {
  let isWell = true

  return {
    failed(error) {
      if (!isDiskError(error)) return
      isWell = false
    },
    async ready(write) {
      if (isWell) return
      try {
        // Two commits: what one makes and takes away again is never written.
        await write(() => database.prepare(insertProbe).run('x'.repeat(probeBytes)))
        await write(() => database.prepare(removeProbe).run())
      } catch (cause) {
        throw new Error(`the database file cannot be written: ${(cause as Error).message}`, { cause })
      }
      isWell = true
    },
  }
}

const insertProbe = `INSERT INTO notes (kind, key, version, updated_at, expires_at, value)
  VALUES (x'00', x'00', 1, 0, 0, ?) ON CONFLICT (kind, key) DO UPDATE SET value = excluded.value`
const removeProbe = `DELETE FROM notes WHERE kind = x'00' AND key = x'00'`
