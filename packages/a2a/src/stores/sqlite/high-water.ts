/**
 * Maintains the high-water mark of an open database. With `full` durability a commit is on disk when the mark is written. With
 * `normal` a power loss may still lose it, and a surviving mark would be ahead of the database: there the WAL is synced once a
 * second, and the mark records the position of that sync.
 */
import { closeSync, fdatasync, fdatasyncSync, openSync } from 'node:fs'
import type { StoreLog } from '../store-log.ts'
import type { SqliteDatabase } from './database.ts'
import { identityOf } from './inspect-database.ts'
import { openMark, type HighWaterMark, type MarkWriter } from './mark-file.ts'
import { type WalPosition, type WalReader, openWalReader } from './wal-position.ts'

export interface HighWater {
  /** Call it after the commit that reached the position. Never throws. */
  reached(position: number): void
  /** Call it after the database is closed. */
  close(): Promise<void>
}

export interface HighWaterDeps {
  readonly database: SqliteDatabase
  readonly durability: 'full' | 'normal'
  readonly epoch: number
  readonly position: number
  /** The mark of the previous start, if it belongs to this database. */
  readonly before: HighWaterMark | undefined
  readonly now: () => number
  readonly log: StoreLog
}

const noHighWater: HighWater = { reached() {}, async close() {} }
const syncMs = 1_000

export function openHighWater({ database, durability, epoch, position, before, now, log }: HighWaterDeps): HighWater {
  const { path } = database
  if (path === null) return noHighWater
  // From here on the file itself contains the epoch: only a replaced file can lack it.
  const anchor = checkpoint(database) ? epoch : (before?.anchor ?? 0)
  const wal = openWalReader(path)
  const first: HighWaterMark = {
    ...identityOf(path),
    epoch,
    anchor,
    position,
    at: now(),
    isClean: false,
    wal: wal.read(),
  }
  const synced = { wal: first.wal }
  let mark: MarkWriter
  try {
    mark = openMark(path, first, durability === 'full' ? wal.read : () => synced.wal, log)
  } catch (cause) {
    log.warn('the high-water mark of the database cannot be written: lost writes will not be detected', {
      path,
      cause,
    })
    return { reached() {}, close: async () => wal.close() }
  }
  return durability === 'full' ? markOnCommit(mark, wal, now) : markAfterSync(mark, wal, synced, now, path)
}

function markOnCommit(mark: MarkWriter, wal: WalReader, now: () => number): HighWater {
  return {
    reached: (position) => mark.write(position, now()),
    async close() {
      await mark.close()
      wal.close()
    },
  }
}

function markAfterSync(
  mark: MarkWriter,
  wal: WalReader,
  synced: { wal: WalPosition },
  now: () => number,
  path: string,
): HighWater {
  const handle = openSync(`${path}-wal`, 'r+')
  let last: number | undefined
  let lastAt = 0
  let timer: NodeJS.Timeout | undefined
  let syncing: Promise<void> | undefined

  function sync(): void {
    const [position, at, place] = [last ?? 0, lastAt, wal.read()]
    timer = undefined
    syncing = new Promise((resolve) => {
      fdatasync(handle, (error) => {
        if (error === null) {
          synced.wal = place
          mark.write(position, at)
        }
        resolve()
      })
    })
  }

  return {
    reached(position) {
      last = position
      lastAt = now()
      timer ??= setTimeout(sync, syncMs).unref()
    },
    async close() {
      clearTimeout(timer)
      await syncing
      // Closing the database has synced all of it, unless a backup reads at this moment.
      fdatasyncSync(handle)
      closeSync(handle)
      if (last !== undefined) mark.write(last, lastAt)
      await mark.close()
      wal.close()
    },
  }
}

/** Returns whether everything is in the file. A backup that reads at this moment prevents it. */
function checkpoint(database: SqliteDatabase): boolean {
  const sql = 'PRAGMA wal_checkpoint(PASSIVE)'
  const { busy, log, checkpointed } = database
    .prepare<{ busy: number; log: number; checkpointed: number }>(sql)
    .get() ?? { busy: 1, log: 0, checkpointed: 0 }
  return busy === 0 && log === checkpointed
}
