/**
 * Tasks in PostgreSQL: the store for any number of replicas. Each statement is self-contained (one call, one transaction), so no
 * lock is held while a network or a paused process delays others, and a pooler may be used.
 */
import { wrapMethods } from '../../model/wrap-methods.ts'
import type { MigrationStep } from '../migration-step.ts'
import type { FullStore } from '../store.ts'
import { withOrderedTimes } from '../decide-append.ts'
import { createRecentAppends } from '../recent-appends.ts'
import { type StoreLog, silentLog } from '../store-log.ts'
import { createPostgresBlobs } from './blob-content.ts'
import { createChangeWatcher } from './change-watcher.ts'
import { createDatabaseTime, createPostgresDatabase, type PostgresDatabase } from './database.ts'
import type { ListenClient, PostgresPool } from './driver.ts'
import { createSerialQueue } from './request-batching.ts'
import { createPostgresErase } from './erase.ts'
import { createHousekeeping } from './housekeeping.ts'
import { createPostgresLeases } from './leases.ts'
import { createNotifier, startListener } from './listener.ts'
import { createPostgresTaskLists } from './lists.ts'
import { createPostgresTaskLog } from './log.ts'
import { migratePostgres, quoteIdentifier } from './migrate.ts'
import { nameDigest, encodeText } from './text-encoding.ts'
import { createPostgresKeyValue } from './key-value.ts'
import { createPostgresPreviewPrune } from './preview-prune.ts'
import { createPostgresPushCursors } from './push-cursors.ts'
import { createReplicatedPool } from './replication-barrier.ts'
import { createPostgresTaskSearch } from './search.ts'
import { createPostgresStats } from './stats.ts'
import { type WrittenAppend, createPostgresWriter } from './append-writer.ts'

/** Options of `postgresStore`. */
export interface PostgresStoreOptions {
  /** A `Pool` of `pg`. A pooler in transaction mode may sit between it and the server. */
  readonly pool: PostgresPool
  /** 32 bytes, or their base64, which wrap the keys of the keyring. All replicas use the same key; it is not in the database. */
  readonly masterKey: Uint8Array | string
  /**
   * Master keys that may still wrap keys in the database: set the old one while the master key is rotated
   * (`handler.rotateMasterKey`). Default: none.
   */
  readonly previousMasterKeys?: readonly (Uint8Array | string)[]
  /**
   * Creates a client with a direct connection to the server, such as `() => new pg.Client(url)`, on which this process receives
   * notifications of other replicas. Without it, the store polls every `pollMs`.
   */
  readonly listen?: () => ListenClient
  /** The schema of the tables, created if it is missing. Default `parley`. */
  readonly schema?: string
  /** Whether this store may migrate the schema to its newest step on first use. Default true. */
  readonly migrate?: boolean
  /** Uses no prepared statements, for poolers that do not support them. Default false. */
  readonly unnamedStatements?: boolean
  /** How long a lease lives without a heartbeat. Default 10 s. */
  readonly leaseTtlMs?: number
  /** How often to poll for changes without a notification. Default 2 s while listening, 100 ms otherwise. */
  readonly pollMs?: number
  /** How long one statement may take, including the wait for a connection. Default 5 s. */
  readonly statementTimeoutMs?: number
  /** Whether `close` also ends the pool. Default false: the creator of the pool ends it. */
  readonly endPool?: boolean
  /** Receives warnings, such as a lost notification connection. Default: nothing is logged. */
  readonly log?: StoreLog
  /** For tests: replaces the clock of the database. */
  readonly now?: () => number
  /**
   * For tests: the wall clock of this replica, from which callers read the times that they pass. Default: `now`, or the system's.
   */
  readonly wallNow?: () => number
}

/** How long reads are retried: after the server closed a connection, or during a short restart. */
const readRetryMs = 2_000
/** Expired entries removed in one call. */
const kvRowsPerSweep = 10_000
/** For migrations, where another replica may be running a long step, and for statements that read whole tables. */
const longTimeouts = { timeoutMs: 600_000, retryTimeoutMs: 5_000 }
/**
 * How long the first use waits for a database that starts at the same time, or on a machine that is busy with starting. Several times
 * the usual timeout of a connection: one attempt may take all of that.
 */
const startRetryMs = 30_000

