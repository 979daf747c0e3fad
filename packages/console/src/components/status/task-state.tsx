/** The state of a task as a colour, a shape and a word, so that no single one is required. */
import './task-state.css'

export interface StatusDisplay {
  readonly word: string
  readonly tone: 'working' | 'waiting' | 'done' | 'failed' | 'ended'
  readonly shape: string
}

const stateDisplays: Readonly<Record<string, StatusDisplay>> = {
  SUBMITTED: { word: 'submitted', tone: 'working', shape: '○' },
  WORKING: { word: 'working', tone: 'working', shape: '◐' },
  INPUT_REQUIRED: { word: 'input', tone: 'waiting', shape: '◇' },
  AUTH_REQUIRED: { word: 'sign-in', tone: 'waiting', shape: '◈' },
  COMPLETED: { word: 'completed', tone: 'done', shape: '●' },
  FAILED: { word: 'failed', tone: 'failed', shape: '✕' },
  CANCELED: { word: 'canceled', tone: 'ended', shape: '–' },
  REJECTED: { word: 'rejected', tone: 'ended', shape: '⊘' },
}

export const taskStates = Object.keys(stateDisplays).map((name) => `TASK_STATE_${name}`)

export function taskStateDisplay(state: string): StatusDisplay {
  return stateDisplays[state.replace('TASK_STATE_', '')] ?? { word: state.toLowerCase(), tone: 'ended', shape: '?' }
}

export function isTerminalState(state: string): boolean {
  return /_(COMPLETED|FAILED|CANCELED|REJECTED)$/.test(state)
}

export function TaskStateBadge({ state }: { readonly state: string }) {
  return <StatusBadge {...taskStateDisplay(state)} />
}

/** The same for other states: the health of an agent, a delivery, an outcome. */
export function StatusBadge({ tone, shape, word }: StatusDisplay) {
  return (
    <span class={`state ${tone}`}>
      <span aria-hidden="true">{shape}</span>
      {word}
    </span>
  )
}
