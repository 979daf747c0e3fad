/** The states of a task as words for models and people. */
import type { TaskState } from '@parley/a2a'

export const stateWords = [
  'unknown',
  'submitted',
  'working',
  'completed',
  'failed',
  'canceled',
  'input-required',
  'rejected',
  'auth-required',
] as const

export type StateWord = (typeof stateWords)[number]

const wordsByState: Readonly<Record<TaskState, StateWord>> = {
  TASK_STATE_UNSPECIFIED: 'unknown',
  TASK_STATE_SUBMITTED: 'submitted',
  TASK_STATE_WORKING: 'working',
  TASK_STATE_COMPLETED: 'completed',
  TASK_STATE_FAILED: 'failed',
  TASK_STATE_CANCELED: 'canceled',
  TASK_STATE_INPUT_REQUIRED: 'input-required',
  TASK_STATE_REJECTED: 'rejected',
  TASK_STATE_AUTH_REQUIRED: 'auth-required',
}

export function stateWord(state: TaskState): StateWord {
  return wordsByState[state]
}
