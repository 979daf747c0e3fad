/**
 * Tasks in one SQLite file: the store for a single server. Durable when it says so,
 * fast because everything written in one turn of the event loop is one commit.
 */
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { heavyStep, isHeavy } from '../../model/heavy-step.ts'
import type { Appended, KeyRow, Store } from '../store.ts'
import type { StoreLog } from '../store-log.ts'
import { silentLog } from '../store-log.ts'
import { createWaiters } from '../waiters.ts'
import { createAppender } from './append.ts'
import { createBlobTable } from './blob-table.ts'
import { createCounters } from './counters.ts'
import type { Database } from './database.ts'
import { openDatabase } from './database.ts'
import { createDiskCheck } from './disk-check.ts'
import { beginEpoch } from './epoch.ts'
import { openHighWater } from './high-water.ts'
import { inspectDatabase } from './inspect.ts'
import { createLeases } from './leases.ts'
import { createLists } from './lists.ts'
import { lockFile } from './lock.ts'
import { createLog } from './log.ts'
import { createLook, maxLookBytes } from './look.ts'
import { createMessages } from './messages.ts'
import { isMissing, masterKeyBeside } from './master-key.ts'
import { migrate } from './migrate.ts'
import { createNotes } from './notes.ts'
import { createCommitPositions } from './positions.ts'
import { createPrivateFile, makePrivate } from './private-files.ts'
import { createPrune } from './prune.ts'
import { clockOf, withoutSteps } from '../../model/clock.ts'
import { createPushes } from './pushes.ts'
import { createSearch } from './search.ts'
import { createWriter } from './writer.ts'

export interface SqliteStoreOptions {
  /** A path, whose directory is made if it is missing, or `:memory:`. */
  readonly file: string
  /**
   * `full` (default): what was answered is on disk and survives the loss of power.
   * `normal`: it survives the end of the process, however it ends; a loss of power may cost the last moments.
   */
  readonly durability?: 'full' | 'normal'
  /**
   * Opens the file even if acknowledged writes are missing. Default `false`: `sqliteStore` throws an error with the number of
   * missing writes and their times. Set it for one start; the store then continues with what is left.
   */
  readonly acceptLoss?: boolean
  /** Warnings, and how long a check after an unclean end took. Default: nothing is logged. */
  readonly log?: StoreLog
  readonly now?: () => number
  /** Default: the system's, or `now` where that is given. */
  readonly monotonicNow?: () => number
}

/** How long to wait for a backup or another reader that has locked the file. */
const busyTimeoutMs = 5_000
/** What the names of a store's files have after that of the database. */
const storeFiles = ['', '-wal', '-shm', '-mark', '.lock', '.lock-journal', '.key']
/** Expired notes swept in one call. */
const notesPerCall = 10_000

