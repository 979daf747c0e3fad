/**
 * The state of a loop turn, stored as its checkpoint, so that a restarted process continues there and does nothing twice.
 * Images and files are stored by reference only.
 */
import type { Json, Turn } from '@parley/a2a'
import type { ChatMessage, ModelCall } from '../chat-model.ts'
import type { HopState } from '../../delegation/hop.ts'
import type { ChildQuestion } from './tool.ts'

export interface LoopState {
  readonly version: 1
  /** Text of earlier turns of this task. */
  readonly earlier: readonly ChatMessage[]
  /** Messages since then, including results of tools. */
  readonly messages: StateMessage[]
  /** The calls of the model's last answer, until all of them have a result. */
  open: OpenCall[]
  /** User messages to add once all calls have a result. */
  readonly then: StateMessage[]
  /** What was reported to the caller in this turn, up to the last complete step. */
  said: string
  /** Number of files that the tools returned. */
  given: number
  steps: number
  readonly bill: ModelCall[]
  /** Number of questions during calls. */
  asked: number
}

/** A user message is stored by its id, and by its text in case it is no longer available. */
export type StateMessage = ChatMessage | { readonly role: 'user'; readonly content: string; readonly from: string }

export interface OpenCall {
  readonly id: string
  /** As the model names it. */
  readonly name: string
  readonly input: string
  /** `started`: it may have had effects. `waits`: for the client, or for the answer to a child's question. */
  state: 'planned' | 'started' | 'waits'
  result?: string
  /** The call to another agent. */
  child?: HopState
  question?: ChildQuestion
  /** Id of the message that answers it. */
  answeredBy?: string
}

export function createLoopState(earlier: readonly ChatMessage[], first: StateMessage): LoopState {
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

/** The state of this turn when it was interrupted, if any. */
export function interruptedState({ resumed }: Turn): LoopState | undefined {
  return readLoopState(resumed?.checkpoint)
}

/** The state in which the previous turn stopped to wait. This turn continues from it with its own step count. */
export function waitingState({ lastCheckpoint }: Turn): LoopState | undefined {
  const before = readLoopState(lastCheckpoint)
  return before === undefined || before.open.length === 0
    ? undefined
    : { ...before, said: '', given: 0, steps: 0, bill: [], asked: 0 }
}

/** Returns a copy, because checkpoints are immutable. */
export function readLoopState(checkpoint: Json | undefined): LoopState | undefined {
  if (typeof checkpoint !== 'object' || checkpoint === null || Array.isArray(checkpoint)) return undefined
  return (checkpoint as { version?: unknown }).version === 1
    ? (structuredClone(checkpoint) as unknown as LoopState)
    : undefined
}

export const isWaiting = ({ open }: LoopState): boolean =>
  open.some(({ state, result }) => state === 'waits' && result === undefined)

/** Once all calls have a result, the results become messages. */
export function commitCallResults(state: LoopState): void {
  for (const { id, result = '' } of state.open) state.messages.push({ role: 'tool', tool_call_id: id, content: result })
  state.messages.push(...state.then.splice(0))
  state.open = []
}
