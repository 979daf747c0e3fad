/**
 * The decisions about a task's state, each as an intent that is decided when its turn comes (see loaded-task.ts), and the content of one
 * append: all queued intents, each decided against the state that the ones before it leave behind.
 */
import type { RecordBody, TurnOptions } from '../../model/record.ts'
import { isInterrupted, isTerminal, type TaskState } from '../../model/state.ts'
import type { Message, Struct, TaskStatus } from '../../model/task.ts'
import type { DueTime, IdempotencyKey, NewTask, TaskChange } from '../../stores/store.ts'
import type { AgentOptions } from '../contract.ts'
import { consumedSeqOf, earlierOf } from './fold.ts'

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
  /** What changes in the row of the task. */
  readonly change: Writable<TaskChange>
  idempotency?: IdempotencyKey
  /** The index of the entry with the idempotency key. */
  keyIndex?: number
  lease?: 'take' | 'release'
  /** Whether all of it is valid at any position. */
  anyPosition: boolean
}

export type Writable<T> = { -readonly [K in keyof T]: T[K] }

/** Takes intents from the queue, in order, as far as they fit into one append. `draft` ends as the state after it. */
export function takeBatch(queue: QueuedIntent[], draft: TaskDraft): AppendBatch {
  const { consumedSeq } = draft
  const batch: AppendBatch = { entries: [], firstSeqs: [], records: [], change: {}, anyPosition: true }
  for (const entry of queue) {
    const write = decideIntent(entry, draft)
    // One key per append: the result of the store applies to the whole append.
    if (write?.idempotency !== undefined && batch.idempotency !== undefined) break
    batch.entries.push(entry)
    batch.firstSeqs.push(write === undefined || write.bodies.length === 0 ? undefined : draft.nextSeq)
    if (write !== undefined) addWrite(batch, write, draft)
  }
  queue.splice(0, batch.entries.length)
  if (draft.consumedSeq !== consumedSeq) batch.change.consumedSeq = draft.consumedSeq
  return batch
}

function decideIntent(entry: QueuedIntent, draft: TaskDraft): PlannedWrite | undefined {
  if (typeof entry.intent === 'function') return entry.intent(draft)
  return isTerminal(draft.state) ? undefined : { bodies: [entry.intent] }
}

