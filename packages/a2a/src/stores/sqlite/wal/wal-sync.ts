/**
 * Syncs commits to disk without blocking the event loop. SQLite's own sync, within COMMIT, stopped the whole process for as long as
 * the disk took: 0.3 to 2 ms for every group of writes. Here SQLite only writes the WAL (`synchronous = NORMAL`); this file syncs
 * it in a thread of libuv, and a write resolves when the sync that covers it has ended. Commits made during a sync share the next
 * one.
 */
import { closeSync, fdatasync, openSync } from 'node:fs'
import type { WalPosition, WalReader } from './wal-position.ts'

/** What is on disk after a sync. */
export interface SyncPoint {
  /** The position of the last commit, and when it was made. */
  readonly position: number
  readonly at: number
  /** How far the WAL reached when the sync began. */
  readonly wal: WalPosition
}

export type DurableCallback = (failure?: Error) => void

export type WalSync = ReturnType<typeof openWalSync>

export interface WalSyncDeps {
  /** The database file. */
  readonly path: string
  readonly wal: WalReader
  /** Called after each sync, before the writes that it covers resolve. Must not throw. */
  onSynced(point: SyncPoint): void
  /** For tests. Default: `fdatasync`. */
  readonly sync?: (handle: number, callback: (error: Error | null) => void) => void
}

interface Batch {
  readonly point: SyncPoint
  readonly callbacks: DurableCallback[]
}

/** Throws if there is no WAL. */
export function openWalSync({ path, wal, onSynced, sync = fdatasync }: WalSyncDeps) {
  // Closing a handle drops the locks of its file (POSIX). SQLite locks the database and the wal-index, not the WAL.
  const handle = openSync(`${path}-wal`, 'r+')
  let running: Batch | undefined
  let ended: Promise<void> = Promise.resolve()
  /** The last commit that no sync has begun for, and the callbacks that wait for it. */
  let last: Omit<SyncPoint, 'wal'> | undefined
  let waiting: DurableCallback[] = []
  let failure: Error | undefined

  function start({ position, at }: Omit<SyncPoint, 'wal'>): void {
    const batch = { point: { position, at, wal: wal.read() }, callbacks: waiting }
    last = undefined
    waiting = []
    running = batch
    ended = new Promise((resolve) => {
      sync(handle, (error) => {
        running = undefined
        settle(batch, error)
        resolve()
      })
    })
  }

  function settle({ point, callbacks: settled }: Batch, error: Error | null): void {
    if (error !== null) {
      failure ??= new Error(`syncing the write-ahead log failed: ${error.message}. Check the disk, then restart`, {
        cause: error,
      })
      settled.push(...waiting.splice(0))
    } else {
      onSynced(point)
      // First, so that the disk works while the callers of these writes do.
      if (last !== undefined) start(last)
    }
    for (const callback of settled) callback(failure)
  }

  /** Calls back when every commit so far is on disk: at once if it is. */
  function whenDurable(callback: DurableCallback): void {
    if (failure !== undefined) callback(failure)
    else if (last !== undefined) waiting.push(callback)
    else if (running !== undefined) running.callbacks.push(callback)
    else callback()
  }

  return {
    /** Call it after each commit. Never throws. */
    committed(position: number, at: number): void {
      last = { position, at }
      if (running === undefined && failure === undefined) start(last)
    },
    whenDurable,
    /** Resolves when every commit so far is on disk; `undefined` if it is. Rejects if a sync failed. */
    pending(): Promise<void> | undefined {
      if (failure === undefined && last === undefined && running === undefined) return undefined
      return new Promise((resolve, reject) => {
        whenDurable((failed) => (failed === undefined ? resolve() : reject(failed)))
      })
    },
    /** What is on disk after a failed sync is unknown (the kernel drops the pages), so it is final. */
    failure: (): Error | undefined => failure,
    /** Resolves when nothing is being synced, also after a failure. */
    async drain(): Promise<void> {
      while (running !== undefined) await ended
    },
    async close(): Promise<void> {
      await ended
      closeSync(handle)
    },
  }
}
