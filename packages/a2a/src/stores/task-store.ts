/** The `tasks` facet of a store: one append-only log per task, and one row with the most requested fields. */
import type { NextStep } from '../model/heavy-step.ts'
import type { LogRecord, RecordBody } from '../model/record.ts'
import type { TaskState } from '../model/state.ts'
import type { Struct, Task, TaskStatus } from '../model/task.ts'

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
  /** The owner of the task: the text of a long record is written in steps, for which owners take turns. */
  readonly owner?: string
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
  /** What the message is recognized by, such as owner, tenant, agent, messageId and content, in one string of any length. */
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
/** A task of a list. */
export interface ListedTask extends TaskRow {
  /**
   * The whole log, from the first record to `head`, if it is short and the store has read it with the row. A list then needs no
   * further read for the task. A store may always omit it.
   */
  readonly records?: readonly LogRecord[]
}
/** One page of a list of tasks. */
export interface ListPage {
  /** Newest status first, ties by id, descending. */
  readonly tasks: readonly ListedTask[]
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
  /** By (statusAt, id): descending (`newest`, the default) or ascending. */
  readonly order?: 'newest' | 'oldest'
  /** Keyset: only rows that come after this one in the order of the search. */
  readonly before?: { readonly statusAt: number; readonly id: string }
  readonly limit: number
}
/** One page of a search, in its order. There is no total: counting all matches would cost as much as their number. */
export interface SearchPage extends Pick<ListPage, 'more'> {
  readonly tasks: readonly TaskRow[]
}

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

/** A task as one read returns it. `records` is its whole log, `task` the fold of it; neither is present if they are not short. */
export interface StoredTask {
  readonly row: TaskRow
  readonly records?: readonly LogRecord[]
  /** From a snapshot that ends with the log. */
  readonly task?: Task
}

/** After this time a claimed due task becomes due again, unless its claimer acted on it. */
export const dueAgainMs = 60_000

/**
 * Task logs, task rows, snapshots, leases and message claims.
 *
 * `append` also writes to the other facets, in the same transaction: it makes idle push notification configs of its task due and
 * adds an entry to the feed.
 */
export interface TaskStore {
  /** All or nothing. Resolves when durable (at the store's level of durability), and never before. */
  append(taskId: string, append: Append): Promise<AppendResult>
  /** The row of a task; `undefined` if there is none. */
  load(taskId: string): Promise<TaskRow | undefined>
  /**
   * The row of a task, and its log or its snapshot if they are short, in one read. Absent, or without either: use `load`,
   * `loadSnapshot` and `read`.
   */
  loadStored?(taskId: string): StoredTask | undefined | Promise<StoredTask | undefined>
  /**
   * About how many bytes a task takes in memory: its snapshot, the log after it, and the large bytes of both. Does not read them.
   * Absent: the store holds tasks in memory.
   */
  sizeOf?(taskId: string): Promise<number>
  /**
   * In order, at most `limit` records (default: all). Pruned records are missing. With `maxBytes` the read ends with the record
   * that reaches that many bytes, as `recordBytes` counts them; it returns at least one record. Long texts are parsed in steps.
   */
  read(
    taskId: string,
    afterSeq: number,
    limit?: number,
    maxBytes?: number,
    nextStep?: NextStep,
  ): Promise<readonly LogRecord[]>
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
  /** The same for tasks that have not ended, by agent. With a prefix, only those of owners that begin with it. */
  countUnfinished(ownerPrefix?: string): Promise<readonly AgentCount[]>
  /** Tasks of all owners; for the operator. The cost of a page depends on its length, not on the number of tasks. */
  search(query: SearchQuery): Promise<SearchPage>
  /** The names of all agents that have tasks, in any order; for the operator. */
  agents(): Promise<readonly string[]>
  /** Tasks whose id has this prefix, greatest id first. */
  findTasks(idPrefix: string, limit: number): Promise<readonly TaskRow[]>
  /** The task that a message was claimed for, while both the claim and the task exist. */
  findMessage(key: string, now: number): Promise<{ readonly taskId: string; readonly hash: string } | undefined>

  /** An older snapshot never replaces a newer one; the snapshot of a removed task is not kept. */
  saveSnapshot(taskId: string, snapshot: Snapshot): Promise<void>
  /** The newest snapshot of a task. A long one is parsed in steps. */
  loadSnapshot(taskId: string, nextStep?: NextStep): Promise<Snapshot | undefined>

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
}
