/**
 * Tasks in PostgreSQL: the store for any number of replicas. Each statement is whole in itself (one call, one transaction),
 * so nobody holds a lock while a network or a paused process makes others wait, and a pooler may stand between.
 */
import type { Store } from '../store.ts'
import type { StoreLog } from '../store-log.ts'
import { silentLog } from '../store-log.ts'
import { createBlobs } from './blob-content.ts'
import { createChanges } from './changes.ts'
import { createDatabase } from './database.ts'
import type { ListenClient, PostgresPool } from './driver.ts'
import { createTurns } from './gather.ts'
import { createHousekeeping } from './housekeeping.ts'
import { createLeases } from './leases.ts'
import { startListener } from './listener.ts'
import { createLists } from './lists.ts'
import { createLog } from './log.ts'
import { migrate, quoted } from './migrate.ts'
import { digestOf, toText } from './names.ts'
import { createNotes } from './notes.ts'
import { createNotifier } from './notifier.ts'
import { createPushes } from './pushes.ts'
import { createSearch } from './search.ts'
import { createDatabaseTime } from './time.ts'
import { createWriter } from './writer.ts'

export interface PostgresStoreOptions {
  /** A `Pool` of `pg`. A pooler in transaction mode may stand between it and the server. */
  readonly pool: PostgresPool
  /** 32 bytes, or their base64, which wrap the keys of the keyring. All replicas have the same, and it is not in the database. */
  readonly masterKey: Uint8Array | string
  /**
   * Makes a client with a direct connection to the server, such as `() => new pg.Client(url)`: on it this process hears what
   * other replicas write. Without one it looks every `pollMs`.
   */
  readonly listen?: () => ListenClient
  /** Made if it is missing. Default `parley`. */
  readonly schema?: string
  /** Whether this store may bring the schema to its newest step when it is first used. Default true. */
  readonly migrate?: boolean
  /** For poolers that cannot keep prepared statements. */
  readonly unnamedStatements?: boolean
  /** How long a lease lives without a heartbeat. Default 10 s. */
  readonly leaseTtlMs?: number
  /** How often to look for what nobody has told of. Default 2 s while listening, 100 ms otherwise. */
  readonly pollMs?: number
  /** How long one statement may take, the wait for a connection included. Default 5 s. */
  readonly statementTimeoutMs?: number
  /** Whether `close` also ends the pool. Default false: whoever made it ends it. */
  readonly endPool?: boolean
  readonly log?: StoreLog
  /** For tests: this clock counts instead of the database's. */
  readonly now?: () => number
  /** For tests: the wall clock of this replica, from which callers read the times that they give. Default: `now`, or the system's. */
  readonly wallNow?: () => number
}

/** Reads are tried again for so long: a connection that the server closed, a restart that takes a moment. */
const readPatienceMs = 2_000
/** Expired notes swept in one call. */
const notesPerCall = 10_000
/** Another replica may be in the middle of a long step. */
const migrationPatience = { timeoutMs: 600_000, patienceMs: 5_000 }

