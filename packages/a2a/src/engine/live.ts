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
import type { StreamEvent } from '../model/task.ts'
import type { Append, NewTask, Partition, Store } from '../stores/store.ts'
import type { Batch, Draft, Entry, Intent, Written } from './batch.ts'
import { newTask, settle, takeBatch } from './batch.ts'
import type { Fold } from './fold.ts'
import { fold, snapshotOf } from './fold.ts'

export interface TailEvent {
  readonly seq: number
  readonly event: StreamEvent
}

/** Thrown to the sender of a message that another append claimed first. */
export class DuplicateMessage extends Error {
  readonly taskId: string
  readonly hash: string
  constructor(taskId: string, hash: string) {
    super('the message was already taken')
    this.taskId = taskId
    this.hash = hash
  }
}

export interface LiveParts {
  readonly store: Store
  readonly now: () => number
  readonly holder: string
  coalescesText(agent: string): boolean
  warn(message: string, fields: Record<string, unknown>): void
  /** Called when the lease was given back. */
  released(live: Live): void
  /** Called once when the task can no longer be written from here. */
  lost(live: Live, reason: unknown): void
}

/** Above this a producer waits until the store has caught up. */
const maxBacklog = 1_000
const maxBacklogBytes = 1_000_000
/** The newest events stay in memory for readers that keep up; others read the store. */
const maxTail = 2_048
const snapshotEveryBytes = 2_000_000
/** Below this, folding the log is as cheap as reading a snapshot, and a write is saved. */
const snapshotFromBytes = 64_000

const soon: (run: () => void) => void =
  typeof setImmediate === 'function' ? (run) => void setImmediate(run) : (run) => void setTimeout(run, 0)

export type Live = ReturnType<typeof createLive>

