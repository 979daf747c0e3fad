/**
 * Tasks in one SQLite file: the store for a single server. Durable when a call resolves; fast because all writes of one turn of the
 * event loop are one commit.
 */
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { heavyStep, isHeavy } from '../../model/heavy-step.ts'
import type { AppendResult, FullStore, KeyMaterialChange, KeyRow } from '../store.ts'
import { type StoreLog, silentLog } from '../store-log.ts'
import { createChangeWaiters } from '../change-waiters.ts'
import { createRecentAppends } from '../recent-appends.ts'
import { createSqliteAppender } from './append.ts'
import { createBlobTable } from './blob-table.ts'
import { createCounters } from './counters.ts'
import { type SqliteDatabase, openSqliteDatabase } from './database.ts'
import { createDiskCheck } from './disk-check.ts'
import { beginEpoch } from './epoch.ts'
import { openHighWater } from './wal/high-water.ts'
import { inspectDatabase } from './inspect-database.ts'
import { createSqliteLeases } from './leases.ts'
import { createSqliteTaskLists } from './lists.ts'
import { createPrivateFile, makePrivate, partialFile } from './private-files.ts'
import { createStoreDirectory, storeAccessError } from './store-directory.ts'
import { lockFile } from './file-lock.ts'
import { createSqliteTaskLog } from './log.ts'
import { createStoredTaskReader } from './stored-task.ts'
import { createSqliteMessageClaims } from './message-claims.ts'
import { openMasterKeys } from './master-key.ts'
import { migrateSqlite } from './migrate.ts'
import { createSqliteKeyValue } from './key-value.ts'
import { createCommitPositions } from './wal/commit-positions.ts'
import { compactDatabase } from './removal/compact.ts'
import { createErase } from './removal/erase.ts'
import { createPreviewPrune } from './removal/preview-prune.ts'
import { createPrune } from './removal/prune.ts'
import { clockOf, createStepCorrection } from '../../model/clock.ts'
import { createSqlitePushCursors } from './push-cursors.ts'
import { createSqliteTaskSearch } from './search.ts'
import { createSqliteStats } from './stats.ts'
import { createSqliteWriter } from './commit-writer.ts'

/** Options of `sqliteStore`. */
export interface SqliteStoreOptions {
  /** A path, whose directory is created if it is missing, or `:memory:`. */
  readonly file: string
  /**
   * `full` (default): acknowledged writes are on disk and survive a power loss. `normal`: they survive the end of the process,
   * however it ends; a power loss may lose the last moments.
   */
  readonly durability?: 'full' | 'normal'
  /**
   * Opens the file even if acknowledged writes are missing. Default `false`: `sqliteStore` throws an error with the number of
   * missing writes and their times. Set it for one start; the store then continues with what is left.
   */
  readonly acceptLoss?: boolean
  /** Receives warnings, and the duration of a check after an unclean shutdown. Default: nothing is logged. */
  readonly log?: StoreLog
  /** The wall clock, for tests: milliseconds since the epoch. Default: the system's. */
  readonly now?: () => number
  /** The monotonic clock, for tests, in milliseconds. Default: the system's, or `now` if given. */
  readonly monotonicNow?: () => number
}

/** How long to wait for a backup or another reader that has locked the file. */
const busyTimeoutMs = 5_000
/** The suffixes of the files of a store. */
const storeFiles = ['', '-wal', '-shm', '-mark', '.lock', '.lock-journal', '.key', '.key.next']
/** Expired entries removed in one call. */
const kvRowsPerSweep = 10_000

/**
 * Opens a store in one SQLite file, for a single process; for several use `postgresStore`. The master key of its
 * keyring is in `<file>.key`. Throws if another store has the file open, if the file is damaged, belongs to another
 * program or a newer version that this one cannot work with, or if acknowledged writes are missing (see `acceptLoss`).
 *
 * @example
 * ```ts
 * import { serve } from '@parley/a2a/node'
 * import { sqliteStore } from '@parley/a2a/stores/sqlite'
 *
 * await serve({ agent: ({ text }) => text, store: sqliteStore('./data/tasks.db') })
 * ```
 */
