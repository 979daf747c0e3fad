/** The state of a task, from its stored status: loaders have it in columns of their own. */
import { isTerminal, taskStateNumber } from '../../model/state.ts'
import type { TaskStatus } from '../../model/task.ts'
import type { JsonText } from './dump-entry.ts'

export function stateOfStatus(status: JsonText): { readonly number: number; readonly isFinished: boolean } {
  const { state } = JSON.parse(status) as TaskStatus
  return { number: taskStateNumber(state), isFinished: isTerminal(state) }
}
