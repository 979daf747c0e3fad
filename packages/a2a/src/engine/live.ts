/**
 * A task in use: its fold, the newest part of its log, and the one queue through which
 * everything that happens to it is written.
 *
 * What wants to be written is queued as an intent and decided when it is its turn,
 * against the state as it then is. That is how every race ends: a cancel and a
 * completion queued together are decided one after the other, and the second finds a
 * terminal task. The same holds across processes: when the log has grown behind our
 * back the store refuses the append, we read what is new, and decide again.
 *
 * Listeners are told only after the store has said that an append is durable.
 */
import { A2AError, taskNotFound } from '../model/error.ts'
import type { LogRecord, RecordBody } from '../model/record.ts'
import { isTerminal } from '../model/state.ts'
import type { Append, Appended, NewTask, Partition, Store } from '../stores/store.ts'
import { cutShort, DuplicateMessage, unavailable } from './append-refusals.ts'
import type { Batch, Draft, Entry, Intent, Writing, Written } from './batch.ts'
import { asWritten, changeOf, newTask, settle, takeBatch } from './batch.ts'
import { eventOf, type TailEvent } from './event-of.ts'
import type { Fold } from './fold.ts'
import { fold, snapshotOf, traceAt } from './fold.ts'
import { readLog } from './read-log.ts'
import { Tail } from './tail.ts'

export interface LiveParts {
  readonly store: Store
  readonly now: () => number
  readonly holder: string
  coalescesText(agent: string): boolean
  keepsTransitions(agent: string): boolean
  /** Whether every finished task gets a snapshot, however short. */
  readonly snapshotsAll: boolean
  warn(message: string, fields: Record<string, unknown>): void
  /** Called with every task that has grown, if anybody wants to know. */
  readonly appended?: ((taskId: string) => void) | undefined
  /** Called with what this process wrote itself, once it is durable. */
  readonly recorded?: ((live: Live, records: Append['records'], firstSeq: number) => void) | undefined
  /** Called when the lease was given back. */
  released(live: Live): void
  /** Called once when the task can no longer be written from here. */
  lost(live: Live, reason: unknown): void
}

/** Above this a producer waits until the store has caught up. */
const maxBacklog = 1_000
const maxBacklogBytes = 1_000_000
const snapshotEveryBytes = 2_000_000
/** Below this, folding the log is as cheap as reading a snapshot, and a write is saved. */
const snapshotFromBytes = 64_000

const soon: (run: () => void) => void =
  typeof setImmediate === 'function' ? (run) => void setImmediate(run) : (run) => void setTimeout(run, 0)

/** A class for its getters: on an object literal V8 makes each of them anew, which cost 27 µs a task against 1. */
export class Live {
  readonly id: string
  readonly partition: Partition
  readonly fold: Fold
  readonly listeners = new Set<() => void>()
  /** Sees each record once it is durable, ours and others'. */
  observe: ((record: LogRecord) => void) | undefined
  readonly #parts: LiveParts
  readonly #queue: Entry[] = []
  readonly #tail: Tail
  #creating: NewTask | undefined
  #held: number | undefined
  #heldElsewhere = false
  #flushing = false
  /** What is being appended, and from which seq on. */
  #writing: Writing | undefined
  #broken: unknown
  #backlogBytes = 0
  #lastAt: number
  #lastMessageSeq: number
  #snapshotBytes = 0
  #drained: (() => void)[] = []

  /** `lastAt` is the time of the last record. With `create`, a task that is not in the log yet. */
  constructor(
    parts: LiveParts,
    partition: Partition,
    state: Fold,
    { lastAt, create }: { readonly lastAt: number; readonly create?: NewTask },
  ) {
    this.id = state.id
    this.partition = partition
    this.fold = state
    this.#tail = new Tail(state.head)
    this.#parts = parts
    this.#creating = create
    this.#lastAt = lastAt
    this.#lastMessageSeq = Math.max(state.consumedSeq, state.waiting.at(-1)?.seq ?? 0)
  }

