/** The decisions about a task's state, each as an intent that is decided when its turn comes (see loaded-task.ts). */
import type { RecordBody, TurnOptions } from '../../model/record.ts'
import { isInterrupted, isTerminal, type TaskState } from '../../model/state.ts'
import type { Message, Struct, TaskStatus } from '../../model/task.ts'
import type { DueTime, IdempotencyKey } from '../../stores/store.ts'
import type { AgentOptions } from '../contract.ts'
import type { TaskDraft, Intent, PlannedWrite } from './append-batch.ts'
import { earlierOf } from './fold.ts'

export function statusAt(at: number, state: TaskState, message?: Message): TaskStatus {
  return message === undefined ? { state, timestamp: timestamp(at) } : { state, message, timestamp: timestamp(at) }
}

let lastAt = 0
let lastText = ''

/** A task has three states in one millisecond, and a busy server many tasks: the text is created once. */
function timestamp(at: number): string {
  if (at !== lastAt || lastText === '') {
    lastAt = at
    lastText = new Date(at).toISOString()
  }
  return lastText
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
