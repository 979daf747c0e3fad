/**
 * Rewrites the file, so that neither it nor the WAL holds deleted text. VACUUM copies the live rows; the checkpoints around it
 * empty the WAL, which has the old pages. The file keeps its inode, and its WAL starts anew: the high-water mark stays valid.
 *
 * It runs on the connection of the store and stops the event loop: a second connection would need the write lock for as long, and
 * writers would wait for it without a bound.
 */
import { statSync } from 'node:fs'
import type { Compaction } from '../../erasure-store.ts'
import { type SqliteDatabase, isBusy } from '../database.ts'

/** Up to this size the copy is made in memory; larger ones go to a temporary file, which SQLite removes. */
const maxInMemory = 256 * 2 ** 20

/** Call it outside of a transaction, when everything is synced. Never throws for a lock or a full disk: the result says so. */
export function compactDatabase(database: SqliteDatabase, busyTimeoutMs: number): Compaction {
  const { path } = database
  if (path === null) {
    database.exec('VACUUM')
    return { isDone: true }
  }
  const bytesBefore = sizeOf(path)
  try {
    // A reader that does not end, such as a backup, must not stop the process for the whole timeout.
    database.exec(`PRAGMA busy_timeout = 0; PRAGMA temp_store = ${bytesBefore > maxInMemory ? 'FILE' : 'MEMORY'}`)
    if (!emptyWal(database)) return { isDone: false, reason: readerText, bytesBefore }
    database.exec('VACUUM')
    const isDone = emptyWal(database)
    return { isDone, ...(isDone ? {} : { reason: readerText }), bytesBefore, bytesAfter: sizeOf(path) }
  } catch (error) {
    const reason = isBusy(error) ? readerText : error instanceof Error ? error.message : String(error)
    return { isDone: false, reason, bytesBefore }
  } finally {
    database.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}; PRAGMA temp_store = MEMORY`)
  }
}

const readerText = 'another process reads the file, such as a backup: repeat it when the process has ended'

function emptyWal(database: SqliteDatabase): boolean {
  const { busy } = database.prepare<{ busy: number }>('PRAGMA wal_checkpoint(TRUNCATE)').get() ?? { busy: 1 }
  return busy === 0
}

function sizeOf(path: string): number {
  return statSync(path).size + (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0)
}
