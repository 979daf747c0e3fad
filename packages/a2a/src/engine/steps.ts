/** The decisions about a task's state, each as an intent that is decided when its turn comes (see live.ts). */
import type { RecordBody, TurnOptions } from '../model/record.ts'
import { isInterrupted, isTerminal } from '../model/state.ts'
import type { TaskState } from '../model/state.ts'
import type { Message, Struct, TaskStatus } from '../model/task.ts'
import type { DueTime, IdempotencyKey } from '../stores/store.ts'
import type { AgentOptions } from './contract.ts'
import type { Draft, Intent, Step } from './batch.ts'
import { earlier } from './fold.ts'

export function statusAt(at: number, state: TaskState, message?: Message): TaskStatus {
  return message === undefined ? { state, timestamp: timestamp(at) } : { state, message, timestamp: timestamp(at) }
}

let lastAt = 0
let lastText = ''

/** A task has three states in one millisecond, and a busy server many tasks: the text is made once. */
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
export function open(
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

/** Takes the lease of a task that nobody else holds, and nothing more. */
export const takeLease: Intent = (draft) =>
  isTerminal(draft.state) || !draft.mayTake ? undefined : { bodies: [], lease: 'take' }

/** Starts another turn of an open task, under a lease that is ours: it is WORKING from here on. */
export function startTurn({ turn, attempt }: TurnStart, consumedSeq: number, limits: AgentOptions): Intent {
  return (draft) => {
    if (isTerminal(draft.state)) return undefined
    const bodies: RecordBody[] = [{ type: 'turn-started', turn, attempt, consumedSeq }]
    if (draft.state !== 'TASK_STATE_WORKING') bodies.push(statusBody(draft.at, 'TASK_STATE_WORKING'))
    return { bodies, due: turnDue(draft, limits) }
  }
}

/**
 * A message for an open task. The lease is taken with it unless somebody has it: whoever holds it answers the message.
 * Nothing is written to a task that has ended, nor to a busy one that takes no messages then (B-43, B-45).
 */
export function deliver(
  message: Message,
  options: TurnOptions | undefined,
  idempotency: IdempotencyKey | undefined,
  { whenBusy }: AgentOptions,
): Intent {
  return (draft) => {
    if (isTerminal(draft.state) || (whenBusy === 'reject' && !isUnanswered(draft))) return undefined
    return {
      bodies: [{ type: 'message', message, ...(options !== undefined ? { options } : {}) }],
      ...(idempotency !== undefined ? { idempotency } : {}),
      ...(draft.mayTake ? { lease: 'take' } : {}),
      // One that takes no messages while busy must be seen as it is.
      ...(whenBusy === 'reject' ? {} : { anywhere: true }),
    }
  }
}

/** The same, but only as the log is seen: whoever holds the lease, if it is not us, refuses it. */
export function atTheEnd(step: Step | undefined): Step | undefined {
  if (step === undefined) return undefined
  const { anywhere: _, ...rest } = step
  return rest
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

/** Nobody answered the question of a running turn in time, and it is to go on (S2-16). */
export function leaveUnanswered(asked: Asked, questionId: string, notice: Message, limits: AgentOptions): Intent {
  return (draft) =>
    isStill(asked, draft)
      ? {
          bodies: [{ type: 'answer', questionId, messageSeq: 0 }, statusBody(draft.at, 'TASK_STATE_WORKING', notice)],
          due: turnDue(draft, limits),
        }
      : undefined
}

/** The same where the turn that asked has ended: the next one begins without a message. */
export function startUnanswered(asked: Asked, start: TurnStart, notice: Message, limits: AgentOptions): Intent {
  const { turn, attempt } = start
  return (draft) =>
    isStill(asked, draft) && draft.mayTake
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

/** Which question it is about: the status that asks it. The same task may ask another before we get to it. */
export interface Asked {
  readonly statusSeq: number
}

function isStill({ statusSeq }: Asked, draft: Draft): boolean {
  return draft.statusSeq === statusSeq && isUnanswered(draft)
}

/** The task waits for somebody, and no message has come. */
function isUnanswered(draft: Draft): boolean {
  return isInterrupted(draft.state) && draft.lastMessageSeq <= draft.consumedSeq
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
    const { state, message, metadata } = ending
    const isFinal = isTerminal(state) && ending.explicit === true
    if (draft.cancelRequested && !isFinal) return finish(draft, turn, note, { state: 'TASK_STATE_CANCELED' })
    const waits = draft.lastMessageSeq > draft.consumedSeq
    if (waits && (state === 'TASK_STATE_COMPLETED' || isInterrupted(state))) {
      // What the agent asks for may already be there: it gets the message before anybody is told to send one.
      const last = message === undefined ? [] : [statusBody(draft.at, 'TASK_STATE_WORKING', message, metadata)]
      return { bodies: [...note, ...last, { type: 'turn-ended', turn }] }
    }
    if (isTerminal(state)) return finish(draft, turn, note, ending)
    const status = statusBody(draft.at, state, message, metadata)
    return { bodies: [...note, status], lease: 'release', due: inputDue(draft, limits) }
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
export function expireInput(asked: Asked, turn: number, ending: Ending): Intent {
  return (draft) => (isStill(asked, draft) ? finish(draft, turn, [], ending) : undefined)
}

/** The turn that took these messages took too long, unless it has ended after all. */
export function expireTurn(consumedSeq: number, turn: number, ending: Ending): Intent {
  return (draft) => (draft.consumedSeq === consumedSeq ? endTask(turn, ending)(draft) : undefined)
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

type Timed = Pick<Draft, 'at' | 'deadlineAt'>

function turnDue({ at, deadlineAt }: Timed, { turnTimeoutMs }: AgentOptions): DueTime | null {
  const until = earlier(Number.isFinite(turnTimeoutMs) ? at + turnTimeoutMs : undefined, deadlineAt)
  return until === undefined ? null : { kind: 'turn', at: until }
}

function inputDue({ at, deadlineAt }: Timed, { inputTimeout }: AgentOptions): DueTime | null {
  const until = earlier(inputTimeout === undefined ? undefined : at + inputTimeout.afterMs, deadlineAt)
  return until === undefined ? null : { kind: 'input', at: until }
}
