/** The states of a task as words for models and people. */
import type { TaskState } from '@parley/a2a'
import { taskStates } from '@parley/a2a/internal'

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

/** The words are in the order of the states. */
export function stateWord(state: TaskState): (typeof stateWords)[number] {
  return stateWords[taskStates.indexOf(state)] ?? 'unknown'
}
