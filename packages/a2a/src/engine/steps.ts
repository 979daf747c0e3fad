/** The decisions about a task's state, each as an intent that is decided when its turn comes (see live.ts). */
import type { RecordBody, TurnOptions } from '../model/record.ts'
import { isInterrupted, isTerminal } from '../model/state.ts'
import type { TaskState } from '../model/state.ts'
import type { Message, Struct, TaskStatus } from '../model/task.ts'
import type { DueTime, IdempotencyKey } from '../stores/store.ts'
import type { AgentOptions } from './contract.ts'
import type { Draft, Intent, Step } from './live.ts'

export function statusAt(at: number, state: TaskState, message?: Message): TaskStatus {
  return { state, ...(message !== undefined ? { message } : {}), timestamp: new Date(at).toISOString() }
}

function statusBody(at: number, state: TaskState, message?: Message, metadata?: Struct): RecordBody {
  return { type: 'status', status: statusAt(at, state, message), ...(metadata !== undefined ? { metadata } : {}) }
}

export interface TurnStart {
  readonly turn: number
  readonly attempt: number
}

/** Opens the task with the first message, and starts its first turn. */
export function open(
  message: Message,
  options: TurnOptions | undefined,
  idempotency: IdempotencyKey,
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
    idempotency,
    due: turnDue(draft.at, limits),
  })
}

/** Starts another turn of an open task: it is WORKING from here on. */
export function startTurn({ turn, attempt }: TurnStart, consumedSeq: number, limits: AgentOptions): Intent {
  return (draft) => {
    if (isTerminal(draft.state)) return undefined
    const bodies: RecordBody[] = [{ type: 'turn-started', turn, attempt, consumedSeq }]
    if (draft.state !== 'TASK_STATE_WORKING') bodies.push(statusBody(draft.at, 'TASK_STATE_WORKING'))
    return { bodies, due: turnDue(draft.at, limits), ...(draft.mayTake ? { lease: 'take' } : {}) }
  }
}

/** A message for an open task. The lease is taken with it unless somebody has it: whoever holds it answers the message. */
export function deliver(message: Message, options: TurnOptions | undefined, idempotency: IdempotencyKey): Intent {
  return (draft) =>
    isTerminal(draft.state)
      ? undefined
      : {
          bodies: [{ type: 'message', message, ...(options !== undefined ? { options } : {}) }],
          idempotency,
          ...(draft.mayTake ? { lease: 'take' } : {}),
        }
}

/** WORKING, or back to it. Dropped once the task is terminal. */
export function work(message?: Message, metadata?: Struct): Intent {
  return (draft) =>
    isTerminal(draft.state) ? undefined : { bodies: [statusBody(draft.at, 'TASK_STATE_WORKING', message, metadata)] }
}

/** A question in the middle of a turn: the task waits, the turn goes on, the lease stays. */
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
          due: inputDue(draft.at, limits),
        }
}

export function answerQuestion(questionId: string, messageSeq: number, limits: AgentOptions): Intent {
  return (draft) =>
    isTerminal(draft.state)
      ? undefined
      : {
          bodies: [{ type: 'answer', questionId, messageSeq }, statusBody(draft.at, 'TASK_STATE_WORKING')],
          due: turnDue(draft.at, limits),
        }
}

export interface Ending {
  readonly state: TaskState
  readonly message?: Message
  readonly metadata?: Struct
  /** For the log alone. */
  readonly note?: string
  /** The agent chose this state itself, so a cancel that was asked for does not overrule it. */
  readonly explicit?: boolean
}

/**
 * The end of a turn. COMPLETED is written only if no message waits: the check and the write are one decision.
 * Other terminal states drop what waits, with a note.
 */
export function endTurn(turn: number, ending: Ending, limits: AgentOptions): Intent {
  return (draft) => {
    if (isTerminal(draft.state)) return undefined
    const note: RecordBody[] = ending.note === undefined ? [] : [{ type: 'note', text: ending.note }]
    if (draft.cancelRequested && ending.explicit !== true) return finish(draft, turn, note, { state: 'TASK_STATE_CANCELED' })
    const waits = draft.lastMessageSeq > draft.consumedSeq
    if (waits && ending.state === 'TASK_STATE_COMPLETED') {
      const last = ending.message === undefined ? [] : [statusBody(draft.at, 'TASK_STATE_WORKING', ending.message)]
      return { bodies: [...note, ...last, { type: 'turn-ended', turn }] }
    }
    if (isTerminal(ending.state)) return finish(draft, turn, note, ending)
    const status = statusBody(draft.at, ending.state, ending.message, ending.metadata)
    if (waits) return { bodies: [...note, status] }
    return { bodies: [...note, status], lease: 'release', due: inputDue(draft.at, limits) }
  }
}

/** Ends the task whatever it is doing. */
export function endTask(turn: number, ending: Ending): Intent {
  return (draft) => {
    if (isTerminal(draft.state)) return undefined
    const note: RecordBody[] = ending.note === undefined ? [] : [{ type: 'note', text: ending.note }]
    return finish(draft, turn, note, ending)
  }
}

/** Nobody answered in time: the task fails, unless an answer came after all. */
export function expireInput(turn: number, ending: Ending): Intent {
  return (draft) =>
    isInterrupted(draft.state) && draft.lastMessageSeq <= draft.consumedSeq ? finish(draft, turn, [], ending) : undefined
}

function finish(draft: Draft, turn: number, note: RecordBody[], { state, message, metadata }: Ending): Step {
  const dropped = draft.lastMessageSeq > draft.consumedSeq
  return {
    bodies: [
      ...note,
      ...(dropped
        ? ([
            { type: 'note', text: `messages that waited were dropped: ${state}` },
            { type: 'turn-ended', turn, consumedSeq: draft.lastMessageSeq },
          ] satisfies RecordBody[])
        : []),
      statusBody(draft.at, state, message, metadata),
    ],
    due: null,
    lease: 'release',
  }
}

function turnDue(at: number, { turnTimeoutMs }: AgentOptions): DueTime | null {
  return Number.isFinite(turnTimeoutMs) ? { kind: 'turn', at: at + turnTimeoutMs } : null
}

function inputDue(at: number, { inputTimeout }: AgentOptions): DueTime | null {
  return inputTimeout === undefined ? null : { kind: 'input', at: at + inputTimeout.afterMs }
}