export function sqliteStore(options: string | SqliteStoreOptions): FullStore {
  const given = typeof options === 'string' ? { file: options } : options
  const { file, log: storeLog = silentLog } = given
  const { now, monotonicNow } = clockOf(given)
  const steady = createStepCorrection({ now, monotonicNow })
  const { database, unlock, epoch, highWater } = open(given, now, storeLog)
  const counters = createCounters(database)
  const blobs = createBlobTable(database)
  const messages = createSqliteMessageClaims(database)
  const recent = createRecentAppends()
  const context = { database, epoch, counters, blobs, messages, now, steady }
  const positions = createCommitPositions(database, epoch, highWater.reached)
  const disk = createDiskCheck(database)
  const writer = createSqliteWriter(database, {
    failed: disk.failed,
    whenDurable: highWater.whenDurable,
    begin() {
      const failure = highWater.failure()
      if (failure !== undefined) throw failure
      messages.settle()
      epoch.check()
      positions.begin()
    },
    finish: counters.write,
    rollback() {
      counters.forget()
      messages.forget()
      positions.abandon()
      recent.clear()
    },
    beforeCommit: positions.beforeCommit,
    afterCommit: positions.afterCommit,
  })
  const waiters = createChangeWaiters()
  const appender = createSqliteAppender(context, recent.add)
  const log = createSqliteTaskLog(database, blobs)
  const loadStored = createStoredTaskReader(database, blobs)
  const lists = createSqliteTaskLists(database, counters, blobs)
  const search = createSqliteTaskSearch(database, blobs)
  const leases = createSqliteLeases(database, epoch, blobs)
  const pushes = createSqlitePushCursors(database, epoch)
  pushes.limitWaits(now())
  const prune = createPrune(context)
  const previewPrune = createPreviewPrune(context)
  const erasure = createErase(context)
  const keys = keyTable(database)
  const statistics = createSqliteStats(context, search, log)
  const { kv, sweep } = createSqliteKeyValue(context, { read, write })
  let closed = false
  let sealing = false
  const masterKeys = openMasterKeys(file)

  /** A result may contain commits that are not on disk yet. It is returned when they are: a power loss must not undo it. */
  async function read<Result>(query: () => Result | Promise<Result>): Promise<Result> {
    if (closed) throw new Error('The store is closed')
    const result = await query()
    const pending = highWater.pending()
    if (pending !== undefined) await pending
    return result
  }
  function write<Result>(work: () => Result): Promise<Result> {
    return closed ? Promise.reject(new Error('The store is closed')) : writer.write(work)
  }

  async function sealMessages(): Promise<void> {
    if (sealing) return
    sealing = true
    // If sealing fails, the claims stay where they are, and the next claim tries again.
    await writer.write(() => messages.seal(steady(now()))).catch(() => {})
    sealing = false
  }

  /** The next attempt is a delay: it is stored in steady time, so that a clock step neither postpones nor advances it. */
  function steadyDue({ dueAt }: { readonly dueAt?: number | null }): { dueAt?: number } {
    return typeof dueAt === 'number' ? { dueAt: steady(dueAt) } : {}
  }

  return {
    leaseTtlMs: Infinity,
    tasks: {
      append: async (taskId, append) => {
        if (closed) throw new Error('The store is closed')
        const prepared = appender.prepare(taskId, append)
        const { run, size } = prepared instanceof Promise ? await prepared : prepared
        if (closed) throw new Error('The store is closed')
        const told = ({ outcome }: AppendResult): void => {
          if (outcome === 'appended' && append.records.length > 0) waiters.wake(taskId)
          if (messages.isFull()) void sealMessages()
        }
        return writer.write(run, told, size)
      },
      load: (taskId) => read(() => lists.load(taskId)),
      loadStored(taskId) {
        if (closed) throw new Error('The store is closed')
        const stored = loadStored(taskId)
        // As `read`, without a promise if nothing is pending.
        const pending = highWater.pending()
        return pending === undefined ? stored : pending.then(() => stored)
      },
      sizeOf: (taskId) => read(() => log.sizeOf(taskId)),
      read: (taskId, afterSeq, limit = Infinity, maxBytes = Infinity, nextStep) =>
        read(() => log.read(taskId, afterSeq, limit, maxBytes, nextStep)),
      firstSeq: (taskId) => read(() => log.firstSeq(taskId)),
      changed: (taskId, afterSeq, signal) =>
        read(async () => {
          if (log.head(taskId) <= afterSeq) await waiters.wait(taskId, signal)
        }),
      list: (query) => read(() => lists.list(query)),
      context: (partition, contextId, limit) => read(() => lists.context(partition, contextId, limit)),
      countActive: (tenant, owner) => read(() => counters.active(tenant, owner)),
      countStates: () => read(() => counters.states()),
      countUnfinished: (ownerPrefix) => read(() => search.countUnfinished(ownerPrefix)),
      search: (query) => read(() => search.search(query)),
      agents: () => read(() => search.agents()),
      findTasks: (idPrefix, limit) => read(() => search.findTasks(idPrefix, limit)),
      findMessage: (key, at) => read(() => messages.find(key, steady(at))),
      saveSnapshot: async (taskId, snapshot) => {
        if (!isHeavy(Number(snapshot.internal['bytes'] ?? 0))) return write(await log.prepareSnapshot(taskId, snapshot))
        await heavyStep()
        const run = await log.prepareSnapshot(taskId, snapshot, heavyStep)
        // A snapshot only saves time.
        if (!closed) await writer.write(run, undefined, Infinity)
      },
      loadSnapshot: (taskId, nextStep) => read(() => log.loadSnapshot(taskId, nextStep)),
      claimOrphans: (holder, at, ttlMs, limit) => write(() => leases.claimOrphans(holder, at, ttlMs, limit)),
      renew: (holder, taskIds, until, fences) => write(() => leases.renew(holder, taskIds, until, now(), fences)),
      claimDue: (at, limit) => write(() => leases.claimDue(at, limit)),
    },
    push: {
      // Times are converted when they are passed, not when they are written: the clock may step in between.
      save: (push) => {
        const [due, atOnce] = [steadyDue(push), steady(push.createdAt)]
        return write(() => pushes.save({ ...push, ...due }, atOnce))
      },
      load: (taskId, id) => read(() => pushes.load(taskId, id)),
      list: (taskId) => read(() => pushes.list(taskId)),
      search: (query) => read(() => pushes.search(query)),
      delete: (taskId, id, fence) => write(() => pushes.delete(taskId, id, fence)),
      claim: (at, until, limit) => {
        const [from, to] = [steady(at), steady(until)]
        return write(() => pushes.claim(from, to, limit))
      },
      move: (taskId, id, fence, change) => {
        const due = steadyDue(change)
        return write(() => pushes.move(taskId, id, fence, { ...change, ...due }))
      },
      recordAttempt: (attempt) => write(() => pushes.recordAttempt(attempt)),
      listAttempts: (taskId, pushId, limit) => read(() => pushes.listAttempts(taskId, pushId, limit)),
    },
    keys: {
      masterKey: () => masterKeys.current(() => keys.list().length > 0),
      otherMasterKeys: () => masterKeys.others(),
      createMasterKey: async () => masterKeys.createNext(),
      adoptMasterKey: async (key) => {
        // The wrapped keys must be on disk before the key that unwraps them replaces the other.
        if (given.durability === 'normal') database.exec('PRAGMA wal_checkpoint(FULL)')
        masterKeys.adopt(key)
      },
      list: () => read(keys.list),
      save: (key) => write(() => keys.save(key)),
      delete: (id) => write(() => keys.delete(id)),
      replace: (changes) => write(() => keys.replace(changes)),
    },
    feed: {
      read: (position, limit) => read(() => recent.addRecords(position, log.feed(position, limit))),
      end: () => read(() => log.feedEnd()),
    },
    kv,
    prune: (retention) =>
      write(() => {
        sweep(now(), kvRowsPerSweep)
        return prune(retention)
      }),
    previewPrune: (retention) => read(() => previewPrune(retention)),
    erasure: {
      findOwners: (suffix) => read(() => erasure.findOwners(suffix)),
      erase: (order) =>
        write(() => {
          recent.clear()
          return erasure.erase(order)
        }),
      removeOrphans: () => write(erasure.removeOrphans),
      compact: async () => {
        // A file that lost a sync is left as it is: the next start checks it.
        await write(() => {})
        await highWater.drain()
        return compactDatabase(database, busyTimeoutMs)
      },
    },
    stats: async () => {
      const stats = await read(() => statistics.read(steady(now())))
      const diskFree = await statistics.diskFree()
      return stats.bytes === undefined || diskFree === undefined
        ? stats
        : { ...stats, bytes: { ...stats.bytes, diskFree } }
    },
    ready: async () => {
      const failure = highWater.failure()
      if (failure !== undefined) throw failure
      await disk.ready(write)
    },
    close: async () => {
      if (closed) return
      closed = true
      writer.flush()
      await highWater.drain()
      waiters.wakeAll()
      if (highWater.failure() !== undefined) preventCheckpoint(database)
      database.close()
      await highWater.close()
      unlock()
    },
  }
}