export function createLive(parts: LiveParts, partition: Partition, state: Fold, create?: NewTask) {
  const { store } = parts
  const coalesceText = parts.coalescesText(partition.agent)
  const listeners = new Set<() => void>()
  const queue: Entry[] = []
  let tail: TailEvent[] = []
  let creating = create
  let held: number | undefined
  let heldElsewhere = false
  let flushing = false
  let broken: unknown
  let backlogBytes = 0
  let lastAt = Date.parse(state.status.timestamp ?? '') || 0
  let lastMessageSeq = Math.max(state.consumedSeq, state.waiting.at(-1)?.seq ?? 0)
  let snapshotBytes = 0
  let drained: (() => void)[] = []

  const live = {
    id: state.id,
    partition,
    fold: state,
    listeners,
    /** All visible events after this seq are in `tail`. */
    tailFrom: state.head,
    /** Sees each record once it is durable, ours and others'. */
    observe: undefined as ((record: LogRecord) => void) | undefined,
    get tail(): readonly TailEvent[] {
      return tail
    },
    get opened(): boolean {
      return creating === undefined
    },
    /** Whether this process holds the task's lease. */
    get owned(): boolean {
      return held !== undefined
    },
    get fence(): number | undefined {
      return held
    },
    get broken(): unknown {
      return broken
    },
    /** Nobody here works on it, waits for it or writes to it. */
    get idle(): boolean {
      return creating === undefined && held === undefined && listeners.size === 0 && queue.length === 0 && !flushing
    },
    /** Queues an intent; resolves once it is durable or was dropped. */
    write(intent: Intent): Promise<Written> {
      if (broken !== undefined) return Promise.reject(unavailable(broken))
      return new Promise((resolve, reject) => {
        queue.push({ intent, done: { resolve, reject } })
        schedule()
      })
    },
    /** Queues an intent, or a record that is dropped if the task is terminal by then. Nobody waits for it. */
    post(intent: Intent | RecordBody, bytes: number): void {
      if (broken !== undefined) return
      queue.push({ intent })
      backlogBytes += bytes
      schedule()
    },
    get isFull(): boolean {
      return queue.length >= maxBacklog || backlogBytes >= maxBacklogBytes
    },
    /** Resolves when what is queued now has been decided. */
    flushed(): Promise<void> {
      if (queue.length === 0 && !flushing) return Promise.resolve()
      return new Promise((resolve) => drained.push(resolve))
    },
    /** Reads what others have appended. */
    catchUp,
    /** The lease was taken for us. */
    hold(fence: number): void {
      held = fence
      heldElsewhere = false
    },
    /** The lease is somebody else's now: what was going on here must stop, and is not ours to take up again. */
    loseLease(): void {
      held = undefined
      abandon(new A2AError('UNAVAILABLE', 'The task is served elsewhere'))
    },
    /** Gives up: nothing is written from here any more, and everybody who waits is told. */
    abandon,
  }
  return live

  function schedule(): void {
    if (flushing) return
    flushing = true
    // A turn of the event loop: an agent that answers without waiting is written in one append.
    soon(() => void flush())
  }

  async function flush(): Promise<void> {
    while (queue.length > 0 && broken === undefined) {
      const batch = decide()
      if (batch === undefined) continue
      try {
        await commit(batch)
      } catch (reason) {
        queue.unshift(...batch.entries)
        abandon(reason)
      }
    }
    flushing = false
    releaseWaiters()
  }

  function releaseWaiters(): void {
    const waiting = drained
    drained = []
    for (const resolve of waiting) resolve()
  }

  /** What to append next; nothing if all that was queued came to nothing. */
  function decide(): Batch | undefined {
    const draft: Draft = {
      state: state.status.state,
      nextSeq: state.head + 1,
      lastMessageSeq,
      consumedSeq: state.consumedSeq,
      cancelRequested: state.cancelRequested,
      mayTake: held === undefined && !heldElsewhere,
      at: Math.max(parts.now(), lastAt),
    }
    const batch = takeBatch(queue, draft)
    if (queue.length === 0) backlogBytes = 0
    if (batch.records.length > 0 || batch.lease !== undefined) return batch
    settle(batch)
    return undefined
  }

  async function commit(batch: Batch): Promise<void> {
    const firstSeq = state.head + 1
    const outcome = await store.append(live.id, appendOf(batch))
    switch (outcome.outcome) {
      case 'appended':
        creating = undefined
        held = batch.lease === 'release' ? undefined : (outcome.fence ?? held)
        heldElsewhere = false
        apply(batch.records.map(({ at, body }, index) => ({ seq: firstSeq + index, at, body })))
        settle(batch)
        saveSnapshotIfWorth()
        if (batch.lease === 'release') parts.released(live)
        return
      case 'conflict':
        queue.unshift(...batch.entries)
        if (outcome.head === 0) return abandon(taskNotFound(live.id))
        // Whoever held the lease may have given it back with what was appended.
        heldElsewhere = false
        return catchUp()
      case 'duplicate': {
        // Only the message that carried the key is refused; the rest is decided anew.
        const [refused] = batch.entries.splice(batch.keyIndex as number, 1)
        queue.unshift(...batch.entries)
        refused?.done?.reject(new DuplicateMessage(outcome.taskId, outcome.hash))
        if (creating !== undefined) abandon(new DuplicateMessage(outcome.taskId, outcome.hash))
        return
      }
      case 'held':
        heldElsewhere = true
        queue.unshift(...batch.entries)
        return
      case 'fenced':
        queue.unshift(...batch.entries)
        await catchUp()
        // Ended by somebody else: that is an answer to everything still queued. Taken over is not.
        if (!isTerminal(state.status.state)) live.loseLease()
    }
  }

  function appendOf(batch: Batch): Append {
    const last = batch.status
    const statusAt = last === undefined ? undefined : batch.statusAt
    const take = batch.lease === 'take' || (creating !== undefined && batch.lease !== 'release')
    const change = {
      ...(last !== undefined && statusAt !== undefined ? { status: last, statusAt } : {}),
      ...(batch.consumedSeq !== state.consumedSeq ? { consumedSeq: batch.consumedSeq } : {}),
      ...(batch.due !== undefined ? { due: batch.due } : {}),
    }
    return {
      expectedSeq: state.head,
      records: batch.records,
      ...(held !== undefined ? { fence: held } : {}),
      ...(creating !== undefined ? { create: newTask(creating, batch) } : { change }),
      ...(batch.idempotency !== undefined ? { idempotency: batch.idempotency } : {}),
      ...(take && held === undefined ? { take: { holder: parts.holder, ttlMs: store.leaseTtlMs } } : {}),
      ...(batch.lease === 'release' ? { release: true } : {}),
    }
  }

  async function catchUp(): Promise<void> {
    apply(await store.read(live.id, state.head))
    if (isTerminal(state.status.state)) held = undefined
  }

  function apply(records: readonly LogRecord[]): void {
    for (const record of records) {
      // What was read while our own append was under way is in both.
      if (record.seq <= state.head) continue
      fold(state, record, coalesceText)
      lastAt = Math.max(lastAt, record.at)
      if (record.body.type === 'message') lastMessageSeq = record.seq
      const event = eventOf(live.id, state.contextId, record.body)
      if (event !== undefined) tail.push({ seq: record.seq, event })
      live.observe?.(record)
    }
    if (tail.length > maxTail) {
      live.tailFrom = (tail[tail.length - maxTail / 2 - 1] as TailEvent).seq
      tail = tail.slice(-maxTail / 2)
    }
    if (records.length > 0) notify()
  }

  function notify(): void {
    for (const listener of listeners) listener()
  }

  function saveSnapshotIfWorth(): void {
    const grown = state.bytes - snapshotBytes
    const settled = isTerminal(state.status.state)
    // Anew only when it has doubled: with one every 2 MB, 75 MB in 300 events took SQLite 21 s; so it takes 2 s.
    if (grown < (settled ? snapshotFromBytes : Math.max(snapshotEveryBytes, snapshotBytes))) return
    snapshotBytes = state.bytes
    // A snapshot only saves time: the log is what counts, so nobody waits and a failure is told to us alone.
    store.saveSnapshot(live.id, snapshotOf(state)).catch((cause: unknown) => parts.warn('snapshot not saved', { cause }))
  }

  function abandon(reason: unknown): void {
    if (broken !== undefined) return
    broken = reason
    const entries = queue.splice(0)
    for (const { done } of entries) done?.reject(reason instanceof DuplicateMessage ? reason : unavailable(reason))
    releaseWaiters()
    notify()
    parts.lost(live, reason)
  }
}

function unavailable(cause: unknown): A2AError {
  return cause instanceof A2AError ? cause : new A2AError('UNAVAILABLE', 'The task cannot be written now', {}, { cause })
}

/** What streams carry of a record, or nothing if it is internal. */
export function eventOf(taskId: string, contextId: string, body: RecordBody): StreamEvent | undefined {
  if (body.type === 'status') {
    const { type: _, ...rest } = body
    return { statusUpdate: { taskId, contextId, ...rest } }
  }
  if (body.type === 'artifact') {
    const { type: _, ...rest } = body
    return { artifactUpdate: { taskId, contextId, ...rest } }
  }
  return undefined
}
