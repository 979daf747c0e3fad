/**
 * One engine per file. The guard is an exclusive lock of the operating system on a
 * small file beside the database, held as long as the process lives: a second opener
 * is refused at once, and a process that is killed leaves nothing behind that could stop the next.
 * The lock is not on the database itself so that backups and other readers still work.
 */
import type { Database } from './database.ts'
import { isBusy, openDatabase } from './database.ts'
import { createPrivateFile } from './private-files.ts'

/** Answers how to let go. */
export function lockFile(path: string): () => void {
  createPrivateFile(`${path}.lock`)
  const guard: Database = openDatabase(`${path}.lock`, 0)
  try {
    guard.exec('BEGIN EXCLUSIVE')
  } catch (cause) {
    guard.close()
    if (!isBusy(cause)) throw cause
    throw new Error(
      `${path} is in use by another store, in this process or another one. One process may open it at a time: ` +
        'stop the other one, or give this one a file of its own.',
      { cause },
    )
  }
  return () => guard.close()
}
