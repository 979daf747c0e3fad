/**
 * The storage of tasks: one append-only log per task, and one row with the most requested fields. A store knows nothing of agents,
 * versions or sockets. `testing/store-contract.ts` tests every promise made here; a store is complete only when it passes.
 */
import type { LogRecord, RecordBody } from '../model/record.ts'
import type { TaskState } from '../model/state.ts'
import type { Struct, Task, TaskStatus } from '../model/task.ts'
import type { KeyValueStore } from './key-value-store.ts'

/** The owner of a task: tenant, agent and caller. Every list and lookup of a caller stays inside one partition. */
export interface Partition {
  readonly tenant: string
  readonly agent: string
  readonly owner: string
}

/** The row of a task: its partition, its status and the position of its log. */
export interface TaskRow extends Partition {
  readonly id: string
  readonly contextId: string
  readonly status: TaskStatus
  /** Milliseconds; equals `status.timestamp`. Lists are ordered by it. */
  readonly statusAt: number
  readonly createdAt: number
  readonly metadata?: Struct
  /** The last seq of the log. */
  readonly head: number
  /** The seq of the last message that a turn has consumed. Message records above it wait. */
  readonly consumedSeq: number
  /** Set while something must happen at a time: the end of a turn, or of waiting for input. */
  readonly due?: DueTime
}

/** When the store hands a task back, and why: `turn` is the end of a turn, `input` the end of waiting for input. */
export interface DueTime {
  readonly kind: 'turn' | 'input'
  /** Milliseconds since the epoch. */
  readonly at: number
}

/**
 * The fields of a task row that an append sets. Omitted fields stay; `due: null` clears, and so does a terminal status.
 */
export interface TaskChange {
  readonly status?: TaskStatus
  readonly statusAt?: number
  readonly consumedSeq?: number
  readonly due?: DueTime | null
}

/** The row of a new task, for its first append. `consumedSeq` defaults to 0. */
export interface NewTask extends Partition {
  readonly id: string
  readonly contextId: string
  readonly status: TaskStatus
  readonly statusAt: number
  readonly createdAt: number
  readonly metadata?: Struct
  readonly consumedSeq?: number
  readonly due?: DueTime
}

/** One write to a task log: records, changes of the row, and a lease to take or end. All of it happens, or nothing. */
export interface Append {
  /** Compare-and-append: the log must end here; 0 for a task that does not exist yet. */
  readonly expectedSeq: number
  /**
   * For records that are valid whatever precedes them (a message, a cancel). While another process holds a live lease and the task
   * has not ended, the log may have grown past `expectedSeq`, and `take` takes nothing instead of being refused as `held`. Without
   * it, a process that does not own a task with constant output would hardly ever find the log where it last read it. Has no effect
   * on an append that changes the status.
   */
  readonly orLater?: true
  /** The fence of the lease under which this is written. Omitted by writers without a lease (a message, a cancel). */
  readonly fence?: number
  /**
   * The first record gets `expectedSeq + 1` (with `orLater`, the seq after the last), and so on. May be empty to change only the
   * row or the lease. Record times never decrease: an earlier `at` becomes that of the record before.
   */
  readonly records: readonly { readonly at: number; readonly body: RecordBody }[]
  /** With `expectedSeq: 0` this creates the task. */
  readonly create?: NewTask
  readonly change?: TaskChange
  /** Claims a message for this task; a key that is already claimed and has not expired makes the append a duplicate. */
  readonly idempotency?: IdempotencyKey
  /** Takes the lease in the same transaction, under a new and higher fence; refused as `held` if another holder has a live one. */
  readonly take?: { readonly holder: string; readonly ttlMs: number }
  /** Ends the lease in the same transaction. Without a `fence` it ends the lease of any holder, and that holder is fenced. */
  readonly release?: true
}

/** The claim of a message, by which a repeat of the message is recognized. */
export interface IdempotencyKey {
  /** Owner, tenant, agent, messageId and either the task it continues or its content, in one string of any length. */
  readonly key: string
  /** A keyed hash of the content, under a key of the keyring: the same claim with another hash is an error of the caller. */
  readonly hash: string
  /** How long the claim holds, from the append on. A duration, because the clocks of the writer and of the store may differ. */
  readonly ttlMs: number
}