function open(options: SqliteStoreOptions, now: () => number, log: StoreLog) {
  const { file, durability = 'full', acceptLoss = false } = options
  if (file !== ':memory:') {
    createStoreDirectory(dirname(file))
    createPrivateFile(file)
  }
  const database = openSqliteDatabase(file, busyTimeoutMs)
  const { path } = database
  let unlock = (): void => {}
  try {
    if (path !== null) unlock = lockFile(path)
    if (path !== null) refuseHalfLoaded(path)
    const before = path === null ? undefined : inspectDatabase({ path, acceptLoss, timeoutMs: busyTimeoutMs, log })
    migrateSqlite(database, now())
    // A checkpoint rewrites each changed page once, however often it changed: a longer WAL means fewer writes. 4,000 pages gave 1.2
    // times the throughput of the default 1,000.
    database.exec(`
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = FULL;
      PRAGMA wal_autocheckpoint = 4000;
      PRAGMA cache_size = -32000;
      PRAGMA temp_store = MEMORY;
    `)
    const epoch = beginEpoch(database)
    // Only now: before the migration, the file may have belonged to another program.
    if (path !== null)
      makePrivate(
        storeFiles.map((end) => path + end),
        log,
      )
    const { number, position } = epoch
    const highWater = openHighWater({ database, durability, epoch: number, position, before, now, log })
    return { database, unlock, epoch, highWater }
  } catch (error) {
    database.close()
    unlock()
    throw storeAccessError(error, file)
  }
}

