/** The states of a task: a word, a colour and a shape for each, and which of them end or interrupt the task. */

export interface StatusDisplay {
  readonly word: string
  /** Shown instead of the word, if that is also a key. */
  readonly text?: string
  readonly tone: 'working' | 'waiting' | 'done' | 'failed' | 'ended'
  readonly shape: string
}

const stateDisplays: Readonly<Record<string, StatusDisplay>> = {
  SUBMITTED: { word: 'Submitted', tone: 'working', shape: '○' },
  WORKING: { word: 'Working', tone: 'working', shape: '◐' },
  INPUT_REQUIRED: { word: 'Needs input', tone: 'waiting', shape: '◇' },
  AUTH_REQUIRED: { word: 'Needs sign-in', tone: 'waiting', shape: '◈' },
  COMPLETED: { word: 'Completed', tone: 'done', shape: '●' },
  FAILED: { word: 'Failed', tone: 'failed', shape: '✕' },
  CANCELED: { word: 'Canceled', tone: 'ended', shape: '–' },
  REJECTED: { word: 'Rejected', tone: 'ended', shape: '⊘' },
}

export const taskStates = Object.keys(stateDisplays).map((name) => `TASK_STATE_${name}`)

export function taskStateDisplay(state: string): StatusDisplay {
  const name = state.replace('TASK_STATE_', '')
  return stateDisplays[name] ?? { word: name, tone: 'ended', shape: '?' }
}

export function isTerminalState(state: string): boolean {
  return /_(COMPLETED|FAILED|CANCELED|REJECTED)$/.test(state)
}

/** It waits for its caller: for input or for credentials. */
export function isWaitingState(state: string): boolean {
  return /_(INPUT|AUTH)_REQUIRED$/.test(state)
}
