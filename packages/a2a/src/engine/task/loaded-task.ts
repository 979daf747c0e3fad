/**
 * A task in use: its fold, the newest part of its log, and the one queue for all writes to it.
 *
 * A write is queued as an intent and decided when its turn comes, against the state at that time. That resolves every race: of a
 * cancel and a completion queued together, the second finds a terminal task. The same holds across processes: if another has
 * appended, the store refuses our append, we read the new records, and decide again. Listeners are called only after an append is
 * durable.
 */
import { A2AError, taskNotFound } from '../../model/error.ts'
import type { NextStep } from '../../model/heavy-step.ts'
import { recordsBytes } from '../../model/json-nodes.ts'
import type { LogRecord, RecordBody } from '../../model/record.ts'
import { isTerminal } from '../../model/state.ts'
import type { Append, AppendResult, NewTask, Partition, Store, TaskStore } from '../../stores/store.ts'
import type { EventContext } from '../contract.ts'
import { type LogEvent, type TaskFold, foldRecord, logEventOf, snapshotOf } from './fold.ts'
import {
  type AppendBatch,
  type FirstSeq,
  type Intent,
  initialTaskRow,
  type QueuedIntent,
  resolveBatch,
  takeBatch,
  type TaskDraft,
  type Writable,
} from './task-intents.ts'

export interface LoadedTaskDeps {
  readonly store: Store
  readonly now: () => number
  readonly holder: string
  coalescesText(agent: string): boolean
  keepsTransitions(agent: string): boolean
  /** Whether every finished task gets a snapshot, however short. */
  snapshotAll(): boolean
  warn(message: string, fields: Record<string, unknown>): void
  /** Called with every task whose log has grown. */
  readonly onAppended?: ((taskId: string) => void) | undefined
  /** Called with the events of this process, once they are durable. */
  readonly onEvents?: ((loaded: LoadedTask, events: readonly LogEvent[]) => void) | undefined
  /** Called when an append of this process is durable and part of the fold. */
  onCommitted(loaded: LoadedTask): void
  /** Called once when this process can no longer write the task. */
  onFailed(loaded: LoadedTask, reason: unknown): void
}

/** Above this number a producer waits until the store has caught up. */
const maxBacklog = 1_000
const maxBacklogBytes = 1_000_000

/** As `recordBytes` counts, which is 244 for a chunk of 24 characters. At 2 MB a stream of 16,000 such chunks stored 8 % more. */
const snapshotEveryBytes = 4_000_000
/** Below this size, folding the log is as cheap as reading a snapshot, and a write is saved. */
const snapshotFromBytes = 64_000
/**
 * Above this size, a task of large records is read from its log only: it has hardly more bytes than a snapshot, in pieces that neither
 * the store nor a reader need handle at once.
 */
const maxSnapshotBytes = 4_000_000
const largeRecordBytes = 2_000

const runSoon: (run: () => void) => void =
  typeof setImmediate === 'function' ? (run) => void setImmediate(run) : (run) => void setTimeout(run, 0)

export class LoadedTask {
  readonly id: string
  readonly partition: Partition
  readonly fold: TaskFold
  readonly listeners = new Set<() => void>()
  /** Sees each record once it is durable, from this process and others. */
  onRecord: ((record: LogRecord) => void) | undefined
  readonly #deps: LoadedTaskDeps
  readonly #queue: QueuedIntent[] = []
  readonly #tail: EventTail
  #newTask: NewTask | undefined
  #leaseFence: number | undefined
  #isHeldElsewhere = false
  #hasLostLease = false
  #isFlushing = false
  /** The append in flight, and its first seq. */
  #pendingAppend: PendingAppend | undefined
  #failure: unknown
  #backlogBytes = 0
  readonly #snapshots = new SnapshotSchedule()
  #flushWaiters: (() => void)[] = []

  /** With `created`, a task that is not in the log yet. */
  constructor(deps: LoadedTaskDeps, partition: Partition, state: TaskFold, created?: NewTask) {
    this.id = state.id
    this.partition = partition
    this.fold = state
    this.#tail = new EventTail(state.head)
    this.#deps = deps
    this.#newTask = created
  }

  get tail(): readonly LogEvent[] {
    return this.#tail.events
  }

  /** All visible events after this seq are in `tail`. */
  get tailFrom(): number {
    return this.#tail.from
  }

