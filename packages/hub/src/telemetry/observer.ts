/** What happens in the hub, as everything that counts it sees it: each figure is decided here, once. */
import type { StreamEvent, TaskState } from '@parley/a2a'
import { isTerminal } from '@parley/a2a'
import type { EndedCall, EventContext } from '@parley/a2a/server'

/** An answered request. */
export interface ObservedCall {
  readonly outcome: EndedCall
  /** `undefined` if no agent has this name: the names in requests are not bounded. */
  readonly agent: string | undefined
}

/** A task that reached a state. */
export interface ObservedTask extends EventContext {
  readonly state: TaskState
  readonly isStarted: boolean
  readonly isEnded: boolean
}

/** A call of the store that calls and turns wait for. */
export interface StoreCall {
  readonly operation: string
  readonly seconds: number
  readonly isOk: boolean
}

export function observedTask(event: StreamEvent, about: EventContext): ObservedTask | undefined {
  if (!('statusUpdate' in event)) return undefined
  const { state } = event.statusUpdate.status
  return { ...about, state, isStarted: state === 'TASK_STATE_SUBMITTED', isEnded: isTerminal(state) }
}
