/**
 * Where tasks are kept: one append-only log a task, one row of what is asked most.
 * A store knows nothing of agents, versions or sockets. `testing/store-contract.ts`
 * holds every promise made here; a store is done when it passes and not before.
 */
import type { LogRecord, RecordBody } from '../model/record.ts'
import type { TaskState } from '../model/state.ts'
import type { Struct, Task, TaskStatus } from '../model/task.ts'
import type { Notes } from './notes.ts'

/** Whose task it is. Every list and every look-up by a caller stays inside one partition. */
export interface Partition {
  readonly tenant: string
  readonly agent: string
  readonly owner: string
}

/** The row of a task: its place, its status and where its log stands. */
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
  /** The seq of the last message a turn has taken. A message record above it waits. */
  readonly consumedSeq: number
  /** Set while something must happen at a time: the end of a turn, or of waiting for input. */
  readonly due?: DueTime
}

export interface DueTime {
  readonly kind: 'turn' | 'input'
  /** Milliseconds since the epoch. */
  readonly at: number
}

/** The part of a row that an append sets. What is left out stays; `due: null` clears, and so does a terminal status. */
export interface TaskChange {
  readonly status?: TaskStatus
  readonly statusAt?: number
  readonly consumedSeq?: number
  readonly due?: DueTime | null
}

/** A task's first append brings the whole row; `head` and `consumedSeq` start at 0 if left out. */
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

export interface Append {
  /** Compare-and-append: the log must end here, 0 for a task that does not exist yet. */
  readonly expectedSeq: number
  /**
   * For what counts whatever came before it (a message, a cancel): while somebody else holds a live lease and the task has
   * not ended, the log may have grown past `expectedSeq`, and `take` takes nothing instead of being refused as `held`. Without
   * it, whoever does not own a task that talks without a pause would hardly ever find its log where they last saw it.
   * Has no effect on an append that changes the status.
   */
  readonly orLater?: true
  /** The fence of the lease under which this is written. Left out by those who own no lease (a message, a cancel). */
  readonly fence?: number
  /**
   * The first record gets `expectedSeq + 1` (with `orLater`, the seq after the last), and so on. May be empty to change only
   * the row or the lease. No record is written earlier than the one before it: an earlier `at` becomes that of the record before.
   */
  readonly records: readonly { readonly at: number; readonly body: RecordBody }[]
  /** With `expectedSeq: 0` this makes the task. */
  readonly create?: NewTask
  readonly change?: TaskChange
  /** Claims a message for this task; a key that is already taken and has not expired makes the append a duplicate. */
  readonly idempotency?: IdempotencyKey
  /** Takes the lease in the same transaction, under a new and higher fence; refused as `held` if somebody else has a live one. */
  readonly take?: { readonly holder: string; readonly ttlMs: number }
  /** Ends the lease in the same transaction. Without a `fence` it ends whoever's lease it is, and that holder is fenced. */
  readonly release?: true
}

export interface IdempotencyKey {
  /** Owner, tenant, agent, messageId and either the task it continues or its content, in one string of any length. */
  readonly key: string
  /** Of the content, under a key of the keyring: the same claim with another hash is a mistake of the caller's. */
  readonly hash: string
  /** How long the claim holds, from the append on. A duration: the clocks of the writer and of the store may differ. */
  readonly ttlMs: number
}

/** Told apart by `outcome`. Only `appended` wrote anything. Where several apply: duplicate, unknown task, fenced, conflict, held. */
export type Appended =
  | {
      readonly outcome: 'appended'
      readonly head: number
      /** Of the lease that the one who appended now holds, if any: taken by this append, or the one whose fence it gave. */
      readonly fence?: number
    }
  /** The log does not end at `expectedSeq`: read what is new and decide again. `head` is 0 for an unknown task. */
  | { readonly outcome: 'conflict'; readonly head: number }
  /** The fence given is not that of the live lease: somebody else owns the task now, or soon will. */
  | { readonly outcome: 'fenced' }
  /** `take` found a live lease of another holder. */
  | { readonly outcome: 'held' }
  | { readonly outcome: 'duplicate'; readonly taskId: string; readonly hash: string }

export interface LeasedTask {
  readonly task: TaskRow
  readonly fence: number
}

export interface ListQuery extends Partition {
  readonly contextId?: string
  readonly state?: TaskState
  /** Inclusive, in milliseconds. */
  readonly statusAtOrAfter?: number
  /** Keyset: only rows that come after this one in (statusAt, id) descending. */
  readonly before?: { readonly statusAt: number; readonly id: string }
  readonly limit: number
}
export interface ListPage {
  /** Newest status first, ties by id, descending. */
  readonly tasks: readonly TaskRow[]
  /** Whether more come after the last one. */
  readonly more: boolean
  /** All that match, whatever the page. */
  readonly total: number
}

