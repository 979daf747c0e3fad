/**
 * Where a turn of the loop is: kept as its checkpoint, so that a process that starts anew goes on from there and does
 * nothing twice. What was said in pictures and files is kept by reference only.
 */
import type { Json, Turn } from '@parley/a2a'
import type { ChatMessage, ModelCall } from '../chat-model.ts'
import type { HopState } from '../../delegation/hop.ts'
import type { ChildQuestion } from './tool.ts'

export interface LoopState {
  readonly version: 1
  /** What earlier turns of this task said, as text. */
  readonly earlier: readonly ChatMessage[]
  /** What was said since, the tools' words included. */
  readonly messages: StateMessage[]
  /** The calls of the model's last answer, until all of them have a result. */
  open: OpenCall[]
  /** To be said by the user once they have. */
  readonly then: StateMessage[]
  /** What the caller was told in this turn, up to the last complete step. */
  said: string
  /** Files that the tools gave. */
  given: number
  steps: number
  readonly bill: ModelCall[]
  /** Questions in the middle of calls. */
  asked: number
}

/** A message of the user stands here by its id, and by its text for when it is gone. */
export type StateMessage = ChatMessage | { readonly role: 'user'; readonly content: string; readonly from: string }

export interface OpenCall {
  readonly id: string
  /** As the model says it. */
  readonly name: string
  readonly input: string
  /** `started`: it may have done something. `waits`: for the client, or for the answer to a child's question. */
  state: 'planned' | 'started' | 'waits'
  result?: string
  /** The work that it hands on to another agent. */
  child?: HopState
  question?: ChildQuestion
  /** The message that answers it. */
  answeredBy?: string
}

export function newState(earlier: readonly ChatMessage[], first: StateMessage): LoopState {
  return {
    version: 1,
    earlier,
    messages: [first],
    open: [],
    then: [],
    said: '',
    given: 0,
    steps: 0,
    bill: [],
    asked: 0,
  }
}

/** Where this turn was when it was interrupted, if it had come to anything. */
export function interruptedState({ resumed }: Turn): LoopState | undefined {
  return stateIn(resumed?.checkpoint)
}

/** Where the turn before stopped to wait: this one goes on from there, with a count of its own. */
export function waitingState({ remembered }: Turn): LoopState | undefined {
  const before = stateIn(remembered)
  return before === undefined || before.open.length === 0
    ? undefined
    : { ...before, said: '', given: 0, steps: 0, bill: [], asked: 0 }
}

/** A copy: a checkpoint is nobody's to change. */
export function stateIn(checkpoint: Json | undefined): LoopState | undefined {
  if (typeof checkpoint !== 'object' || checkpoint === null || Array.isArray(checkpoint)) return undefined
  return (checkpoint as { version?: unknown }).version === 1
    ? (structuredClone(checkpoint) as unknown as LoopState)
    : undefined
}

export const isWaiting = ({ open }: LoopState): boolean =>
  open.some(({ state, result }) => state === 'waits' && result === undefined)

/** Once all calls have a result they are part of what was said. */
export function closeCalls(state: LoopState): void {
  for (const { id, result = '' } of state.open) state.messages.push({ role: 'tool', tool_call_id: id, content: result })
  state.messages.push(...state.then.splice(0))
  state.open = []
}