/**
 * The outcome of an append, distinguished by `outcome`. Only `appended` wrote anything. If several apply, the order is: duplicate,
 * unknown task, fenced, conflict, held.
 */
export type AppendResult =
  | {
      readonly outcome: 'appended'
      readonly head: number
      /** The fence of the lease that the writer now holds, if any: taken by this append, or the one whose fence it gave. */
      readonly fence?: number
    }
  /** The log does not end at `expectedSeq`: read the new records and decide again. `head` is 0 for an unknown task. */
  | { readonly outcome: 'conflict'; readonly head: number }
  /** The given fence is not that of the live lease: another process owns the task, or soon will. */
  | { readonly outcome: 'fenced' }
  /** `take` found a live lease of another holder. */
  | { readonly outcome: 'held' }
  | { readonly outcome: 'duplicate'; readonly taskId: string; readonly hash: string }

/** A task with the fence of the lease that the caller of `claimOrphans` now holds. */
export interface LeasedTask {
  readonly task: TaskRow
  readonly fence: number
}

/** A query of a caller among its own tasks. Omitted fields match anything. */
export interface ListQuery extends Partition {
  readonly contextId?: string
  readonly state?: TaskState
  /** Inclusive, in milliseconds. */
  readonly statusAtOrAfter?: number
  /** Keyset: only rows that come after this one in (statusAt, id) descending. */
  readonly before?: { readonly statusAt: number; readonly id: string }
  readonly limit: number
}
/** One page of a list of tasks. */
export interface ListPage {
  /** Newest status first, ties by id, descending. */
  readonly tasks: readonly TaskRow[]
  /** Whether more come after the last one. */
  readonly more: boolean
  /** All matches, whatever the page. */
  readonly total: number
}

/** A search of the operator among the tasks of all owners. Omitted fields match anything. */
export interface SearchQuery {
  readonly agent?: string
  readonly owner?: string
  readonly contextId?: string
  readonly states?: readonly TaskState[]
  /** The time of the status, in milliseconds: at or after `from`, before `until`. */
  readonly from?: number
  readonly until?: number
  /** Keyset: only rows that come after this one in (statusAt, id) descending. */
  readonly before?: { readonly statusAt: number; readonly id: string }
  readonly limit: number
}
/**
 * One page of a search: newest status first, ties by id, descending. There is no total: counting all matches would cost as much as
 * their number.
 */
export type SearchPage = Omit<ListPage, 'total'>

/** How many tasks of an agent are in a state. */
export interface AgentCount extends StateCount {
  readonly agent: string
}

/** How many tasks are in a state. */
export interface StateCount {
  readonly state: TaskState
  readonly tasks: number
}

/** A stored fold of a task, so that a long log need not be read again. */
export interface Snapshot {
  /** The fold of the log up to and with this seq. */
  readonly seq: number
  readonly task: Task
  /** The internal part of the fold: waiting messages, the turn, the checkpoint. Opaque to the store. */
  readonly internal: Struct
}

/** A push notification config of a task, and how far it has been delivered. */
export interface PushRow {
  readonly taskId: string
  readonly id: string
  /** What the server needs to deliver: url, token, credentials, dialect. Opaque to the store. */
  readonly config: Struct
  /** All visible records up to here are delivered. */
  readonly deliveredSeq: number
  /** When to try next, in milliseconds since the epoch; absent: nothing to deliver. */
  readonly dueAt?: number
  /** How many times delivery of the next record was tried. */
  readonly attempt: number
  /** `dead`: its retries are exhausted. `done`: the last event of the task is delivered. */
  readonly state: 'active' | 'dead' | 'done'
  readonly createdAt: number
}
/** The part of a push row that a delivery sets. Omitted fields stay; `dueAt: null` clears. */
export interface PushChange {
  readonly deliveredSeq?: number
  readonly dueAt?: number | null
  readonly attempt?: number
  readonly state?: PushRow['state']
}
/** A push row that this process may deliver, with the fence of its claim. */
export interface ClaimedPush {
  readonly push: PushRow
  readonly fence: number
}
/** A query for push notification configs of all tasks, newest first. */
export interface PushQuery {
  readonly state?: PushRow['state']
  /** From the page before. */
  readonly before?: number
  readonly limit: number
}
/** One page of push notification configs. */
export interface PushPage {
  readonly pushes: readonly PushRow[]
  /** The `before` of the next page; absent on the last. */
  readonly before?: number
}
/** One attempt to deliver an event to a webhook, for the operator. */
export interface PushAttempt {
  readonly taskId: string
  readonly pushId: string
  readonly seq: number
  readonly at: number
  readonly attempt: number
  readonly outcome: string
  readonly durationMs: number
  /** The start of the response of a receiver that did not accept the event. */
  readonly answer?: string
}

