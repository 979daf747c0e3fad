/**
 * One engine per file. The guard is an exclusive operating-system lock on a small file beside the database, held for the lifetime
 * of the process: a second opener is refused at once, and a killed process leaves no lock behind. The lock is not on the database
 * itself, so that backups and other readers still work.
 */
import { existsSync } from 'node:fs'
import type { SqliteDatabase } from './database.ts'
import { isBusy, openSqliteDatabase } from './database.ts'
import { createPrivateFile } from './private-files.ts'

/** Returns a function that releases the lock. */
export function lockFile(path: string): () => void {
  createPrivateFile(`${path}.lock`)
  const guard: SqliteDatabase = openSqliteDatabase(`${path}.lock`, 0)
  try {
    guard.exec('BEGIN EXCLUSIVE')
  } catch (cause) {
    guard.close()
    if (!isBusy(cause)) throw cause
    // Without the cause, which says the same: an uncaught error prints one message.
    throw Object.assign(
      new Error(
        `${path} is in use by another store, of this process or another one. Close that one, or choose another file.`,
      ),
      { code: 'STORE_IN_USE', path },
    )
  }
  // A load that failed meanwhile has removed the file that this lock is on.
  if (existsSync(`${path}.lock`)) return () => guard.close()
  guard.close()
  return lockFile(path)
}