/** What whoever runs the server looks for, among the tasks of all owners. What is left out may be anything. */
export interface SearchQuery {
  readonly agent?: string
  readonly owner?: string
  readonly contextId?: string
  readonly states?: readonly TaskState[]
  /** Of the status, in milliseconds: at or after the one, before the other. */
  readonly from?: number
  readonly until?: number
  /** Keyset: only rows that come after this one in (statusAt, id) descending. */
  readonly before?: { readonly statusAt: number; readonly id: string }
  readonly limit: number
}
/** Newest status first, ties by id, descending. Nobody counts all that match: that would cost as much as there are. */
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

export interface Snapshot {
  /** The fold of the log up to and with this seq. */
  readonly seq: number
  readonly task: Task
  /** What else the fold held: waiting messages, the turn, the checkpoint. Opaque to the store. */
  readonly internal: Struct
}

/** What somebody asked to be told of a task, and how far they have been told. */
export interface PushRow {
  readonly taskId: string
  readonly id: string
  /** What the server needs to deliver: url, token, credentials, dialect. Opaque to the store. */
  readonly config: Struct
  /** All visible records up to here are delivered. */
  readonly deliveredSeq: number
  /** When to try next; absent = nothing to deliver. */
  readonly dueAt?: number
  /** How often the next record was tried. */
  readonly attempt: number
  readonly state: 'active' | 'dead' | 'done'
  readonly createdAt: number
}
export interface PushChange {
  readonly deliveredSeq?: number
  readonly dueAt?: number | null
  readonly attempt?: number
  readonly state?: PushRow['state']
}
export interface ClaimedPush {
  readonly push: PushRow
  readonly fence: number
}
/** Webhooks of all tasks, the ones made last first. */
export interface PushQuery {
  readonly state?: PushRow['state']
  /** As the page before said. */
  readonly before?: number
  readonly limit: number
}
export interface PushPage {
  readonly pushes: readonly PushRow[]
  /** To be asked for next, if there are more. */
  readonly before?: number
}
export interface PushAttempt {
  readonly taskId: string
  readonly pushId: string
  readonly seq: number
  readonly at: number
  readonly attempt: number
  readonly outcome: string
  readonly durationMs: number
  /** The beginning of what was answered by one who did not take the event. */
  readonly answer?: string
}

export interface Retention {
  /** Finished tasks whose status is older are removed. */
  readonly finishedBefore?: number
  /** How many tasks may stay; the oldest finished go first, active ones never. */
  readonly maxTasks?: number
  /** The log of tasks that finished before is dropped where a snapshot covers it; the task stays readable. */
  readonly logBefore?: number
  /** At most this many tasks a call. */
  readonly batch: number
}

/** Something was appended, in an order that all readers agree on (for the admin feed). */
export interface FeedEntry extends Partition {
  readonly position: number
  readonly taskId: string
  readonly firstSeq: number
  readonly lastSeq: number
}

/** One key of the keyring, wrapped by the caller: the store only keeps it. */
export interface KeyRow {
  readonly id: string
  readonly purpose: string
  readonly material: string
  readonly createdAt: number
}

/** After this long a due task that was claimed, and that nobody then acted on, is due again. */
export const dueAgainMs = 60_000

export interface Store {
  /** How long a lease lives without a heartbeat. `Infinity`: this store serves one process, which ends with its leases. */
  readonly leaseTtlMs: number
  /** Whether finished tasks may go without `prune` being called. */
  readonly prunesItself?: boolean
  /** What is kept beside the tasks. The engine has no notes of its own: they are for whoever runs it. */
  readonly notes: Notes

  /** All or nothing. Resolves when durable (at the store's level of durability), and never before. */
  append(taskId: string, append: Append): Promise<Appended>
  load(taskId: string): Promise<TaskRow | undefined>
  /**
   * In order, at most `limit` records (default: all). Records that were pruned are simply not there. With `maxBytes` the read
   * ends with the record that reaches so many bytes, as `recordBytes` counts them: one record always comes.
   */
  read(taskId: string, afterSeq: number, limit?: number, maxBytes?: number): Promise<readonly LogRecord[]>
  /** The first seq still in the log; `head + 1` if all of it was pruned. */
  firstSeq(taskId: string): Promise<number>
  /** Resolves when the log is longer than `afterSeq`, or when the signal aborts. May also resolve for nothing. */
  changed(taskId: string, afterSeq: number, signal: AbortSignal): Promise<void>
  list(query: ListQuery): Promise<ListPage>
  /** Tasks of one conversation in one partition: the newest `limit` of them, oldest first. */
  context(partition: Partition, contextId: string, limit: number): Promise<readonly TaskRow[]>
  /** Not yet terminal tasks of an owner, all agents: what `tasksPerCaller` counts. */
  countActive(tenant: string, owner: string): Promise<number>
  /** How many tasks there are, of all owners, in each state that any is in: for whoever runs the server. */
  countStates(): Promise<readonly StateCount[]>
  /** The same of those that have not ended, by agent. */
  countUnfinished(): Promise<readonly AgentCount[]>
  /** Tasks of all owners: for whoever runs the server. A page costs as much as it is long, and not as there are tasks. */
  search(query: SearchQuery): Promise<SearchPage>
  /** Tasks whose id begins so, the greatest id first. */
  findTasks(idPrefix: string, limit: number): Promise<readonly TaskRow[]>
  /** The task that a message was claimed for, while both the claim and the task last. */
  findMessage(key: string, now: number): Promise<{ readonly taskId: string; readonly hash: string } | undefined>

