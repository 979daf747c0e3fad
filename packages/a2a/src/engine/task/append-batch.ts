/** The content of one append: all queued intents, each decided against the state that the ones before it leave behind. */
import { A2AError } from '../../model/error.ts'
import type { LogRecord, RecordBody } from '../../model/record.ts'
import { type TaskState, isTerminal } from '../../model/state.ts'
import type { Append, DueTime, IdempotencyKey, NewTask, TaskChange } from '../../stores/store.ts'
import { earlierOf } from './fold.ts'

/** The state that an intent sees, after everything queued before it. */
export interface TaskDraft {
  state: TaskState
  /** The seq of the record with the current status. */
  statusSeq: number
  /** The seq that the next record will get. */
  nextSeq: number
  /** The seq of the newest message in the log; above `consumedSeq` it waits. */
  lastMessageSeq: number
  consumedSeq: number
  cancelRequested: boolean
  /** The time by which the task must have ended. */
  deadlineAt: number | undefined
  /** Whether the lease can be taken: no known holder, or an earlier intent of this append releases it. */
  canTakeLease: boolean
  /** The current time, but never before the last record: timestamps of a task never decrease (B-48). */
  at: number
}

/** The records and changes that an intent wants to write. */
export interface PlannedWrite {
  readonly bodies: readonly RecordBody[]
  readonly due?: DueTime | null
  readonly idempotency?: IdempotencyKey
  readonly lease?: 'take' | 'release'
  /** Valid at any position in the log of an unfinished task: a writer without the lease need not hit the end of the log. */
  readonly anyPosition?: true
}

/** Returns `undefined` if there is nothing left to write. */
export type Intent = (draft: TaskDraft) => PlannedWrite | undefined

/** The seq of the first record, or `undefined` if the intent wrote nothing. */
export type FirstSeq = number | undefined

export interface QueuedIntent {
  readonly intent: Intent | RecordBody
  readonly done?: { resolve(written: FirstSeq): void; reject(reason: unknown): void }
}

export interface AppendBatch {
  readonly entries: QueuedIntent[]
  readonly firstSeqs: FirstSeq[]
  readonly records: { readonly at: number; readonly body: RecordBody }[]
  consumedSeq: number
  status?: NewTask['status']
  statusAt?: number
  due?: DueTime | null
  idempotency?: IdempotencyKey
  /** The index of the entry with the idempotency key. */
  keyIndex?: number
  lease?: 'take' | 'release'
  /** Whether all of it is valid at any position. */
  anyPosition: boolean
}

/** Takes intents from the queue, in order, as far as they fit into one append. `draft` ends as the state after it. */
export function takeBatch(queue: QueuedIntent[], draft: TaskDraft): AppendBatch {
  const batch: AppendBatch = {
    entries: [],
    firstSeqs: [],
    records: [],
    consumedSeq: draft.consumedSeq,
    anyPosition: true,
  }
  for (const entry of queue) {
    const write = decideIntent(entry, draft)
    // One key per append: the result of the store applies to the whole append.
    if (write?.idempotency !== undefined && batch.idempotency !== undefined) break
    batch.entries.push(entry)
    batch.firstSeqs.push(write === undefined || write.bodies.length === 0 ? undefined : draft.nextSeq)
    if (write !== undefined) addWrite(batch, write, draft)
  }
  queue.splice(0, batch.entries.length)
  batch.consumedSeq = draft.consumedSeq
  return batch
}

function decideIntent(entry: QueuedIntent, draft: TaskDraft): PlannedWrite | undefined {
  if (typeof entry.intent === 'function') return entry.intent(draft)
  return isTerminal(draft.state) ? undefined : { bodies: [entry.intent] }
}

function addWrite(batch: AppendBatch, write: PlannedWrite, draft: TaskDraft): void {
  for (const body of write.bodies) {
    batch.records.push({ at: draft.at, body })
    if (body.type === 'status') {
      draft.state = body.status.state
      draft.statusSeq = draft.nextSeq
      batch.status = body.status
      batch.statusAt = draft.at
    } else if (body.type === 'message') {
      draft.lastMessageSeq = draft.nextSeq
      draft.deadlineAt = earlierOf(draft.deadlineAt, body.options?.deadlineAt)
    } else if (body.type === 'cancel') draft.cancelRequested = true
    else if (body.type === 'turn-started') draft.consumedSeq = Math.max(draft.consumedSeq, body.consumedSeq)
    else if (body.type === 'answer' || body.type === 'steered')
      draft.consumedSeq = Math.max(draft.consumedSeq, body.messageSeq)
    else if (body.type === 'turn-ended') draft.consumedSeq = Math.max(draft.consumedSeq, body.consumedSeq ?? 0)
    draft.nextSeq += 1
  }
  batch.anyPosition &&= write.anyPosition === true
  if (write.due !== undefined) batch.due = write.due
  if (write.idempotency !== undefined) {
    batch.idempotency = write.idempotency
    batch.keyIndex = batch.entries.length - 1
  }
  if (write.lease !== undefined) {
    batch.lease = write.lease
    draft.canTakeLease = write.lease === 'release'
  }
}

/** The row of a new task as its first append leaves it. */
export function initialTaskRow(base: NewTask, batch: AppendBatch): NewTask {
  return {
    ...base,
    ...(batch.status !== undefined && batch.statusAt !== undefined
      ? { status: batch.status, statusAt: batch.statusAt }
      : {}),
    consumedSeq: batch.consumedSeq,
    ...(batch.due !== undefined && batch.due !== null ? { due: batch.due } : {}),
  }
}

/** The changes of an append to the row of an existing task. */
export function changeOf(batch: AppendBatch, consumedSeq: number): TaskChange {
  const change: { -readonly [K in keyof TaskChange]: TaskChange[K] } = {}
  if (batch.status !== undefined && batch.statusAt !== undefined) {
    change.status = batch.status
    change.statusAt = batch.statusAt
  }
  if (batch.consumedSeq !== consumedSeq) change.consumedSeq = batch.consumedSeq
  if (batch.due !== undefined) change.due = batch.due
  return change
}

/** Resolves the promises of the queued intents. */
export function resolveBatch(batch: AppendBatch): void {
  batch.entries.forEach((entry, index) => entry.done?.resolve(batch.firstSeqs[index]))
}

/** What is being appended, and from which seq on. */
export interface PendingAppend {
  readonly firstSeq: number
  readonly records: Append['records']
}

/**
 * A read of other processes' records may return our own append before the store confirms it. Then use our message object: its
 * redacted content is attached to the object and not to its text.
 */
export function withOwnMessage(read: LogRecord, { firstSeq, records }: PendingAppend): LogRecord {
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

export function taskUnwritable(cause: unknown): A2AError {
  return cause instanceof A2AError
    ? cause
    : new A2AError('UNAVAILABLE', 'The task cannot be written now', {}, { cause })
}

/**
 * A database that failed over to a lagging replica, or a disk that lost its last writes, holds less than it confirmed as durable.
 * The state in memory is then invalid: the next reader loads what is stored.
 */
export function logTruncated(head: number, known: number): A2AError {
  const cause = new Error(`the log ends at ${head} but had reached ${known}: the store lost committed records`)
  return new A2AError('UNAVAILABLE', 'The task changed unexpectedly in the store', {}, { cause })
}