/** What `prune` removes. Times are in milliseconds since the epoch; an omitted rule removes nothing. */
export interface Retention {
  /** Finished tasks whose status is older are removed. */
  readonly finishedBefore?: number
  /** How many tasks may stay; the oldest finished are removed first, active ones never. */
  readonly maxTasks?: number
  /** Drops the log of tasks that finished before this time if a snapshot covers it; the task stays readable. */
  readonly logBefore?: number
  /** At most this many tasks per call. */
  readonly batch: number
}

/** One append in the feed: all appends of the store, in an order that all readers agree on. */
export interface FeedEntry extends Partition {
  readonly position: number
  readonly taskId: string
  readonly firstSeq: number
  readonly lastSeq: number
}

/** One key of the keyring, wrapped by the caller; the store only keeps it. */
export interface KeyRow {
  readonly id: string
  readonly purpose: string
  readonly material: string
  readonly createdAt: number
}

/** After this time a claimed due task becomes due again, unless its claimer acted on it. */
export const dueAgainMs = 60_000

/**
 * The storage of a server: task logs, task rows, leases, push notification configs, the keyring and key-value data.
 *
 * `memoryStore`, `sqliteStore` and `postgresStore` implement it. Test your own with `storeContract` of `@parley/a2a/testing`.
 * Times are in milliseconds since the epoch, durations in milliseconds. If a method rejects, the caller of the server gets
 * UNAVAILABLE and the log gets the reason.
 */
export interface Store {
  /** How long a lease lives without a heartbeat. `Infinity`: this store serves one process, and its leases end with it. */
  readonly leaseTtlMs: number
  /** Whether the store may remove finished tasks without a call of `prune`. */
  readonly prunesItself?: boolean
  /** Key-value data beside the tasks. The engine stores nothing there: it is for the application that runs the engine. */
  readonly kv: KeyValueStore

  /** All or nothing. Resolves when durable (at the store's level of durability), and never before. */
  append(taskId: string, append: Append): Promise<AppendResult>
  /** The row of a task; `undefined` if there is none. */
  load(taskId: string): Promise<TaskRow | undefined>
  /**
   * In order, at most `limit` records (default: all). Pruned records are missing. With `maxBytes` the read ends with the record
   * that reaches that many bytes, as `recordBytes` counts them; it returns at least one record.
   */
  read(taskId: string, afterSeq: number, limit?: number, maxBytes?: number): Promise<readonly LogRecord[]>
  /** The first seq still in the log; `head + 1` if all of it was pruned. */
  firstSeq(taskId: string): Promise<number>
  /** Resolves when the log is longer than `afterSeq`, or when the signal aborts. May also resolve spuriously. */
  changed(taskId: string, afterSeq: number, signal: AbortSignal): Promise<void>
  /** Tasks of one partition, page by page. */
  list(query: ListQuery): Promise<ListPage>
  /** The tasks of one context in one partition: the newest `limit` of them, oldest first. */
  context(partition: Partition, contextId: string, limit: number): Promise<readonly TaskRow[]>
  /** Non-terminal tasks of an owner, over all agents: what `tasksPerCaller` counts. */
  countActive(tenant: string, owner: string): Promise<number>
  /** The number of tasks of all owners in each state that occurs; for the operator. */
  countStates(): Promise<readonly StateCount[]>
  /** The same for tasks that have not ended, by agent. */
  countUnfinished(): Promise<readonly AgentCount[]>
  /** Tasks of all owners; for the operator. The cost of a page depends on its length, not on the number of tasks. */
  search(query: SearchQuery): Promise<SearchPage>
  /** Tasks whose id has this prefix, greatest id first. */
  findTasks(idPrefix: string, limit: number): Promise<readonly TaskRow[]>
  /** The task that a message was claimed for, while both the claim and the task exist. */
  findMessage(key: string, now: number): Promise<{ readonly taskId: string; readonly hash: string } | undefined>

