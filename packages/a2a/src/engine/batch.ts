/**
 * What one append is made of: as many intents as were queued, each decided against the
 * state that the ones before it leave behind.
 */
import type { LogRecord, RecordBody } from '../model/record.ts'
import { isTerminal } from '../model/state.ts'
import type { TaskState } from '../model/state.ts'
import { earlier } from './fold.ts'
import type { Append, DueTime, IdempotencyKey, NewTask, TaskChange } from '../stores/store.ts'

/** What an intent sees: the state after everything queued before it. */
export interface Draft {
  state: TaskState
  /** Of the record that brought the state. */
  statusSeq: number
  /** The seq that the next record will get. */
  nextSeq: number
  /** Of the newest message in the log; above `consumedSeq` it waits. */
  lastMessageSeq: number
  consumedSeq: number
  cancelRequested: boolean
  /** By then the task is to have ended. */
  deadlineAt: number | undefined
  /** Whether the lease can be had: nobody is known to hold it, or what was queued before gives it back. */
  mayTake: boolean
  /** Now, but never before the last record: timestamps of a task do not go back (B-48). */
  at: number
}

/** What an intent wants written. */
export interface Step {
  readonly bodies: readonly RecordBody[]
  readonly due?: DueTime | null
  readonly idempotency?: IdempotencyKey
  readonly lease?: 'take' | 'release'
  /** It says the same wherever in the log of an unfinished task it stands: who does not own the task need not hit its end. */
  readonly anywhere?: true
}

/** Nothing to write any more: `undefined`. */
export type Intent = (draft: Draft) => Step | undefined

/** The first record's seq, or `undefined` if the intent had nothing to write. */
export type Written = number | undefined

export interface Entry {
  readonly intent: Intent | RecordBody
  readonly done?: { resolve(written: Written): void; reject(reason: unknown): void }
}

export interface Batch {
  readonly entries: Entry[]
  readonly firsts: Written[]
  readonly records: { readonly at: number; readonly body: RecordBody }[]
  consumedSeq: number
  status?: NewTask['status']
  statusAt?: number
  due?: DueTime | null
  idempotency?: IdempotencyKey
  /** Which entry brought the key. */
  keyIndex?: number
  lease?: 'take' | 'release'
  /** Whether all of it may stand anywhere. */
  anywhere: boolean
}

/** Takes from the queue, in order, as far as it fits one append. `draft` ends as the state after it. */
export function takeBatch(queue: Entry[], draft: Draft): Batch {
  const batch: Batch = { entries: [], firsts: [], records: [], consumedSeq: draft.consumedSeq, anywhere: true }
  for (const entry of queue) {
    const step = decideEntry(entry, draft)
    // One key an append: the store answers for the whole of it.
    if (step?.idempotency !== undefined && batch.idempotency !== undefined) break
    batch.entries.push(entry)
    batch.firsts.push(step === undefined || step.bodies.length === 0 ? undefined : draft.nextSeq)
    if (step !== undefined) addStep(batch, step, draft)
  }
  queue.splice(0, batch.entries.length)
  batch.consumedSeq = draft.consumedSeq
  return batch
}

function decideEntry(entry: Entry, draft: Draft): Step | undefined {
  if (typeof entry.intent === 'function') return entry.intent(draft)
  return isTerminal(draft.state) ? undefined : { bodies: [entry.intent] }
}

function addStep(batch: Batch, step: Step, draft: Draft): void {
  for (const body of step.bodies) {
    batch.records.push({ at: draft.at, body })
    if (body.type === 'status') {
      draft.state = body.status.state
      draft.statusSeq = draft.nextSeq
      batch.status = body.status
      batch.statusAt = draft.at
    } else if (body.type === 'message') {
      draft.lastMessageSeq = draft.nextSeq
      draft.deadlineAt = earlier(draft.deadlineAt, body.options?.deadlineAt)
    } else if (body.type === 'cancel') draft.cancelRequested = true
    else if (body.type === 'turn-started') draft.consumedSeq = Math.max(draft.consumedSeq, body.consumedSeq)
    else if (body.type === 'answer' || body.type === 'steered')
      draft.consumedSeq = Math.max(draft.consumedSeq, body.messageSeq)
    else if (body.type === 'turn-ended') draft.consumedSeq = Math.max(draft.consumedSeq, body.consumedSeq ?? 0)
    draft.nextSeq += 1
  }
  batch.anywhere &&= step.anywhere === true
  if (step.due !== undefined) batch.due = step.due
  if (step.idempotency !== undefined) {
    batch.idempotency = step.idempotency
    batch.keyIndex = batch.entries.length - 1
  }
  if (step.lease !== undefined) {
    batch.lease = step.lease
    draft.mayTake = step.lease === 'release'
  }
}

/** The row of a new task as its first append leaves it. */
export function newTask(base: NewTask, batch: Batch): NewTask {
  return {
    ...base,
    ...(batch.status !== undefined && batch.statusAt !== undefined
      ? { status: batch.status, statusAt: batch.statusAt }
      : {}),
    consumedSeq: batch.consumedSeq,
    ...(batch.due !== undefined && batch.due !== null ? { due: batch.due } : {}),
  }
}

/** What an append changes in the row of a task that is already there. */
export function changeOf(batch: Batch, consumedSeq: number): TaskChange {
  const change: { -readonly [K in keyof TaskChange]: TaskChange[K] } = {}
  if (batch.status !== undefined && batch.statusAt !== undefined) {
    change.status = batch.status
    change.statusAt = batch.statusAt
  }
  if (batch.consumedSeq !== consumedSeq) change.consumedSeq = batch.consumedSeq
  if (batch.due !== undefined) change.due = batch.due
  return change
}

/** Tells those who queued what became of it. */
export function settle(batch: Batch): void {
  batch.entries.forEach((entry, index) => entry.done?.resolve(batch.firsts[index]))
}

/** What is being appended, and from which seq on. */
export interface Writing {
  readonly firstSeq: number
  readonly records: Append['records']
}

/**
 * What we append may be read, by a look at what others did, before the store has told us that it is written. A message is
 * then the one that we have: what it held before it was redacted hangs on the object and not on its text.
 */
export function asWritten(read: LogRecord, { firstSeq, records }: Writing): LogRecord {
  const body = records[read.seq - firstSeq]?.body
  if (body?.type !== 'message' || read.body.type !== 'message') return read
  return body.message.messageId === read.body.message.messageId ? { ...read, body } : read
}
