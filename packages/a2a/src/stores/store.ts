/**
 * The storage of a server, in facets: tasks, push notification configs, keys, the feed and key-value data. A store knows nothing of
 * agents, versions or sockets. `testing/store-contract.ts` tests every promise made here; a store is complete only when it passes.
 */
import type { LogRecord } from '../model/record.ts'
import type { ErasureStore } from './erasure-store.ts'
import type { KeyValueStore } from './key-value-store.ts'
import type { PushStore } from './push-store.ts'
import type { StoreStatistics } from './store-stats.ts'
import type { Partition, TaskStore } from './task-store.ts'

export type * from './erasure-store.ts'
export type * from './push-store.ts'
export type * from './store-stats.ts'
export type * from './task-store.ts'

/** What `prune` removes. Times are in milliseconds since the epoch; an omitted rule removes nothing. */
export interface Retention {
  /** Finished tasks whose status is older are removed. */
  readonly finishedBefore?: number
  /** How many tasks may stay; the oldest finished are removed first, active ones never. */
  readonly maxTasks?: number
  /** Drops the log of tasks that finished before this time if a snapshot covers it; the task stays readable. */
  readonly logBefore?: number
  /**
   * Delivery attempts that are older are removed, and so are ended push notification configs (`done` or `dead`) of tasks that
   * finished before this time.
   */
  readonly deliveriesBefore?: number
  /** At most this many tasks per call. */
  readonly batch: number
}

/** What `previewPrune` counts. `entries`: expired key-value entries, by their kind. */
export type PruneKind =
  | 'tasks'
  | 'logs'
  | 'snapshots'
  | 'blobs'
  | 'pushConfigs'
  | 'pushAttempts'
  | 'messageClaims'
  | 'entries'

/** What `prune` would remove of one kind, if it were called until it finds nothing more. */
export interface PruneEstimate {
  readonly kind: PruneKind
  /** The kind of the key-value entries. Only for `entries`. */
  readonly entryKind?: string
  readonly rows: number
  /** The approximate size of their content. */
  readonly bytes: number
  /** The oldest and the newest time among them, in milliseconds since the epoch; absent if there are none or they have no time. */
  readonly oldest?: number
  readonly newest?: number
}

/** One append in the feed: all appends of the store, in an order that all readers agree on. */
export interface FeedEntry extends Partition {
  readonly position: number
  readonly taskId: string
  readonly firstSeq: number
  readonly lastSeq: number
  /** The records of the append, if the store has them in memory: those that this process appended last. Otherwise they are in the log. */
  readonly records?: readonly LogRecord[]
}

/** One key of the keyring, wrapped by the caller; the store only keeps it. */
export interface KeyRow {
  readonly id: string
  readonly purpose: string
  readonly material: string
  readonly createdAt: number
}

/** A change of the material of one key. */
export interface KeyMaterialChange {
  readonly id: string
  readonly from: string
  readonly to: string
}

/** All appends of a store, in one order: for readers that follow every task, such as traces and the admin API of the hub. */
export interface FeedStore {
  /** Everything appended after `position`, oldest first. */
  read(position: number, limit: number): Promise<readonly FeedEntry[]>
  /** The current end of the feed: every later append comes after it. */
  end(): Promise<number>
}

/** The keys of the keyring. */
export interface KeyStore {
  /** 32 bytes kept apart from the data, if the store has a place for them; they wrap the keys of the keyring. */
  masterKey?(): Uint8Array
  /** Other master keys that may have wrapped keys: previous ones, or the next one of a rotation that is under way. Default: none. */
  otherMasterKeys?(): readonly Uint8Array[]
  /**
   * Creates the master key of a rotation, or returns that of an interrupted one. When it resolves, the key is durable, and one of
   * `otherMasterKeys`. Absent: the operator creates master keys.
   */
  createMasterKey?(): Promise<Uint8Array>
  /** Makes this the master key, and forgets the others. All keys are wrapped by it. Durable when it resolves. */
  adoptMasterKey?(key: Uint8Array): Promise<void>
  /** All keys, oldest first. */
  list(): Promise<readonly KeyRow[]>
  /** The first key under an id stays: if two processes create the same id, both find the stored one with `list`. */
  save(key: KeyRow): Promise<void>
  /** Deletes a key; does nothing if there is none. */
  delete(id: string): Promise<void>
  /**
   * Replaces the material of keys, all or none. Returns `false`, and changes nothing, if the material of one is not `from`. Absent:
   * the master key of the store cannot be rotated.
   */
  replace?(changes: readonly KeyMaterialChange[]): Promise<boolean>
}

/**
 * The storage of a server, in facets.
 *
 * The facets are views of one transaction: `tasks.append` and `prune` span them, and each is done whole or not at all. They cannot
 * be combined from different stores. A store without `feed` cannot be followed as a whole.
 *
 * `memoryStore`, `sqliteStore` and `postgresStore` have every facet. For a store of your own, begin with a `LogStore`: the server
 * derives the rest. Test it with `logStoreContract` or `storeContract` of `@parley/a2a/testing`. Times are in milliseconds since the epoch, durations in milliseconds. If
 * a method rejects, the caller of the server gets UNAVAILABLE and the log gets the reason.
 */
export interface Store {
  /** How long a lease lives without a heartbeat. `Infinity`: this store serves one process, and its leases end with it. */
  readonly leaseTtlMs: number
  /** Whether the store may remove finished tasks without a call of `prune`. */
  readonly prunesItself?: boolean
  /** Task logs, task rows, snapshots, leases and message claims. */
  readonly tasks: TaskStore
  /** Push notification configs. */
  readonly push: PushStore
  /** The keys of the keyring. */
  readonly keys: KeyStore
  /** All appends in one order. Absent: the store cannot be followed as a whole, which the hub requires. */
  readonly feed?: FeedStore
  /** Key-value data beside the tasks. The engine stores nothing there: it is for the application that runs the engine. */
  readonly kv: KeyValueStore
  /** Erases all data of an owner. Absent: the store cannot, which the hub requires. */
  readonly erasure?: ErasureStore

  /**
   * Also removes expired message claims and expired key-value entries. Returns how many tasks were removed or had their log
   * dropped. Never touches an active task or one with a live push cursor.
   */
  prune(retention: Retention): Promise<number>
  /** What `prune` would remove now, without its `batch`. Changes nothing; may read every task that would go. Kinds without rows are omitted. */
  previewPrune?(retention: Omit<Retention, 'batch'>): Promise<readonly PruneEstimate[]>
  /**
   * Size, oldest tasks and backlog, for operators. It reads indexes and counters, never all tasks: on a store of 100,000 tasks it
   * may not block for more than a few milliseconds. Call it every few seconds at most. Absent: the store has no statistics.
   */
  stats?(): Promise<StoreStatistics>
  /** Rejects while the store cannot be written; for readiness checks. Absent: always ready. */
  ready?(): Promise<void>
  /** Waits for pending writes, then releases all resources. Later calls reject. */
  close(): Promise<void>
}

/** A store with every facet, as the hub requires it. */
export interface FullStore extends Store {
  readonly feed: FeedStore
  readonly erasure: ErasureStore
  previewPrune(retention: Omit<Retention, 'batch'>): Promise<readonly PruneEstimate[]>
}