  /** An older snapshot never replaces a newer one; the snapshot of a removed task is not kept. */
  saveSnapshot(taskId: string, snapshot: Snapshot): Promise<void>
  /** The newest snapshot of a task. */
  loadSnapshot(taskId: string): Promise<Snapshot | undefined>

  /**
   * Leases tasks that are not terminal and whose last lease was neither released nor is alive. Every process that works on a task
   * holds a lease, so the processes of these tasks died, whatever the state of the tasks. Oldest first. The end of a turn is
   * postponed as by `claimDue`: the new holder starts the turn again, and no other process may time it out before.
   */
  claimOrphans(holder: string, now: number, ttlMs: number, limit: number): Promise<readonly LeasedTask[]>
  /**
   * Extends leases; returns the ids whose lease this holder no longer has. An expired lease stays expired. A time in the past gives
   * the leases up: other processes find the tasks as orphans at once. With `fences`, one for each id, a lease that the holder has
   * taken again since then is not affected.
   */
  renew(
    holder: string,
    taskIds: readonly string[],
    until: number,
    fences?: readonly number[],
  ): Promise<readonly string[]>
  /**
   * Tasks whose `due` has come. Oldest first. Each is postponed by `dueAgainMs`, not cleared: the claimer acts on it with an append
   * that sets or clears `due`, and if the claimer dies first, the task comes again. The turns of orphans are excluded: they were
   * interrupted, and `claimOrphans` returns them.
   */
  claimDue(now: number, limit: number): Promise<readonly { readonly task: TaskRow; readonly due: DueTime }[]>

  /**
   * Creates or replaces a config. A new config begins at `deliveredSeq`; visible records already past it make it due at once.
   * Rejects if the task does not exist.
   */
  savePush(push: PushRow): Promise<void>
  /** One config of a task. */
  loadPush(taskId: string, id: string): Promise<PushRow | undefined>
  /** All configs of a task. */
  listPush(taskId: string): Promise<readonly PushRow[]>
  /** Configs of all tasks; for the operator. */
  searchPush(query: PushQuery): Promise<PushPage>
  /** Returns whether the config existed. With a `fence`, deletes only under that claim: a replaced config stays. */
  deletePush(taskId: string, id: string, fence?: number): Promise<boolean>
  /**
   * Active configs that are due, each claimed until `until` under a fence of its own. An append with visible records makes the idle
   * configs of its task due at once.
   */
  claimPush(now: number, until: number, limit: number): Promise<readonly ClaimedPush[]>
  /**
   * Moves a claimed cursor and releases the claim; returns false if the fence is old or the config is gone. An append in the
   * meantime keeps it due.
   */
  movePush(taskId: string, id: string, fence: number, change: PushChange): Promise<boolean>
  /** Stores an attempt for `listAttempts`; ignored if the task does not exist. */
  recordAttempt(attempt: PushAttempt): Promise<void>
  /** The newest `limit` attempts of a config, newest first. */
  listAttempts(taskId: string, pushId: string, limit: number): Promise<readonly PushAttempt[]>

  /**
   * Also removes expired message claims and expired key-value entries. Returns how many tasks were removed or had their log
   * dropped. Never touches an active task or one with a live push cursor.
   */
  prune(retention: Retention): Promise<number>
  /** Everything appended after `position`, oldest first. */
  feed(position: number, limit: number): Promise<readonly FeedEntry[]>
  /** The current end of the feed: every later append comes after it. */
  feedEnd(): Promise<number>

  /** 32 bytes kept apart from the data, if the store has a place for them; they wrap the keys of the keyring. */
  masterKey?(): Uint8Array
  /** All keys, oldest first. */
  listKeys(): Promise<readonly KeyRow[]>
  /** The first key under an id stays: if two processes create the same id, both find the stored one with `listKeys`. */
  saveKey(key: KeyRow): Promise<void>
  /** Deletes a key; does nothing if there is none. */
  deleteKey(id: string): Promise<void>

  /** Rejects while the store cannot be written; for readiness checks. Absent: always ready. */
  ready?(): Promise<void>
  /** Waits for pending writes, then releases all resources. Later calls reject. */
  close(): Promise<void>
}