/** Otherwise a hub that starts after an interrupted restore would begin with an empty store, unnoticed. */
function refuseHalfLoaded(path: string): void {
  const partial = partialFile(path)
  if (!existsSync(partial)) return
  throw new Error(
    `Loading ${path} was interrupted. Run the restore or import again, or delete ${partial} to start without it.`,
  )
}

/** Connections that stay open until the process ends. */
const keptOpen: SqliteDatabase[] = []

/**
 * The last connection that closes copies the WAL into the database file. After a failed sync it is unknown what the disk has of the WAL,
 * so the copy is left to the next start, after its check. A connection that only reads cannot copy, and stays open.
 */
function preventCheckpoint({ path }: SqliteDatabase): void {
  if (path === null) return
  const reader = openSqliteDatabase(path, busyTimeoutMs, 'read')
  reader.prepare('SELECT epoch FROM engine').get()
  keptOpen.push(reader)
}

function keyTable(database: SqliteDatabase) {
  const list = database.prepare<KeyRow>(
    'SELECT id, purpose, material, created_at AS createdAt FROM keys ORDER BY created_at, id',
  )
  const save = database.prepare(
    'INSERT INTO keys (id, purpose, material, created_at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING',
  )
  const remove = database.prepare('DELETE FROM keys WHERE id = ?')
  const material = database.prepare<Pick<KeyRow, 'material'>>('SELECT material FROM keys WHERE id = ?')
  const update = database.prepare('UPDATE keys SET material = ? WHERE id = ?')
  return {
    list: (): readonly KeyRow[] => list.all().map((row) => ({ ...row })),
    save: ({ id, purpose, material, createdAt }: KeyRow) => void save.run(id, purpose, material, createdAt),
    delete: (id: string) => void remove.run(id),
    replace(changes: readonly KeyMaterialChange[]): boolean {
      if (!changes.every(({ id, from }) => material.get(id)?.material === from)) return false
      for (const { id, to } of changes) update.run(to, id)
      return true
    },
  }
}
