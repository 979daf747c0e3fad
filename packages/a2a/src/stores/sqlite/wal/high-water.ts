/**
 * What happens after a commit: syncing it to disk, and the high-water mark beside the database, which is never ahead of what is on
 * disk. With `full` durability a write resolves when its commit is synced (wal-sync.ts), and the mark follows each sync. With
 * `normal` a write resolves at once, and the WAL is synced once a second for the mark.
 */
import type { StoreLog } from '../../store-log.ts'
import type { SqliteDatabase } from '../database.ts'
import { identityOf } from '../inspect-database.ts'
import { openMark, type HighWaterMark, type MarkWriter } from './mark-file.ts'
import { openWalReader } from './wal-position.ts'
import { openWalSync, type DurableCallback, type WalSync } from './wal-sync.ts'

export interface HighWater {
  /** Call it after the commit that reached the position. Never throws. */
  reached(position: number): void
  /** Calls back when every commit so far is as durable as requested: at once if it is. */
  whenDurable(callback: DurableCallback): void
  /** Resolves when every commit so far is as durable as requested; `undefined` if it is. Rejects if a sync failed. */
  pending(): Promise<void> | undefined
  /** The error of a failed sync. Nothing may be written after it. */
  failure(): Error | undefined
  /** Resolves when everything is synced, or could not be. Call it before the database is closed. */
  drain(): Promise<void>
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

/** Every commit is durable when it returns. */
const durableAtOnce = {
  whenDurable: (callback: DurableCallback): void => callback(),
  pending: () => undefined,
  failure: () => undefined,
  async drain() {},
}
const noHighWater: HighWater = { ...durableAtOnce, reached() {}, async close() {} }
const syncMs = 1_000

export function openHighWater(deps: HighWaterDeps): HighWater {
  const { database, durability, epoch, position, before, now, log } = deps
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
  let synced = first.wal
  const mark = openMarkOrWarn(path, first, () => synced, log)
  const sync = isWal(database)
    ? openWalSync({
        path,
        wal,
        onSynced(point) {
          synced = point.wal
          mark?.write(point.position, point.at)
        },
      })
    : undefined
  const close = async (): Promise<void> => {
    await sync?.close()
    // Not clean after a failed sync: the next start checks the file.
    await mark?.close(sync?.failure() === undefined)
    wal.close()
  }
  if (sync === undefined) {
    // A file system without shared memory, so without a WAL: SQLite syncs within each commit.
    return { ...durableAtOnce, reached: (reached) => mark?.write(reached, now()), close }
  }
  // Only now: the migration and the epoch were committed with SQLite's own sync.
  database.exec('PRAGMA synchronous = NORMAL')
  return durability === 'full'
    ? { ...sync, reached: (reached) => sync.committed(reached, now()), close }
    : syncLater(sync, now, close)
}

/** For `normal` durability. */
function syncLater(sync: WalSync, now: () => number, close: () => Promise<void>): HighWater {
  let last: readonly [position: number, at: number] | undefined
  let timer: NodeJS.Timeout | undefined

  function commitLast(): void {
    clearTimeout(timer)
    timer = undefined
    if (last !== undefined) sync.committed(...last)
    last = undefined
  }

  return {
    ...durableAtOnce,
    reached(position) {
      last = [position, now()]
      timer ??= setTimeout(commitLast, syncMs).unref()
    },
    async drain() {
      commitLast()
      await sync.drain()
    },
    close,
  }
}

function openMarkOrWarn(
  path: string,
  first: HighWaterMark,
  readWal: () => HighWaterMark['wal'],
  log: StoreLog,
): MarkWriter | undefined {
  try {
    return openMark(path, first, readWal, log)
  } catch (cause) {
    log.warn('the high-water mark of the database cannot be written: lost writes will not be detected', {
      path,
      cause,
    })
    return undefined
  }
}

function isWal(database: SqliteDatabase): boolean {
  return database.prepare<{ journal_mode: string }>('PRAGMA journal_mode').get()?.journal_mode === 'wal'
}

/** Returns whether everything is in the file. A backup that reads at this moment prevents it. */
function checkpoint(database: SqliteDatabase): boolean {
  const sql = 'PRAGMA wal_checkpoint(PASSIVE)'
  const { busy, log, checkpointed } = database
    .prepare<{ busy: number; log: number; checkpointed: number }>(sql)
    .get() ?? { busy: 1, log: 0, checkpointed: 0 }
  return busy === 0 && log === checkpointed
}
