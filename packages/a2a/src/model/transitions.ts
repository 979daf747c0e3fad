/**
 * The states that a task went through, as 0.x has a capability for and no field. It is shown in the task's metadata under
 * the capability's own name, which every client of 0.x reads: `[{ "state": "submitted", "timestamp": "…" }, …]`, the
 * oldest first. Messages of past states are in the history already.
 */
import type { TaskState } from './state.ts'

export interface StateTransition {
  readonly state: TaskState
  readonly timestamp?: string
}

export const transitionsKey = 'stateTransitionHistory'