  /** An older snapshot never replaces a newer one; that of a task which is gone is not kept. */
  saveSnapshot(taskId: string, snapshot: Snapshot): Promise<void>
  loadSnapshot(taskId: string): Promise<Snapshot | undefined>

  /**
   * Leases tasks that are not terminal and whose last lease was neither released nor is alive. Whoever works on a
   * task holds a lease, so these are the tasks that somebody died over, whatever their state. Oldest first. The end of a
   * turn is put off as by `claimDue`: whoever takes it up begins it anew, and nobody else may find it too late before.
   */
  claimOrphans(holder: string, now: number, ttlMs: number, limit: number): Promise<readonly LeasedTask[]>
  /**
   * Prolongs; answers the ids whose lease is no longer this holder's. A lease that ran out stays dead. With a time that
   * has come it gives them up: others find them as orphans at once. With `fences`, one for each id, a lease that the holder
   * has taken anew since then is not meant.
   */
  renew(
    holder: string,
    taskIds: readonly string[],
    until: number,
    fences?: readonly number[],
  ): Promise<readonly string[]>
  /**
   * Tasks whose `due` has come. Oldest first. Each is put off by `dueAgainMs`, not cleared: whoever gets one acts on it
   * by an append that sets or clears `due`, and if they die first it comes again. The turn of an orphan is not for this:
   * it was interrupted, and is to be taken up.
   */
  claimDue(now: number, limit: number): Promise<readonly { readonly task: TaskRow; readonly due: DueTime }[]>

  /**
   * Makes or replaces. A config made anew begins at `deliveredSeq`; visible records that are already past it make it
   * due at once. Rejects if there is no such task.
   */
  savePush(push: PushRow): Promise<void>
  loadPush(taskId: string, id: string): Promise<PushRow | undefined>
  listPush(taskId: string): Promise<readonly PushRow[]>
  searchPush(query: PushQuery): Promise<PushPage>
  /** Answers whether there was one. With a `fence`, only under the claim that it is of: one that was replaced stays. */
  deletePush(taskId: string, id: string, fence?: number): Promise<boolean>
  /** Active ones that are due, each leased until `until` under a fence of its own. An append with visible records makes the idle ones of its task due at once. */
  claimPush(now: number, until: number, limit: number): Promise<readonly ClaimedPush[]>
  /** Moves a claimed cursor and gives it back; false if the fence is old or the config is gone. An append that came meanwhile keeps it due. */
  movePush(taskId: string, id: string, fence: number, change: PushChange): Promise<boolean>
  recordAttempt(attempt: PushAttempt): Promise<void>
  /** Newest first. */
  listAttempts(taskId: string, pushId: string, limit: number): Promise<readonly PushAttempt[]>

  /** Also forgets messages whose claim has expired, and notes that have. Answers how many tasks were removed or had their log dropped. Never touches an active task or one with a live push cursor. */
  prune(retention: Retention): Promise<number>
  /** Everything appended after `position`, oldest first. */
  feed(position: number, limit: number): Promise<readonly FeedEntry[]>
  /** Where the feed ends now: everything appended from now on comes after it. */
  feedEnd(): Promise<number>

  /** 32 bytes kept apart from the data, if the store has a place for them: they wrap the keys of the keyring. */
  masterKey?(): Uint8Array
  /** Oldest first. */
  listKeys(): Promise<readonly KeyRow[]>
  /** The first key under an id stays: of two that make the same one, both find by `listKeys` which it is. */
  saveKey(key: KeyRow): Promise<void>
  deleteKey(id: string): Promise<void>

  /** Rejects while the store cannot be written, for those who ask whether this process can serve. Left out: it always can. */
  ready?(): Promise<void>
  /** Waits for what is being written, then lets go. Calls after it reject. */
  close(): Promise<void>
}