export function postgresStore(options: PostgresStoreOptions): Store {
  const { pool, leaseTtlMs = 10_000, statementTimeoutMs: timeoutMs = 5_000, log = silentLog } = options
  const { unnamedStatements = false, schema: schemaName = 'parley' } = options
  const master = masterKeyOf(options.masterKey)
  const schema = quoted(schemaName)
  const time = createDatabaseTime(options)
  const database = createDatabase({ pool, unnamedStatements, timeoutMs, patienceMs: readPatienceMs })
  const self = crypto.randomUUID().slice(0, 8)
  const channel = `parley_${digestOf(schemaName).slice(0, 16)}`

  const changes = createChanges({
    database,
    schema,
    pollMs: () => (listener?.listening === true ? (options.pollMs ?? 2_000) : Math.min(options.pollMs ?? 100, 100)),
  })
  const notifier = createNotifier(database, channel, self)
  const blobs = createBlobs(database, schema)
  const tasks = createLog({ database, schema, blobs, changes, time })
  const lists = createLists(database, schema, blobs)
  const searching = createSearch(database, schema, blobs)
  const leases = createLeases({ database, schema, blobs, time })
  const pushes = createPushes(database, schema, time)
  const housekeeping = createHousekeeping(database, schema, time)
  const { notes, sweep } = createNotes({ database, schema, time, during })
  // An append waits as long as its lease can live: after that the task is somebody else's.
  const writer = createWriter({ database, schema, time, patienceMs: leaseTtlMs, flushing })
  const turns = createTurns()
  const listener =
    options.listen && startListener({ connect: options.listen, channel, log, self, heard: changes.heard })

  surviveErrors(pool)
  let preparing: Promise<void> | undefined
  let isPrepared = false
  let closing: Promise<void> | undefined
  const underway = new Set<Promise<unknown>>()

  /** Migrates before the first use, and again before the next if that failed. */
  function prepared(): Promise<void> {
    const patient = createDatabase({ pool, unnamedStatements, ...migrationPatience })
    preparing ??= migrate(patient, schemaName, options.migrate ?? true).then(
      () => void (isPrepared = true),
      (error: unknown) => {
        preparing = undefined
        throw error
      },
    )
    return preparing
  }

  function flushing() {
    const watching = changes.watch()
    return (written: readonly { readonly id: string; readonly head: number; readonly makes: boolean }[]): void => {
      for (const { id, head } of written) watching.learned(id, head)
      watching.end()
      changes.appended(written.map(({ id }) => id))
      // Nobody elsewhere waits for a task that is only now there.
      for (const { id, makes } of written) if (!makes) notifier.tell(id)
    }
  }

  function open<Result>(work: () => Promise<Result>): Promise<Result> {
    if (closing !== undefined) return Promise.reject(new Error('The store is closed'))
    return isPrepared ? work() : prepared().then(work)
  }
  /** What `close` waits for. */
  function during<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = open(work)
    const settled = done.then(forget, forget)
    function forget(): void {
      underway.delete(settled)
    }
    underway.add(settled)
    return done
  }
  const inTurn = <Result>(work: () => Promise<Result>): Promise<Result> => during(() => turns.take(work))

  async function close(): Promise<void> {
    await Promise.all(underway)
    changes.close()
    await notifier.told()
    await listener?.close()
    if (options.endPool === true) await pool.end()
  }

  return {
    leaseTtlMs,
    notes,
    append: (taskId, append) => during(() => writer.append(taskId, append)),
    load: (taskId) => during(() => tasks.load(taskId)),
    read: (taskId, afterSeq, limit, maxBytes) => during(() => tasks.read(taskId, afterSeq, limit, maxBytes)),
    firstSeq: (taskId) => during(() => tasks.firstSeq(taskId)),
    changed: (taskId, afterSeq, signal) => open(() => changes.changed(toText(taskId), afterSeq, signal)),
    list: (query) => during(() => lists.list(query)),
    context: (partition, contextId, limit) => during(() => lists.context(partition, contextId, limit)),
    countActive: (tenant, owner) => during(() => lists.countActive(tenant, owner)),
    countStates: () => during(() => lists.countStates()),
    countUnfinished: () => during(() => searching.countUnfinished()),
    search: (query) => during(() => searching.search(query)),
    findTasks: (idPrefix, limit) => during(() => searching.findTasks(idPrefix, limit)),
    findMessage: (key, at) => during(() => tasks.findMessage(key, at)),
    saveSnapshot: (taskId, snapshot) => during(() => tasks.saveSnapshot(taskId, snapshot)),
    loadSnapshot: (taskId) => during(() => tasks.loadSnapshot(taskId)),

    // Times are translated when they are given, not when their turn comes: the clock may be set in between.
    claimOrphans: (holder, at, ttlMs, limit) => {
      const shiftMs = time.distance(at)
      return inTurn(() => leases.claimOrphans(holder, shiftMs, ttlMs, limit))
    },
    renew: (holder, taskIds, until, fences) => during(() => leases.renew(holder, taskIds, until, fences)),
    claimDue: (at, limit) => {
      const shiftMs = time.distance(at)
      return inTurn(() => leases.claimDue(shiftMs, limit))
    },

    savePush: (push) => during(() => pushes.save(push)),
    loadPush: (taskId, id) => during(() => pushes.load(taskId, id)),
    listPush: (taskId) => during(() => pushes.list(taskId)),
    searchPush: (query) => during(() => pushes.search(query)),
    deletePush: (taskId, id, fence) => during(() => pushes.delete(taskId, id, fence)),
    claimPush: (at, until, limit) => {
      const [shiftMs, untilMs] = [time.distance(at), time.distance(until)]
      return inTurn(() => pushes.claim(shiftMs, untilMs, limit))
    },
    movePush: (taskId, id, fence, change) => during(() => pushes.move(taskId, id, fence, change)),
    recordAttempt: (attempt) => during(() => pushes.recordAttempt(attempt)),
    listAttempts: (taskId, pushId, limit) => during(() => pushes.listAttempts(taskId, pushId, limit)),

    prune: (retention) =>
      inTurn(async () => {
        await sweep(notesPerCall)
        return housekeeping.prune(retention)
      }),
    feed: (position, limit) => during(() => tasks.feed(position, limit)),
    feedEnd: () => during(() => tasks.feedEnd()),

    masterKey: () => master,
    listKeys: () => during(housekeeping.listKeys),
    saveKey: (key) => inTurn(() => housekeeping.saveKey(key)),
    deleteKey: (id) => inTurn(() => housekeeping.deleteKey(id)),

    ready: () => during(isWritable),
    close: () => (closing ??= close()),
  }

  /** A server that another one has replaced still answers. */
  async function isWritable(): Promise<void> {
    const [row] = await database.once<{ standby: boolean }>('SELECT pg_is_in_recovery() AS standby')
    if (row?.standby === true) throw new Error('The database is a standby: it takes no writes')
  }
}

const surviving = new WeakSet<PostgresPool>()

/**
 * A pool on which nobody listens for errors ends the process when the server closes an idle connection. Once a pool, and
 * for as long as it lives: stores come and go on it. What matters of such an error the next statement says.
 */
function surviveErrors(pool: PostgresPool): void {
  if (surviving.has(pool)) return
  surviving.add(pool)
  pool.on('error', () => {})
}

function masterKeyOf(given: Uint8Array | string): Uint8Array {
  const key = typeof given === 'string' ? Buffer.from(given, 'base64') : given
  if (key.length !== 32) throw new Error(`The master key must have 32 bytes, or be their base64; it has ${key.length}`)
  return key
}
