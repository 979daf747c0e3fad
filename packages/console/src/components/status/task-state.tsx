/** The state of a task as a colour, a shape and a word, so that no single one is required. */
import { taskStateDisplay, type StatusDisplay } from './task-states.ts'
import './task-state.css'

export { isTerminalState, isWaitingState, taskStateDisplay, taskStates, type StatusDisplay } from './task-states.ts'

export function TaskStateBadge({ state }: { readonly state: string }) {
  return <StatusBadge {...taskStateDisplay(state)} />
}

/** The same for other states: the health of an agent, a delivery, an outcome. */
export function StatusBadge({ tone, shape, word, text = word }: StatusDisplay) {
  return (
    <span class={`state ${tone}`}>
      <span aria-hidden="true">{shape}</span>
      {text}
    </span>
  )
}