function addWrite(batch: AppendBatch, write: PlannedWrite, draft: TaskDraft): void {
  const { change } = batch
  for (const body of write.bodies) {
    batch.records.push({ at: draft.at, body })
    if (body.type === 'status') {
      draft.state = body.status.state
      draft.statusSeq = draft.nextSeq
      change.status = body.status
      change.statusAt = draft.at
    } else if (body.type === 'message') {
      draft.lastMessageSeq = draft.nextSeq
      draft.deadlineAt = earlierOf(draft.deadlineAt, body.options?.deadlineAt)
    } else if (body.type === 'cancel') draft.cancelRequested = true
    else draft.consumedSeq = Math.max(draft.consumedSeq, consumedSeqOf(body))
    draft.nextSeq += 1
  }
  batch.anyPosition &&= write.anyPosition === true
  if (write.due !== undefined) change.due = write.due
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
export function initialTaskRow(created: NewTask, { change: { due, ...change } }: AppendBatch): NewTask {
  return { ...created, ...change, ...(due !== undefined && due !== null ? { due } : {}) }
}

/** Resolves the promises of the queued intents. */
export function resolveBatch(batch: AppendBatch): void {
  batch.entries.forEach((entry, index) => entry.done?.resolve(batch.firstSeqs[index]))
}

export function statusAt(at: number, state: TaskState, message?: Message): TaskStatus {
  const timestamp = new Date(at).toISOString()
  return message === undefined ? { state, timestamp } : { state, message, timestamp }
}

function statusBody(at: number, state: TaskState, message?: Message, metadata?: Struct): RecordBody {
  return { type: 'status', status: statusAt(at, state, message), ...(metadata !== undefined ? { metadata } : {}) }
}

export interface TurnStart {
  readonly turn: number
  readonly attempt: number
}

/** Opens the task with the first message, and starts its first turn. */
export function openTask(
  message: Message,
  options: TurnOptions | undefined,
  idempotency: IdempotencyKey | undefined,
  limits: AgentOptions,
  working: boolean,
): Intent {
  return (draft) => ({
    bodies: [
      { type: 'message', message, ...(options !== undefined ? { options } : {}) },
      statusBody(draft.at, 'TASK_STATE_SUBMITTED'),
      { type: 'turn-started', turn: 1, attempt: 1, consumedSeq: draft.nextSeq },
      ...(working ? [statusBody(draft.at, 'TASK_STATE_WORKING')] : []),
    ],
    ...(idempotency !== undefined ? { idempotency } : {}),
    due: turnDue({ at: draft.at, deadlineAt: options?.deadlineAt }, limits),
  })
}

/** Only takes the lease of a task that no other process holds. */
export const takeLease: Intent = (draft) =>
  isTerminal(draft.state) || !draft.canTakeLease ? undefined : { bodies: [], lease: 'take' }

/** Starts another turn of an open task under our lease: the task is WORKING from here on. */
export function startTurn({ turn, attempt }: TurnStart, consumedSeq: number, limits: AgentOptions): Intent {
  return (draft) => {
    if (isTerminal(draft.state)) return undefined
    const bodies: RecordBody[] = [{ type: 'turn-started', turn, attempt, consumedSeq }]
    if (draft.state !== 'TASK_STATE_WORKING') bodies.push(statusBody(draft.at, 'TASK_STATE_WORKING'))
    return { bodies, due: turnDue(draft, limits) }
  }
}

/**
 * A message for an open task. It takes the lease too, unless another process has it: the holder processes the message. Writes
 * nothing to a task that has ended, or to a busy one that rejects messages (B-43, B-45).
 */
export function deliverMessage(
  message: Message,
  options: TurnOptions | undefined,
  idempotency: IdempotencyKey | undefined,
  { whenBusy }: AgentOptions,
): Intent {
  return (draft) => {
    if (isTerminal(draft.state) || (whenBusy === 'reject' && !isAwaitingInput(draft))) return undefined
    return {
      bodies: [{ type: 'message', message, ...(options !== undefined ? { options } : {}) }],
      ...(idempotency !== undefined ? { idempotency } : {}),
      ...(draft.canTakeLease ? { lease: 'take' } : {}),
      // A task that rejects messages while busy must be decided on its current state.
      ...(whenBusy === 'reject' ? {} : { anyPosition: true }),
    }
  }
}

/** The same, but only at the end of the log as read: if another process holds the lease, the write is refused. */
export function atLogEnd(step: PlannedWrite | undefined): PlannedWrite | undefined {
  if (step === undefined) return undefined
  const { anyPosition: _, ...rest } = step
  return rest
}

export function requestCancel(metadata: Struct | undefined): Intent {
  return (draft) =>
    isTerminal(draft.state) || draft.cancelRequested
      ? undefined
      : { bodies: [{ type: 'cancel', ...(metadata !== undefined ? { metadata } : {}) }], anyPosition: true }
}

/** WORKING, or back to it. Dropped once the task is terminal. */
export function reportWorking(message?: Message, metadata?: Struct): Intent {
  return (draft) =>
    isTerminal(draft.state) ? undefined : { bodies: [statusBody(draft.at, 'TASK_STATE_WORKING', message, metadata)] }
}

/** A question in the middle of a turn: the task waits, the turn continues, the lease stays. */
export function askQuestion(
  state: TaskState,
  message: Message,
  question: { readonly id: string; readonly turn: number; readonly isNew: boolean },
  limits: AgentOptions,
): Intent {
  return (draft) =>
    isTerminal(draft.state)
      ? undefined
      : {
          bodies: [
            ...(question.isNew
              ? [{ type: 'question', questionId: question.id, turn: question.turn } satisfies RecordBody]
              : []),
            statusBody(draft.at, state, message),
          ],
          due: inputDue(draft, limits),
        }
}

export function answerQuestion(questionId: string, messageSeq: number, limits: AgentOptions): Intent {
  return (draft) =>
    isTerminal(draft.state)
      ? undefined
      : {
          bodies: [{ type: 'answer', questionId, messageSeq }, statusBody(draft.at, 'TASK_STATE_WORKING')],
          due: turnDue(draft, limits),
        }
}

/** The question of a running turn timed out, and the turn is to continue (S2-16). */
export function continueUnanswered(
  asked: QuestionRef,
  questionId: string,
  notice: Message,
  limits: AgentOptions,
): Intent {
  return (draft) =>
    isStillOpen(asked, draft)
      ? {
          bodies: [{ type: 'answer', questionId, messageSeq: 0 }, statusBody(draft.at, 'TASK_STATE_WORKING', notice)],
          due: turnDue(draft, limits),
        }
      : undefined
}

/** The same if the turn that asked has ended: the next one starts without a message. */
export function startUnanswered(asked: QuestionRef, start: TurnStart, notice: Message, limits: AgentOptions): Intent {
  const { turn, attempt } = start
  return (draft) =>
    isStillOpen(asked, draft) && draft.canTakeLease
      ? {
          bodies: [
            { type: 'turn-started', turn, attempt, consumedSeq: draft.consumedSeq },
            statusBody(draft.at, 'TASK_STATE_WORKING', notice),
          ],
          due: turnDue(draft, limits),
          lease: 'take',
        }
      : undefined
}

/** The question, identified by its status. The task may have asked another one since. */
export interface QuestionRef {
  readonly statusSeq: number
}

function isStillOpen({ statusSeq }: QuestionRef, draft: TaskDraft): boolean {
  return draft.statusSeq === statusSeq && isAwaitingInput(draft)
}

/** The task waits for input, and no message has arrived. */
function isAwaitingInput(draft: TaskDraft): boolean {
  return isInterrupted(draft.state) && draft.lastMessageSeq <= draft.consumedSeq
}

export interface TurnEnding {
  readonly state: TaskState
  readonly message?: Message
  readonly metadata?: Struct
  /** Only for the log. */
  readonly note?: string
  /** The agent chose this state itself, so a pending cancel does not override it. */
  readonly explicit?: boolean
}

/**
 * The end of a turn. COMPLETED is written only if no message waits: the check and the write are one decision. Other terminal states
 * drop waiting messages, with a note.
 */
export function endTurn(turn: number, ending: TurnEnding, limits: AgentOptions): Intent {
  return (draft) => {
    if (isTerminal(draft.state)) return undefined
    const note: RecordBody[] = ending.note === undefined ? [] : [{ type: 'note', text: ending.note }]
    const { state, message, metadata } = ending
    const isFinal = isTerminal(state) && ending.explicit === true
    if (draft.cancelRequested && !isFinal) return finishTask(draft, turn, note, { state: 'TASK_STATE_CANCELED' })
    const waits = draft.lastMessageSeq > draft.consumedSeq
    if (waits && (state === 'TASK_STATE_COMPLETED' || isInterrupted(state))) {
      // The input that the agent asks for may already wait: the agent gets that message before the client is asked for one.
      const last = message === undefined ? [] : [statusBody(draft.at, 'TASK_STATE_WORKING', message, metadata)]
      return { bodies: [...note, ...last, { type: 'turn-ended', turn }] }
    }
    if (isTerminal(state)) return finishTask(draft, turn, note, ending)
    const status = statusBody(draft.at, state, message, metadata)
    return { bodies: [...note, status], lease: 'release', due: inputDue(draft, limits) }
  }
}

/** Ends the task in any state. */
export function endTask(turn: number, ending: TurnEnding): Intent {
  return (draft) => {
    if (isTerminal(draft.state)) return undefined
    const note: RecordBody[] = ending.note === undefined ? [] : [{ type: 'note', text: ending.note }]
    return finishTask(draft, turn, note, ending)
  }
}

/** The input timed out: the task fails, unless an answer arrived after all. */
export function expireInput(asked: QuestionRef, turn: number, ending: TurnEnding): Intent {
  return (draft) => (isStillOpen(asked, draft) ? finishTask(draft, turn, [], ending) : undefined)
}

/** The turn that consumed these messages timed out, unless it has ended after all. */
export function expireTurn(consumedSeq: number, turn: number, ending: TurnEnding): Intent {
  return (draft) => (draft.consumedSeq === consumedSeq ? endTask(turn, ending)(draft) : undefined)
}

function finishTask(
  draft: TaskDraft,
  turn: number,
  note: RecordBody[],
  { state, message, metadata }: TurnEnding,
): PlannedWrite {
  const dropped = draft.lastMessageSeq > draft.consumedSeq
  return {
    bodies: [
      ...note,
      ...(dropped
        ? ([
            { type: 'note', text: `queued messages were dropped: ${state}` },
            { type: 'turn-ended', turn, consumedSeq: draft.lastMessageSeq },
          ] satisfies RecordBody[])
        : []),
      statusBody(draft.at, state, message, metadata),
    ],
    due: null,
    lease: 'release',
  }
}

type DueInputs = Pick<TaskDraft, 'at' | 'deadlineAt'>

function turnDue({ at, deadlineAt }: DueInputs, { turnTimeoutMs }: AgentOptions): DueTime | null {
  const until = earlierOf(Number.isFinite(turnTimeoutMs) ? at + turnTimeoutMs : undefined, deadlineAt)
  return until === undefined ? null : { kind: 'turn', at: until }
}

function inputDue({ at, deadlineAt }: DueInputs, { inputTimeout }: AgentOptions): DueTime | null {
  const until = earlierOf(inputTimeout === undefined ? undefined : at + inputTimeout.afterMs, deadlineAt)
  return until === undefined ? null : { kind: 'input', at: until }
}
