/** The states of tasks in SQL, for checks: tables have their numbers. */
import { isTerminal, taskStates } from '../../model/state.ts'

/** The numbers of terminal states, as a list. */
export const finishedStates = taskStates.flatMap((state, number) => (isTerminal(state) ? [number] : [])).join(', ')
/** The name of the state in the column `state`. */
export const stateName = `CASE state ${taskStates.map((name, number) => `WHEN ${number} THEN '${name}'`).join(' ')} END`