  /** The events in memory after a seq, up to one batch. */
  tailAfter(seq: number): readonly LogEvent[] {
    return this.#tail.after(seq)
  }

  /** Called when a reader leaves. Drops the events of an ended task once it has no readers. */
  releaseTail(): void {
    if (this.listeners.size === 0 && isTerminal(this.fold.status.state)) this.#tail.clear()
  }

  get isStored(): boolean {
    return this.#newTask === undefined
  }

  get eventContext(): EventContext {
    return { ...this.partition, taskId: this.id, contextId: this.fold.contextId }
  }

  /** Whether this process holds the task's lease. */
  get hasLease(): boolean {
    return this.#leaseFence !== undefined
  }

  /** Whether `loseLease` ended the use of the task here. */
  get hasLostLease(): boolean {
    return this.#hasLostLease
  }

  get fence(): number | undefined {
    return this.#leaseFence
  }

  get failure(): unknown {
    return this.#failure
  }

  /** This process does not run it, wait for it or write to it. */
  get isIdle(): boolean {
    if (!this.isStored || this.hasLease || this.#isFlushing) return false
    return this.listeners.size === 0 && this.#queue.length === 0
  }

  get isBacklogFull(): boolean {
    return this.#queue.length >= maxBacklog || this.#backlogBytes >= maxBacklogBytes
  }

  /** Queues an intent; resolves once it is durable or was dropped. */
  write(intent: Intent): Promise<FirstSeq> {
    if (this.#failure !== undefined) return Promise.reject(taskUnwritable(this.#failure))
    return new Promise((resolve, reject) => {
      this.#queue.push({ intent, done: { resolve, reject } })
      this.#schedule()
    })
  }

  /** Queues an intent, or a record that is dropped if the task is terminal by then. Returns nothing to await. */
  post(intent: Intent | RecordBody, bytes: number): void {
    if (this.#failure !== undefined) return
    this.#queue.push({ intent })
    this.#backlogBytes += bytes
    this.#schedule()
  }

  /** Whether a posted record is not part of an append yet, so that it may still be changed. */
  isQueued(body: RecordBody): boolean {
    return this.#queue.findLast(({ intent }) => intent === body) !== undefined
  }

  /** Resolves when everything queued now has been decided. */
  flushed(): Promise<void> {
    if (this.#queue.length === 0 && !this.#isFlushing) return Promise.resolve()
    return new Promise((resolve) => this.#flushWaiters.push(resolve))
  }

  /** Reads what other processes have appended. */
  async catchUp(): Promise<void> {
    await readLog(this.#deps.store.tasks, this.id, this.fold.head, (records) => {
      // The holder may have released the lease with its append.
      if (records.length > 0) this.#isHeldElsewhere = false
      this.#apply(records)
    })
    if (isTerminal(this.fold.status.state)) this.#leaseFence = undefined
  }

  /** To be called when the store signaled a change and there was none: the log may be shorter than before. */
  async checkTruncation(): Promise<void> {
    const { head } = this.fold
    const row = await this.#deps.store.tasks.load(this.id)
    // A task that is still being created has no row.
    if ((row?.head ?? 0) >= head) return
    this.fail(row === undefined ? taskNotFound(this.id) : logTruncated(row.head, head))
  }

  /** The lease was taken for this process. */
  setLease(fence: number): void {
    this.#leaseFence = fence
    this.#isHeldElsewhere = false
  }

  /** The lease was released, but the task stays in use here. */
  clearLease(): void {
    this.#leaseFence = undefined
  }

  /** Another process has the lease: the run here must stop. */
  loseLease(): void {
    this.#leaseFence = undefined
    this.#hasLostLease = true
    this.fail(new A2AError('UNAVAILABLE', 'The task runs in another process'))
  }

  /** Stops writing from this process, and rejects everything that waits. */
  fail(reason: unknown): void {
    if (this.#failure !== undefined) return
    this.#failure = reason
    this.#refuseQueued()
    this.#releaseWaiters()
    this.#notify()
    this.#deps.onFailed(this, reason)
  }

  #refuseQueued(): void {
    const reason = this.#failure instanceof DuplicateMessage ? this.#failure : taskUnwritable(this.#failure)
    for (const { done } of this.#queue.splice(0)) done?.reject(reason)
  }

  #schedule(): void {
    if (this.#isFlushing) return
    this.#isFlushing = true
    // One turn of the event loop: an agent that responds without waiting is written in one append.
    runSoon(() => void this.#flush())
  }

  async #flush(): Promise<void> {
    while (this.#queue.length > 0 && this.#failure === undefined) {
      const batch = this.#decide()
      if (batch === undefined) continue
      try {
        await this.#commit(batch)
      } catch (reason) {
        this.#queue.unshift(...batch.entries)
        this.fail(reason)
      }
    }
    this.#isFlushing = false
    // Failed while an append was in flight: intents that it returned are rejected like the rest.
    if (this.#failure !== undefined) this.#refuseQueued()
    this.#releaseWaiters()
  }

  #releaseWaiters(): void {
    const waiting = this.#flushWaiters
    this.#flushWaiters = []
    for (const resolve of waiting) resolve()
  }

  /** The next append; `undefined` if no queued intent has anything to write. */
  #decide(): AppendBatch | undefined {
    const { fold: state } = this
    const draft: TaskDraft = {
      state: state.status.state,
      statusSeq: state.statusSeq,
      nextSeq: state.head + 1,
      lastMessageSeq: state.waiting.at(-1)?.seq ?? 0,
      consumedSeq: state.consumedSeq,
      cancelRequested: state.cancelRequested,
      deadlineAt: state.deadlineAt,
      canTakeLease: this.#leaseFence === undefined && !this.#isHeldElsewhere,
      at: Math.max(this.#deps.now(), state.lastAt, this.#newTask?.statusAt ?? 0),
    }
    const batch = takeBatch(this.#queue, draft)
    if (this.#queue.length === 0) this.#backlogBytes = 0
    const [first] = batch.records
    // An agent that computes first reports later. The duration of a task is counted from its message, in its row and in its log.
    if (this.#newTask !== undefined && first !== undefined) {
      batch.records[0] = { ...first, at: Math.min(first.at, this.#newTask.createdAt) }
    }
    if (batch.records.length > 0 || batch.lease !== undefined) return batch
    resolveBatch(batch)
    return undefined
  }

  async #commit(batch: AppendBatch): Promise<void> {
    const firstSeq = this.fold.head + 1
    let outcome: AppendResult
    this.#pendingAppend = { firstSeq, records: batch.records }
    try {
      outcome = await this.#deps.store.tasks.append(this.id, this.#appendOf(batch))
    } finally {
      this.#pendingAppend = undefined
    }
    switch (outcome.outcome) {
      case 'appended':
        this.#newTask = undefined
        this.#leaseFence = batch.lease === 'release' ? undefined : (outcome.fence ?? this.#leaseFence)
        this.#isHeldElsewhere = false
        if (outcome.head >= firstSeq + batch.records.length) return this.#finishLaterAppend(batch, outcome.head)
        this.#reportEvents(this.#apply(recordsFrom(firstSeq, batch)))
        resolveBatch(batch)
        this.#saveSnapshotIfDue()
        this.#deps.onCommitted(this)
        return
      case 'conflict':
        this.#queue.unshift(...batch.entries)
        if (outcome.head === 0) return this.fail(taskNotFound(this.id))
        if (outcome.head < firstSeq - 1) return this.fail(logTruncated(outcome.head, firstSeq - 1))
        return this.catchUp()
      case 'duplicate': {
        // Only the message with the key is refused; the rest is decided again.
        const [refused] = batch.entries.splice(batch.keyIndex as number, 1)
        this.#queue.unshift(...batch.entries)
        refused?.done?.reject(new DuplicateMessage(outcome.taskId, outcome.hash))
        if (!this.isStored) this.fail(new DuplicateMessage(outcome.taskId, outcome.hash))
        return
      }
      case 'held':
        // Unless the log has grown since the append was decided: then the lease may be free.
        this.#isHeldElsewhere = this.fold.head < firstSeq
        this.#queue.unshift(...batch.entries)
        return
      case 'fenced':
        this.#queue.unshift(...batch.entries)
        await this.catchUp()
        // If another process ended the task, that decides everything still queued. If it took the task over, it does not.
        if (!isTerminal(this.fold.status.state)) this.loseLease()
    }
  }

  /** Our records follow those that other processes had written meanwhile: read those first, and ours with them. */
  async #finishLaterAppend(batch: AppendBatch, head: number): Promise<void> {
    const firstSeq = head - batch.records.length + 1
    const shift = firstSeq - (batch.firstSeqs.find((first) => first !== undefined) ?? firstSeq)
    try {
      await this.catchUp()
    } catch (cause) {
      // The append is durable: its sender has the result. The next read brings it here.
      this.#deps.warn('records of other processes could not be read', { cause })
    }
    this.#reportEvents(recordsFrom(firstSeq, batch).flatMap((record) => logEventOf(this.fold, record) ?? []))
    batch.firstSeqs.forEach((first, index) => (batch.firstSeqs[index] = first === undefined ? first : first + shift))
    resolveBatch(batch)
  }

  #appendOf(batch: AppendBatch): Append {
    const creating = this.#newTask
    const held = this.#leaseFence
    const { holder, store } = this.#deps
    const take = batch.lease === 'take' || (creating !== undefined && batch.lease !== 'release')
    const { owner } = this.partition
    const append: Writable<Append> = { expectedSeq: this.fold.head, owner, records: batch.records }
    if (creating === undefined) append.change = batch.change
    else append.create = initialTaskRow(creating, batch)
    if (held !== undefined) append.fence = held
    else if (take) append.take = { holder, ttlMs: store.leaseTtlMs }
    if (batch.anyPosition && held === undefined && creating === undefined) append.orLater = true
    if (batch.idempotency !== undefined) append.idempotency = batch.idempotency
    if (batch.lease === 'release') append.release = true
    return append
  }

  /** Returns the events of the records. */
  #apply(records: readonly LogRecord[]): readonly LogEvent[] {
    const { fold: state } = this
    const coalesceText = this.#deps.coalescesText(this.partition.agent)
    const events: LogEvent[] = []
    for (const read of records) {
      // A read during our own append returns those records too.
      if (read.seq <= state.head) continue
      const record = this.#pendingAppend === undefined ? read : withOwnMessage(read, this.#pendingAppend)
      const event = logEventOf(state, record, foldRecord(state, record, coalesceText))
      if (event !== undefined) events.push(event)
      this.onRecord?.(record)
    }
    this.#tail.push(events)
    if (records.length === 0) return events
    this.#notify()
    this.#deps.onAppended?.(this.id)
    return events
  }

  #reportEvents(events: readonly LogEvent[]): void {
    this.#deps.onEvents?.(this, events)
  }

  #notify(): void {
    for (const listener of this.listeners) listener()
  }

  #saveSnapshotIfDue(): void {
    if (!this.#snapshots.isDue(this.fold, this.#deps.snapshotAll())) return
    // A snapshot only saves time and the log is authoritative, so it is not awaited and a failure is only logged.
    const saved = this.#deps.store.tasks.saveSnapshot(this.id, snapshotOf(this.fold))
    saved.catch((cause: unknown) => this.#deps.warn('snapshot not saved', { cause }))
  }
}

/** When the fold of a task is stored beside its log. */
class SnapshotSchedule {
  #savedBytes = 0

  /** Whether the state after an append is to be stored now. If so, the caller stores it. `all`: of a finished task, however short. */
  isDue({ bytes, head, status }: Pick<TaskFold, 'bytes' | 'head' | 'status'>, all: boolean): boolean {
    if (!all && bytes > maxSnapshotBytes && bytes / head > largeRecordBytes) return false
    // Again only when the log has doubled: with a snapshot every 2 MB, 75 MB in 300 events took SQLite 21 s; this way it takes 2 s.
    const fromBytes = all ? 0 : snapshotFromBytes
    const enough = isTerminal(status.state) ? fromBytes : Math.max(snapshotEveryBytes, this.#savedBytes)
    if (bytes - this.#savedBytes < enough) return false
    this.#savedBytes = bytes
    return true
  }
}

// The newest events of a task, in memory for readers that keep up. Others read the store.

const maxEvents = 2_048
const maxBytes = 4_000_000
/** Bounds of one batch for a reader. */
const maxBatch = 1_000
const maxBatchBytes = 256_000

class EventTail {
  /** All visible events after this seq are in `events`. */
  from: number
  #events: LogEvent[] = []
  #bytes = 0
  #lastBatch: { readonly after: number; readonly lastSeq: number; readonly events: readonly LogEvent[] } | undefined

  constructor(from: number) {
    this.from = from
  }

  get events(): readonly LogEvent[] {
    return this.#events
  }

  /** Over the limit, drops half of the events at a time, so that each event is moved once on average. */
  push(events: readonly LogEvent[]): void {
    for (const event of events) {
      this.#events.push(event)
      this.#bytes += event.bytes
    }
    if (this.#events.length <= maxEvents && this.#bytes <= maxBytes) return
    const dropped = Math.ceil(this.#events.length / 2)
    if (dropped > 0) this.from = (this.#events[dropped - 1] as LogEvent).seq
    for (const { bytes } of this.#events.splice(0, dropped)) this.#bytes -= bytes
    this.#lastBatch = undefined
  }

  /** Drops all events: the next reader reads the store. */
  clear(): void {
    this.from = this.#events.at(-1)?.seq ?? this.from
    this.#events = []
    this.#bytes = 0
    this.#lastBatch = undefined
  }

  /**
   * The next batch of events after a seq. Readers at the same position get the same array, so that slow readers share memory with
   * the others.
   */
  after(seq: number): readonly LogEvent[] {
    const all = this.#events
    const lastSeq = all.at(-1)?.seq ?? 0
    const given = this.#lastBatch
    if (given !== undefined && given.after === seq && given.lastSeq === lastSeq) return given.events
    // Searched from the end, where a reader that keeps up always is.
    let from = all.length
    while (from > 0 && (all[from - 1] as LogEvent).seq > seq) from -= 1
    const most = Math.min(all.length, from + maxBatch)
    let to = from
    for (let bytes = 0; to < most && bytes < maxBatchBytes; to += 1) bytes += (all[to] as LogEvent).bytes
    const events = all.slice(from, to)
    this.#lastBatch = events.length === 0 ? undefined : { after: seq, lastSeq, events }
    return events
  }
}

function recordsFrom(firstSeq: number, { records }: AppendBatch): readonly LogRecord[] {
  return records.map(({ at, body }, index) => ({ seq: firstSeq + index, at, body }))
}

/** What is being appended, and from which seq on. */
interface PendingAppend {
  readonly firstSeq: number
  readonly records: Append['records']
}

/**
 * A read of other processes' records may return our own append before the store confirms it. Then use our message object: its
 * redacted content is attached to the object and not to its text.
 */
function withOwnMessage(read: LogRecord, { firstSeq, records }: PendingAppend): LogRecord {
  const body = records[read.seq - firstSeq]?.body
  if (body?.type !== 'message' || read.body.type !== 'message') return read
  return body.message.messageId === read.body.message.messageId ? { ...read, body } : read
}

// Errors of a write that did not reach the log.

/** Thrown to the sender of a message that another append claimed first. */
export class DuplicateMessage extends Error {
  readonly taskId: string
  readonly hash: string
  constructor(taskId: string, hash: string) {
    super('the message was already accepted')
    this.taskId = taskId
    this.hash = hash
  }
}

function taskUnwritable(cause: unknown): A2AError {
  return cause instanceof A2AError
    ? cause
    : new A2AError('UNAVAILABLE', 'The task cannot be written now', {}, { cause })
}

/**
 * A database that failed over to a lagging replica, or a disk that lost its last writes, holds less than it confirmed as durable.
 * The state in memory is then invalid: the next reader loads what is stored.
 */
function logTruncated(head: number, known: number): A2AError {
  const cause = new Error(`the log ends at ${head} but had reached ${known}: the store lost committed records`)
  return new A2AError('UNAVAILABLE', 'The task changed unexpectedly in the store', {}, { cause })
}

// A log may be larger than memory allows at once.

/** Bound of one read when a log is folded. */
const foldBytes = 1_000_000

/** Calls `take` with each page after a seq, in order. Reads to the end of the log, or at least to `head` if it is given. */
export async function readLog(
  tasks: Pick<TaskStore, 'read'>,
  taskId: string,
  afterSeq: number,
  take: (records: readonly LogRecord[]) => void,
  head = Infinity,
  nextStep?: NextStep,
): Promise<void> {
  let after = afterSeq
  for (;;) {
    const records = await tasks.read(taskId, after, undefined, foldBytes, nextStep)
    const last = records.at(-1)
    take(records)
    // Fewer bytes than the bound: the read reached the end of the log.
    if (last === undefined || last.seq >= head || recordsBytes(records) < foldBytes) return
    after = last.seq
    await nextStep?.()
  }
}