  get tail(): readonly TailEvent[] {
    return this.#tail.events
  }

  /** All visible events after this seq are in `tail`. */
  get tailFrom(): number {
    return this.#tail.from
  }

  /** The events in memory after a seq, up to a batch of them. */
  tailAfter(seq: number): readonly TailEvent[] {
    return this.#tail.after(seq)
  }

  get opened(): boolean {
    return this.#creating === undefined
  }

  /** Whether this process holds the task's lease. */
  get owned(): boolean {
    return this.#held !== undefined
  }

  get fence(): number | undefined {
    return this.#held
  }

  get broken(): unknown {
    return this.#broken
  }

  /** Nobody here works on it, waits for it or writes to it. */
  get idle(): boolean {
    if (!this.opened || this.owned || this.#flushing) return false
    return this.listeners.size === 0 && this.#queue.length === 0
  }

  get isFull(): boolean {
    return this.#queue.length >= maxBacklog || this.#backlogBytes >= maxBacklogBytes
  }

  /** Queues an intent; resolves once it is durable or was dropped. */
  write(intent: Intent): Promise<Written> {
    if (this.#broken !== undefined) return Promise.reject(unavailable(this.#broken))
    return new Promise((resolve, reject) => {
      this.#queue.push({ intent, done: { resolve, reject } })
      this.#schedule()
    })
  }

  /** Queues an intent, or a record that is dropped if the task is terminal by then. Nobody waits for it. */
  post(intent: Intent | RecordBody, bytes: number): void {
    if (this.#broken !== undefined) return
    this.#queue.push({ intent })
    this.#backlogBytes += bytes
    this.#schedule()
  }

  /** Whether a record that was posted is not part of an append yet, so that it may still be changed. */
  isQueued(body: RecordBody): boolean {
    return this.#queue.findLast(({ intent }) => intent === body) !== undefined
  }

  /** Resolves when what is queued now has been decided. */
  flushed(): Promise<void> {
    if (this.#queue.length === 0 && !this.#flushing) return Promise.resolve()
    return new Promise((resolve) => this.#drained.push(resolve))
  }

  /** Reads what others have appended. */
  async catchUp(): Promise<void> {
    await readLog(this.#parts.store, this.id, this.fold.head, (records) => {
      // The process that held the lease may have given it back with its append.
      if (records.length > 0) this.#heldElsewhere = false
      this.#apply(records)
    })
    if (isTerminal(this.fold.status.state)) this.#held = undefined
  }

  /** To be called when the store spoke of a change and there was none: the log may be shorter than it was. */
  async checkLength(): Promise<void> {
    const { head } = this.fold
    const row = await this.#parts.store.load(this.id)
    // One that is only now being made has none, and is not there.
    if ((row?.head ?? 0) >= head) return
    this.abandon(row === undefined ? taskNotFound(this.id) : cutShort(row.head, head))
  }

  /** The lease was taken for us. */
  hold(fence: number): void {
    this.#held = fence
    this.#heldElsewhere = false
  }

  /** The lease was given back, and the task is of interest here all the same. */
  letGo(): void {
    this.#held = undefined
  }

  /** The lease is somebody else's now: what was going on here must stop, and is not ours to take up again. */
  loseLease(): void {
    this.#held = undefined
    this.abandon(new A2AError('UNAVAILABLE', 'The task is served elsewhere'))
  }

  /** Gives up: nothing is written from here any more, and everybody who waits is told. */
  abandon(reason: unknown): void {
    if (this.#broken !== undefined) return
    this.#broken = reason
    this.#refuseQueued()
    this.#releaseWaiters()
    this.#notify()
    this.#parts.lost(this, reason)
  }

  #refuseQueued(): void {
    const reason = this.#broken instanceof DuplicateMessage ? this.#broken : unavailable(this.#broken)
    for (const { done } of this.#queue.splice(0)) done?.reject(reason)
  }

  #schedule(): void {
    if (this.#flushing) return
    this.#flushing = true
    // A turn of the event loop: an agent that answers without waiting is written in one append.
    soon(() => void this.#flush())
  }

  async #flush(): Promise<void> {
    while (this.#queue.length > 0 && this.#broken === undefined) {
      const batch = this.#decide()
      if (batch === undefined) continue
      try {
        await this.#commit(batch)
      } catch (reason) {
        this.#queue.unshift(...batch.entries)
        this.abandon(reason)
      }
    }
    this.#flushing = false
    // Given up while an append was underway: what came back from that append is refused like the rest.
    if (this.#broken !== undefined) this.#refuseQueued()
    this.#releaseWaiters()
  }

  #releaseWaiters(): void {
    const waiting = this.#drained
    this.#drained = []
    for (const resolve of waiting) resolve()
  }

  /** What to append next; nothing if all that was queued came to nothing. */
  #decide(): Batch | undefined {
    const { fold: state } = this
    const draft: Draft = {
      state: state.status.state,
      statusSeq: state.statusSeq,
      nextSeq: state.head + 1,
      lastMessageSeq: this.#lastMessageSeq,
      consumedSeq: state.consumedSeq,
      cancelRequested: state.cancelRequested,
      deadlineAt: state.deadlineAt,
      mayTake: this.#held === undefined && !this.#heldElsewhere,
      at: Math.max(this.#parts.now(), this.#lastAt),
    }
    const batch = takeBatch(this.#queue, draft)
    if (this.#queue.length === 0) this.#backlogBytes = 0
    const [first] = batch.records
    // The agent has been at work since the message came, and one that thinks first says its first word later: what a task took
    // is counted from here, in its row and in its log alike.
    if (this.#creating !== undefined && first !== undefined) {
      batch.records[0] = { ...first, at: Math.min(first.at, this.#creating.createdAt) }
    }
    if (batch.records.length > 0 || batch.lease !== undefined) return batch
    settle(batch)
    return undefined
  }

  async #commit(batch: Batch): Promise<void> {
    const firstSeq = this.fold.head + 1
    let outcome: Appended
    this.#writing = { firstSeq, records: batch.records }
    try {
      outcome = await this.#parts.store.append(this.id, this.#appendOf(batch))
    } finally {
      this.#writing = undefined
    }
    switch (outcome.outcome) {
      case 'appended':
        this.#creating = undefined
        this.#held = batch.lease === 'release' ? undefined : (outcome.fence ?? this.#held)
        this.#heldElsewhere = false
        if (outcome.head >= firstSeq + batch.records.length) return this.#wroteLater(batch, outcome.head)
        this.#apply(batch.records.map(({ at, body }, index) => ({ seq: firstSeq + index, at, body })))
        this.#parts.recorded?.(this, batch.records, firstSeq)
        settle(batch)
        this.#saveSnapshotIfWorth()
        if (batch.lease === 'release') this.#parts.released(this)
        return
      case 'conflict':
        this.#queue.unshift(...batch.entries)
        if (outcome.head === 0) return this.abandon(taskNotFound(this.id))
        if (outcome.head < firstSeq - 1) return this.abandon(cutShort(outcome.head, firstSeq - 1))
        return this.catchUp()
      case 'duplicate': {
        // Only the message that carried the key is refused; the rest is decided anew.
        const [refused] = batch.entries.splice(batch.keyIndex as number, 1)
        this.#queue.unshift(...batch.entries)
        refused?.done?.reject(new DuplicateMessage(outcome.taskId, outcome.hash))
        if (!this.opened) this.abandon(new DuplicateMessage(outcome.taskId, outcome.hash))
        return
      }
      case 'held':
        // Unless the log has grown since we asked: then it may be free.
        this.#heldElsewhere = this.fold.head < firstSeq
        this.#queue.unshift(...batch.entries)
        return
      case 'fenced':
        this.#queue.unshift(...batch.entries)
        await this.catchUp()
        // Ended by somebody else: that is an answer to everything still queued. Taken over is not.
        if (!isTerminal(this.fold.status.state)) this.loseLease()
    }
  }

  /** What we wrote stands after what others had written meanwhile: that is read first, and ours with it. */
  async #wroteLater(batch: Batch, head: number): Promise<void> {
    const firstSeq = head - batch.records.length + 1
    const shift = firstSeq - (batch.firsts.find((first) => first !== undefined) ?? firstSeq)
    try {
      await this.catchUp()
    } catch (cause) {
      // It is written: whoever sent it has their answer. The next look brings it here.
      this.#parts.warn('what others wrote could not be read', { cause })
    }
    this.#parts.recorded?.(this, batch.records, firstSeq)
    batch.firsts.forEach((first, index) => (batch.firsts[index] = first === undefined ? first : first + shift))
    settle(batch)
  }

  #appendOf(batch: Batch): Append {
    const creating = this.#creating
    const held = this.#held
    const { holder, store } = this.#parts
    const take = batch.lease === 'take' || (creating !== undefined && batch.lease !== 'release')
    const append: Writable<Append> = { expectedSeq: this.fold.head, records: batch.records }
    if (creating === undefined) append.change = changeOf(batch, this.fold.consumedSeq)
    else append.create = newTask(creating, batch)
    if (held !== undefined) append.fence = held
    else if (take) append.take = { holder, ttlMs: store.leaseTtlMs }
    if (batch.anywhere && held === undefined && creating === undefined) append.orLater = true
    if (batch.idempotency !== undefined) append.idempotency = batch.idempotency
    if (batch.lease === 'release') append.release = true
    return append
  }

  #apply(records: readonly LogRecord[]): void {
    const { fold: state } = this
    const coalesceText = this.#parts.coalescesText(this.partition.agent)
    for (const read of records) {
      const wasBytes = state.bytes
      // What was read while our own append was under way is in both.
      if (read.seq <= state.head) continue
      const record = this.#writing === undefined ? read : asWritten(read, this.#writing)
      fold(state, record, coalesceText)
      this.#lastAt = Math.max(this.#lastAt, record.at)
      if (record.body.type === 'message') this.#lastMessageSeq = record.seq
      const event = eventOf(this.id, state.contextId, record.body)
      if (event !== undefined) {
        const traceparent = state.traces === undefined ? undefined : traceAt(state, record.seq)
        const bytes = state.bytes - wasBytes
        this.#tail.push({ seq: record.seq, event, final: false, at: record.at, traceparent, bytes })
      }
      this.observe?.(record)
    }
    this.#tail.shorten()
    if (records.length === 0) return
    this.#notify()
    this.#parts.appended?.(this.id)
  }

  #notify(): void {
    for (const listener of this.listeners) listener()
  }

  #saveSnapshotIfWorth(): void {
    const { bytes, status } = this.fold
    const grown = bytes - this.#snapshotBytes
    // Anew only when it has doubled: with one every 2 MB, 75 MB in 300 events took SQLite 21 s; so it takes 2 s.
    const fromBytes = this.#parts.snapshotsAll ? 0 : snapshotFromBytes
    const enough = isTerminal(status.state) ? fromBytes : Math.max(snapshotEveryBytes, this.#snapshotBytes)
    if (grown < enough) return
    this.#snapshotBytes = bytes
    // A snapshot only saves time: the log is what counts, so nobody waits and a failure is told to us alone.
    const saved = this.#parts.store.saveSnapshot(this.id, snapshotOf(this.fold))
    saved.catch((cause: unknown) => this.#parts.warn('snapshot not saved', { cause }))
  }
}

type Writable<T> = { -readonly [K in keyof T]: T[K] }