export function sqliteStore(options: string | SqliteStoreOptions): Store {
  const given = typeof options === 'string' ? { file: options } : options
  const { file, log: storeLog = silentLog } = given
  const { now, monotonicNow } = clockOf(given)
  const steady = withoutSteps({ now, monotonicNow })
  const { database, unlock, epoch, highWater } = open(given, now, storeLog)
  const counters = createCounters(database)
  const blobs = createBlobTable(database)
  const messages = createMessages(database)
  const look = createLook(database, blobs)
  const parts = { database, epoch, counters, blobs, messages, now, steady }
  const positions = createCommitPositions(database, epoch, highWater.reached)
  const disk = createDiskCheck(database)
  const writer = createWriter(database, {
    failed: disk.failed,
    begin() {
      look.forget()
      messages.settle()
      epoch.check()
      positions.begin()
    },
    finish: counters.write,
    abandon() {
      counters.forget()
      messages.forget()
      positions.abandon()
    },
    beforeCommit: positions.beforeCommit,
    afterCommit: positions.afterCommit,
  })
  const waiters = createWaiters()
  const appender = createAppender(parts)
  const log = createLog(database, blobs)
  const lists = createLists(database, counters, blobs)
  const searching = createSearch(database, blobs)
  const leases = createLeases(database, epoch, blobs)
  const pushes = createPushes(database, epoch)
  pushes.limitWaits(now())
  const prune = createPrune(parts)
  const keys = keyTable(database)
  const { notes, sweep } = createNotes({ database, now, read, write })
  let closed = false
  let sealing = false
  let master: Uint8Array | undefined

  async function read<Result>(look: () => Result | Promise<Result>): Promise<Result> {
    if (closed) throw new Error('The store is closed')
    return look()
  }
  function write<Result>(work: () => Result): Promise<Result> {
    return closed ? Promise.reject(new Error('The store is closed')) : writer.write(work)
  }

  async function sealMessages(): Promise<void> {
    if (sealing) return
    sealing = true
    // What could not be sealed stays where it is, and is tried again with the next claim.
    await writer.write(() => messages.seal(steady(now()))).catch(() => {})
    sealing = false
  }

  /** When to try next is a wait: it is kept on a scale without steps, and a step neither postpones it nor lets it come early. */
  function steadyDue({ dueAt }: { readonly dueAt?: number | null }): { dueAt?: number } {
    return typeof dueAt === 'number' ? { dueAt: steady(dueAt) } : {}
  }

  return {
    leaseTtlMs: Infinity,
    notes,
    masterKey() {
      if (master === undefined && isMissing(file) && keys.list().length > 0) {
        throw new Error(`${file}.key is missing, and keys in the database are wrapped by it. Put the file back.`)
      }
      return (master ??= masterKeyBeside(file))
    },

    append: async (taskId, append) => {
      if (closed) throw new Error('The store is closed')
      const prepared = appender.prepare(taskId, append)
      const { run, size } = prepared instanceof Promise ? await prepared : prepared
      if (closed) throw new Error('The store is closed')
      const told = ({ outcome }: Appended): void => {
        if (outcome === 'appended' && append.records.length > 0) waiters.wake(taskId)
        if (messages.isFull()) void sealMessages()
      }
      return writer.write(run, told, size)
    },
    load: (taskId) => read(() => look.load(taskId)),
    read: (taskId, afterSeq, limit = Infinity, maxBytes = Infinity) =>
      read(() => {
        const mayTake = afterSeq === 0 && limit === Infinity && maxBytes >= maxLookBytes
        return (mayTake && look.takeLog(taskId)) || log.read(taskId, afterSeq, limit, maxBytes)
      }),
    firstSeq: (taskId) => read(() => log.firstSeq(taskId)),
    changed: (taskId, afterSeq, signal) =>
      read(async () => {
        if (log.head(taskId) <= afterSeq) await waiters.wait(taskId, signal)
      }),
    list: (query) => read(() => lists.list(query)),
    context: (partition, contextId, limit) => read(() => lists.context(partition, contextId, limit)),
    countActive: (tenant, owner) => read(() => counters.active(tenant, owner)),
    countStates: () => read(() => counters.states()),
    countUnfinished: () => read(() => searching.countUnfinished()),
    search: (query) => read(() => searching.search(query)),
    findTasks: (idPrefix, limit) => read(() => searching.findTasks(idPrefix, limit)),
    findMessage: (key, at) => read(() => messages.find(key, steady(at))),

    saveSnapshot: async (taskId, snapshot) => {
      if (!isHeavy(Number(snapshot.internal['bytes'] ?? 0))) return write(log.prepareSnapshot(taskId, snapshot))
      await heavyStep()
      // A snapshot only saves time.
      if (!closed) await writer.write(log.prepareSnapshot(taskId, snapshot), undefined, Infinity)
    },
    loadSnapshot: (taskId) => read(() => (look.hasNoSnapshot(taskId) ? undefined : log.loadSnapshot(taskId))),

    claimOrphans: (holder, at, ttlMs, limit) => write(() => leases.claimOrphans(holder, at, ttlMs, limit)),
    renew: (holder, taskIds, until, fences) => write(() => leases.renew(holder, taskIds, until, now(), fences)),
    claimDue: (at, limit) => write(() => leases.claimDue(at, limit)),

    // Times are translated when they are given, not when they are written: the clock may be set in between.
    savePush: (push) => {
      const [due, atOnce] = [steadyDue(push), steady(push.createdAt)]
      return write(() => pushes.save({ ...push, ...due }, atOnce))
    },
    loadPush: (taskId, id) => read(() => pushes.load(taskId, id)),
    listPush: (taskId) => read(() => pushes.list(taskId)),
    searchPush: (query) => read(() => pushes.search(query)),
    deletePush: (taskId, id, fence) => write(() => pushes.delete(taskId, id, fence)),
    claimPush: (at, until, limit) => {
      const [from, to] = [steady(at), steady(until)]
      return write(() => pushes.claim(from, to, limit))
    },
    movePush: (taskId, id, fence, change) => {
      const due = steadyDue(change)
      return write(() => pushes.move(taskId, id, fence, { ...change, ...due }))
    },
    recordAttempt: (attempt) => write(() => pushes.recordAttempt(attempt)),
    listAttempts: (taskId, pushId, limit) => read(() => pushes.listAttempts(taskId, pushId, limit)),

    prune: (retention) =>
      write(() => {
        sweep(now(), notesPerCall)
        return prune(retention)
      }),
    feed: (position, limit) => read(() => log.feed(position, limit)),
    feedEnd: () => read(() => log.feedEnd()),

    listKeys: () => read(keys.list),
    saveKey: (key) => write(() => keys.save(key)),
    deleteKey: (id) => write(() => keys.delete(id)),

    ready: () => disk.ready(write),
    close: async () => {
      if (closed) return
      closed = true
      writer.flush()
      waiters.wakeAll()
      database.close()
      await highWater.close()
      unlock()
    },
  }
}

function open(options: SqliteStoreOptions, now: () => number, log: StoreLog) {
  const { file, durability = 'full', acceptLoss = false } = options
  if (file !== ':memory:') {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    createPrivateFile(file)
  }
  const database = openDatabase(file, busyTimeoutMs)
  const { path } = database
  let unlock = (): void => {}
  try {
    if (path !== null) unlock = lockFile(path)
    const before = path === null ? undefined : inspectDatabase({ path, acceptLoss, timeoutMs: busyTimeoutMs, log })
    migrate(database, now())
    // A checkpoint rewrites each changed page once, however often it changed: a longer WAL means fewer writes.
    // 4,000 pages gave 1.2 times the throughput of the default 1,000.
    database.exec(`
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = ${durability === 'full' ? 'FULL' : 'NORMAL'};
      PRAGMA wal_autocheckpoint = 4000;
      PRAGMA cache_size = -32000;
      PRAGMA temp_store = MEMORY;
    `)
    const epoch = beginEpoch(database)
    // Only now: before it was migrated, the file may have been that of another program.
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
    throw error
  }
}

function keyTable(database: Database) {
  const list = database.prepare<KeyRow>(
    'SELECT id, purpose, material, created_at AS createdAt FROM keys ORDER BY created_at, id',
  )
  const save = database.prepare(
    'INSERT INTO keys (id, purpose, material, created_at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING',
  )
  const remove = database.prepare('DELETE FROM keys WHERE id = ?')
  return {
    list: (): readonly KeyRow[] => list.all().map((row) => ({ ...row })),
    save: ({ id, purpose, material, createdAt }: KeyRow) => void save.run(id, purpose, material, createdAt),
    delete: (id: string) => void remove.run(id),
  }
}
