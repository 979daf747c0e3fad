/**
 * Tasks in one SQLite file: the store for a single server. Durable when it says so,
 * fast because everything written in one turn of the event loop is one commit.
 */
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { heavyStep, isHeavy } from '../../model/heavy-step.ts'
import type { Appended, KeyRow, Store } from '../store.ts'
import { createWaiters } from '../waiters.ts'
import { createAppender } from './append.ts'
import { createBlobTable } from './blob-table.ts'
import { createCounters } from './counters.ts'
import type { Database } from './database.ts'
import { openDatabase } from './database.ts'
import { beginEpoch } from './epoch.ts'
import { createLeases } from './leases.ts'
import { createLists } from './lists.ts'
import { lockFile } from './lock.ts'
import { createLog } from './log.ts'
import { createLook } from './look.ts'
import { createMessages } from './messages.ts'
import { masterKeyBeside } from './master-key.ts'
import { migrate } from './migrate.ts'
import { createNotes } from './notes.ts'
import { createPrune } from './prune.ts'
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
  readonly now?: () => number
}

/** How long to wait for a backup or another reader that has locked the file. */
const busyTimeoutMs = 5_000
/** Expired notes swept in one call. */
const notesPerCall = 10_000

export function sqliteStore(options: string | SqliteStoreOptions): Store {
  const { file, durability = 'full', now = Date.now } = typeof options === 'string' ? { file: options } : options
  const { database, unlock } = open(file, durability, now)
  const epoch = beginEpoch(database)
  const counters = createCounters(database)
  const blobs = createBlobTable(database)
  const messages = createMessages(database)
  const look = createLook(database, blobs)
  const parts = { database, epoch, counters, blobs, messages, now }
  const writer = createWriter(database, {
    begin() {
      look.forget()
      messages.settle()
      epoch.check()
    },
    finish: counters.write,
    abandon() {
      counters.forget()
      messages.forget()
    },
  })
  const waiters = createWaiters()
  const appender = createAppender(parts)
  const log = createLog(database, blobs)
  const lists = createLists(database, counters, blobs)
  const searching = createSearch(database, blobs)
  const leases = createLeases(database, epoch, blobs)
  const pushes = createPushes(database, epoch)
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
    await writer.write(() => messages.seal(now())).catch(() => {})
    sealing = false
  }

  return {
    leaseTtlMs: Infinity,
    notes,
    masterKey: () => (master ??= masterKeyBeside(file)),

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
    read: (taskId, afterSeq, limit = Infinity) =>
      read(() => (afterSeq === 0 && limit === Infinity && look.takeLog(taskId)) || log.read(taskId, afterSeq, limit)),
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
    findMessage: (key, at) => read(() => messages.find(key, at)),

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

    savePush: (push) => write(() => pushes.save(push)),
    loadPush: (taskId, id) => read(() => pushes.load(taskId, id)),
    listPush: (taskId) => read(() => pushes.list(taskId)),
    searchPush: (query) => read(() => pushes.search(query)),
    deletePush: (taskId, id, fence) => write(() => pushes.delete(taskId, id, fence)),
    claimPush: (at, until, limit) => write(() => pushes.claim(at, until, limit)),
    movePush: (taskId, id, fence, change) => write(() => pushes.move(taskId, id, fence, change)),
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

    close: async () => {
      if (closed) return
      closed = true
      writer.flush()
      waiters.wakeAll()
      database.close()
      unlock()
    },
  }
}

function open(file: string, durability: 'full' | 'normal', now: () => number) {
  // Nobody but the owner looks into a directory that we make: there will be messages and keys in it.
  if (file !== ':memory:') mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  const database = openDatabase(file, busyTimeoutMs)
  let unlock = (): void => {}
  try {
    if (database.path !== null) unlock = lockFile(database.path)
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
    return { database, unlock }
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
