/** The states in the order of their proto numbers: the index is the number (J-2 lets a peer send either). */
export const taskStates = [
  'TASK_STATE_UNSPECIFIED',
  'TASK_STATE_SUBMITTED',
  'TASK_STATE_WORKING',
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
  'TASK_STATE_INPUT_REQUIRED',
  'TASK_STATE_REJECTED',
  'TASK_STATE_AUTH_REQUIRED',
] as const

/** The state of a task, as 1.0 spells it. */
export type TaskState = (typeof taskStates)[number]

/** The proto number of a state. Stores keep it instead of the name. */
export function taskStateNumber(state: TaskState): number {
  return Math.max(0, taskStates.indexOf(state))
}

const terminal: ReadonlySet<TaskState> = new Set([
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
  'TASK_STATE_REJECTED',
])

/** Returns whether a task in this state has ended and no longer changes. */
export function isTerminal(state: TaskState): boolean {
  return terminal.has(state)
}

/**
 * Returns whether a task in this state waits for its client: for an answer (INPUT_REQUIRED) or a credential (AUTH_REQUIRED).
 */
export function isInterrupted(state: TaskState): boolean {
  return state === 'TASK_STATE_INPUT_REQUIRED' || state === 'TASK_STATE_AUTH_REQUIRED'
}

/** Returns whether the turn of the agent is over, which a blocking send waits for (B-63): terminal or interrupted. */
export function hasSettled(state: TaskState): boolean {
  return isTerminal(state) || isInterrupted(state)
}
