/**
 * The states that a task went through. 0.x has a capability for them but no field. They appear in the task's metadata under the name of
 * the capability, which every 0.x client reads: `[{ "state": "submitted", "timestamp": "…" }, …]`, oldest first. The history already
 * holds the messages of past states.
 */
import type { TaskState } from './state.ts'

export interface StateTransition {
  readonly state: TaskState
  readonly timestamp?: string
}

export const transitionsKey = 'stateTransitionHistory'