/**
 * Creates a store in PostgreSQL, for any number of replicas. It connects, and migrates the schema, on first use, and waits up to
 * 30 s for a database that does not answer yet. Throws if a master key does not have 32 bytes.
 *
 * @example
 * ```ts
 * import { serve } from '@parley/a2a/node'
 * import { postgresStore } from '@parley/a2a/stores/postgres'
 * import pg from 'pg'
 *
 * const connectionString = 'postgres://parley@db.example.com/parley'
 * await serve({
 *   agent: ({ text }) => text,
 *   store: postgresStore({
 *     pool: new pg.Pool({ connectionString, max: 10 }),
 *     listen: () => new pg.Client({ connectionString, keepAlive: true }),
 *     masterKey, // base64, the same for all replicas
 *     endPool: true,
 *   }),
 * })
 * ```
 */
export function postgresStore(options: PostgresStoreOptions): FullStore {
  return openPostgresStore(options)
}

/** `known`: the migration steps, for tests of a version with another step. */
export function openPostgresStore(options: PostgresStoreOptions, known?: readonly MigrationStep[]): FullStore {
  const { pool, leaseTtlMs = 10_000, statementTimeoutMs: timeoutMs = 5_000, log = silentLog } = options
  const { unnamedStatements = false, schema: schemaName = 'parley' } = options
  const master = masterKeyOf(options.masterKey)
  const otherMasters = (options.previousMasterKeys ?? []).map(masterKeyOf)
  const schema = quoteIdentifier(schemaName)
  const time = createDatabaseTime(options)
  const recent = createRecentAppends()
  // After a failover the database may have lost what was appended last.
  const onError = recent.clear
  const replicated = createReplicatedPool(pool, timeoutMs)
  const connection = { pool: replicated, unnamedStatements }
  const database = createPostgresDatabase({ ...connection, timeoutMs, retryTimeoutMs: readRetryMs, onError })
  const self = crypto.randomUUID().slice(0, 8)
  const channel = `parley_${nameDigest(schemaName).slice(0, 16)}`

  const changes = createChangeWatcher({
    database,
    schema,
    pollMs: () => (listener?.isListening === true ? (options.pollMs ?? 2_000) : Math.min(options.pollMs ?? 100, 100)),
  })
  const notifier = createNotifier(database, channel, self)
  const blobs = createPostgresBlobs(database, schema)
  const context = { database, schema, blobs, time }
  const { feed, ...tasks } = createPostgresTaskLog(context, changes)
  const lists = createPostgresTaskLists(database, schema, blobs)
  const search = createPostgresTaskSearch(database, schema, blobs)
  const leases = createPostgresLeases(context)
  const pushes = createPostgresPushCursors(database, schema, time)
  const { keys, prune } = createHousekeeping(database, schema, time)
  const patient = createPostgresDatabase({ ...connection, ...longTimeouts })
  const erasure = createPostgresErase(database, patient, schema)
  const previewPrune = createPostgresPreviewPrune(patient, schema, time)
  const statistics = createPostgresStats(context, schemaName, feed, search)
  const { kv, sweep } = createPostgresKeyValue(context, track)
  // An append is retried as long as its lease can live: after that another process may own the task.
  const writer = createPostgresWriter({ database, schema, time, retryTimeoutMs: leaseTtlMs, onFlush: flushing })
  const turns = createSerialQueue()
  const listener =
    options.listen && startListener({ connect: options.listen, channel, log, self, onNotification: changes.heard })

  ignorePoolErrors(pool)
  let preparing: Promise<void> | undefined
  let isPrepared = false
  let closing: Promise<void> | undefined
  const inFlight = new Set<Promise<unknown>>()

  /** Migrates before the first use, and again before the next if that failed. */
  function prepared(): Promise<void> {
    preparing ??= migratePostgres(createStartDatabase(), schemaName, options.migrate ?? true, known, log).then(
      () => {
        isPrepared = true
      },
      (error: unknown) => {
        preparing = undefined
        throw error
      },
    )
    return preparing
  }

  function createStartDatabase(): PostgresDatabase {
    let isReported = false
    return createPostgresDatabase({
      ...connection,
      ...longTimeouts,
      retryTimeoutMs: startRetryMs,
      onRetry(error) {
        if (isReported) return
        isReported = true
        log.warn(`the database does not answer yet; trying again for ${startRetryMs / 1_000} s`, { error })
      },
    })
  }

  function flushing() {
    const watching = changes.watch()
    return (written: readonly WrittenAppend[]): void => {
      for (const { append, head } of written) watching.recordHead(append.id, head)
      watching.end()
      written.forEach(addRecent)
      changes.appended(written.map(({ append }) => append.id))
      // No other process waits for a task that was just created.
      for (const { append } of written) if (!append.createsTask) notifier.tell(append.id)
    }
  }

  function addRecent({ append, head, position, notBefore }: WrittenAppend): void {
    const { taskId, records, blobs, bytes } = append
    // Records with blobs are read from the log: here they would keep large contents in memory.
    if (blobs.length > 0) return
    recent.add({ position, taskId, lastSeq: head }, withOrderedTimes(records, notBefore), bytes)
  }

  function open<Result>(work: () => Promise<Result>): Promise<Result> {
    if (closing !== undefined) return Promise.reject(new Error('The store is closed'))
    return isPrepared ? work() : prepared().then(work)
  }
  /** Tracks work that `close` waits for. */
  function track<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = open(work)
    const settled = done.then(forget, forget)
    function forget(): void {
      inFlight.delete(settled)
    }
    inFlight.add(settled)
    return done
  }
  const tracked = <Facet extends object>(facet: Facet): Facet => wrapMethods(facet, track)
  const serialized = <Result>(work: () => Promise<Result>): Promise<Result> => track(() => turns.take(work))

  async function close(): Promise<void> {
    await Promise.all(inFlight)
    changes.close()
    await notifier.told()
    await listener?.close()
    if (options.endPool === true) await pool.end()
  }

  return {
    leaseTtlMs,
    tasks: {
      ...tracked({ ...tasks, ...lists, ...search, append: writer.append, renew: leases.renew }),
      changed: (taskId, afterSeq, signal) => open(() => changes.changed(encodeText(taskId), afterSeq, signal)),
      // Times are converted when they are passed, not when the statement runs: the clock may step in between.
      claimOrphans: (holder, at, ttlMs, limit) => {
        const shiftMs = time.offsetFromNow(at)
        return serialized(() => leases.claimOrphans(holder, shiftMs, ttlMs, limit))
      },
      claimDue: (at, limit) => {
        const shiftMs = time.offsetFromNow(at)
        return serialized(() => leases.claimDue(shiftMs, limit))
      },
    },
    push: {
      ...tracked(pushes),
      claim: (at, until, limit) => {
        const [shiftMs, untilMs] = [time.offsetFromNow(at), time.offsetFromNow(until)]
        return serialized(() => pushes.claim(shiftMs, untilMs, limit))
      },
    },
    keys: {
      masterKey: () => master,
      otherMasterKeys: () => otherMasters,
      ...wrapMethods(keys, serialized),
      list: () => track(keys.list),
    },
    feed: {
      read: (position, limit) => track(async () => recent.addRecords(position, await feed.read(position, limit))),
      end: () => track(feed.end),
    },
    kv,
    prune: (retention) =>
      serialized(async () => {
        await sweep(kvRowsPerSweep)
        return prune(retention)
      }),
    previewPrune: (retention) => track(() => previewPrune(retention)),
    erasure: {
      ...tracked(erasure),
      erase: (order) =>
        serialized(() => {
          recent.clear()
          return erasure.erase(order)
        }),
    },
    stats: () => track(statistics),
    ready: () => track(isWritable),
    close: () => (closing ??= close()),
  }

  /** A server that was replaced by another primary still responds. */
  async function isWritable(): Promise<void> {
    const [row] = await database.query<{ standby: boolean }>('SELECT pg_is_in_recovery() AS standby')
    if (row?.standby === true) throw new Error('The database is a standby and accepts no writes')
  }
}

const poolsWithHandler = new WeakSet<PostgresPool>()

/**
 * A pool without an error listener crashes the process when the server closes an idle connection. One listener per pool, for its
 * lifetime: several stores may use it. The next statement reports any error that matters.
 */
function ignorePoolErrors(pool: PostgresPool): void {
  if (poolsWithHandler.has(pool)) return
  poolsWithHandler.add(pool)
  pool.on('error', () => {})
}

function masterKeyOf(given: Uint8Array | string): Uint8Array {
  const key = typeof given === 'string' ? Buffer.from(given, 'base64') : given
  if (key.length !== 32) throw new Error(`The master key must be 32 bytes or their base64; it has ${key.length}`)
  return key
}
