/**
 * A task in use: its fold, the newest part of its log, and the one queue for all writes to it.
 *
 * A write is queued as an intent and decided when its turn comes, against the state at that time. That resolves every race: of a
 * cancel and a completion queued together, the second finds a terminal task. The same holds across processes: if another has
 * appended, the store refuses our append, we read the new records, and decide again. Listeners are called only after an append is
 * durable.
 */
import { A2AError, taskNotFound } from '../../model/error.ts'
import type { LogRecord, RecordBody } from '../../model/record.ts'
import { isTerminal } from '../../model/state.ts'
import type { Append, AppendResult, NewTask, Partition, Store } from '../../stores/store.ts'
import type { AppendBatch, FirstSeq, Intent, PendingAppend, QueuedIntent, TaskDraft } from './append-batch.ts'
import {
  DuplicateMessage,
  changeOf,
  initialTaskRow,
  logTruncated,
  resolveBatch,
  takeBatch,
  taskUnwritable,
  withOwnMessage,
} from './append-batch.ts'
import { EventTail, type LogEvent, eventOfRecord } from './log-events.ts'
import { type TaskFold, foldRecord, snapshotOf, traceAt } from './fold.ts'
import { readLog } from './read-log.ts'

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
  /** Called with the records of this process, once they are durable. */
  readonly onRecorded?: ((loaded: LoadedTask, records: Append['records'], firstSeq: number) => void) | undefined
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

/** A class for its getters: on an object literal V8 creates each of them anew, which cost 27 µs per task against 1. */
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
  #isFlushing = false
  /** The append in flight, and its first seq. */
  #pendingAppend: PendingAppend | undefined
  #failure: unknown
  #backlogBytes = 0
  #lastAt: number
  #lastMessageSeq: number
  readonly #snapshots = new SnapshotSchedule()
  #flushWaiters: (() => void)[] = []

  /** `lastAt` is the time of the last record. With `create`, a task that is not in the log yet. */
  constructor(
    deps: LoadedTaskDeps,
    partition: Partition,
    state: TaskFold,
    { lastAt, create }: { readonly lastAt: number; readonly create?: NewTask },
  ) {
    this.id = state.id
    this.partition = partition
    this.fold = state
    this.#tail = new EventTail(state.head)
    this.#deps = deps
    this.#newTask = create
    this.#lastAt = lastAt
    this.#lastMessageSeq = Math.max(state.consumedSeq, state.waiting.at(-1)?.seq ?? 0)
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

  /** To be called when a reader leaves: of an ended task, the garbage collector would only move the events before it is released. */
  releaseTail(): void {
    if (this.listeners.size === 0 && isTerminal(this.fold.status.state)) this.#tail.clear()
  }

  get isStored(): boolean {
    return this.#newTask === undefined
  }

  /** Whether this process holds the task's lease. */
  get hasLease(): boolean {
    return this.#leaseFence !== undefined
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
      lastMessageSeq: this.#lastMessageSeq,
      consumedSeq: state.consumedSeq,
      cancelRequested: state.cancelRequested,
      deadlineAt: state.deadlineAt,
      canTakeLease: this.#leaseFence === undefined && !this.#isHeldElsewhere,
      at: Math.max(this.#deps.now(), this.#lastAt),
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
        this.#apply(batch.records.map(({ at, body }, index) => ({ seq: firstSeq + index, at, body })))
        this.#deps.onRecorded?.(this, batch.records, firstSeq)
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
    this.#deps.onRecorded?.(this, batch.records, firstSeq)
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
    if (creating === undefined) append.change = changeOf(batch, this.fold.consumedSeq)
    else append.create = initialTaskRow(creating, batch)
    if (held !== undefined) append.fence = held
    else if (take) append.take = { holder, ttlMs: store.leaseTtlMs }
    if (batch.anyPosition && held === undefined && creating === undefined) append.orLater = true
    if (batch.idempotency !== undefined) append.idempotency = batch.idempotency
    if (batch.lease === 'release') append.release = true
    return append
  }

  #apply(records: readonly LogRecord[]): void {
    const { fold: state } = this
    const coalesceText = this.#deps.coalescesText(this.partition.agent)
    for (const read of records) {
      const wasBytes = state.bytes
      // A read during our own append returns those records too.
      if (read.seq <= state.head) continue
      const record = this.#pendingAppend === undefined ? read : withOwnMessage(read, this.#pendingAppend)
      foldRecord(state, record, coalesceText)
      this.#lastAt = Math.max(this.#lastAt, record.at)
      if (record.body.type === 'message') this.#lastMessageSeq = record.seq
      const event = eventOfRecord(this.id, state.contextId, record.body)
      if (event !== undefined) {
        const traceparent = state.traces === undefined ? undefined : traceAt(state, record.seq)
        const bytes = state.bytes - wasBytes
        this.#tail.push({ seq: record.seq, event, final: false, at: record.at, traceparent, bytes })
      }
      this.onRecord?.(record)
    }
    this.#tail.trim()
    if (records.length === 0) return
    this.#notify()
    this.#deps.onAppended?.(this.id)
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

type Writable<T> = { -readonly [K in keyof T]: T[K] }

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
