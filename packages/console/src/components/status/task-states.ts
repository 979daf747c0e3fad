/** The states of a task: a word, a colour and a shape for each, and which of them end or interrupt the task. */
import { taskStateWords } from './task-strings.ts'

export interface StatusDisplay {
  readonly word: string
  /** Shown instead of the word, if that is also a key. */
  readonly text?: string
  readonly tone: 'working' | 'waiting' | 'done' | 'failed' | 'ended'
  readonly shape: string
}

const stateDisplays: Readonly<Record<string, Omit<StatusDisplay, 'word'>>> = {
  SUBMITTED: { tone: 'working', shape: '○' },
  WORKING: { tone: 'working', shape: '◐' },
  INPUT_REQUIRED: { tone: 'waiting', shape: '◇' },
  AUTH_REQUIRED: { tone: 'waiting', shape: '◈' },
  COMPLETED: { tone: 'done', shape: '●' },
  FAILED: { tone: 'failed', shape: '✕' },
  CANCELED: { tone: 'ended', shape: '–' },
  REJECTED: { tone: 'ended', shape: '⊘' },
}

export const taskStates = Object.keys(stateDisplays).map((name) => `TASK_STATE_${name}`)

export function taskStateDisplay(state: string): StatusDisplay {
  const name = state.replace('TASK_STATE_', '')
  return { word: taskStateWords[name] ?? name, tone: 'ended', shape: '?', ...stateDisplays[name] }
}

export function isTerminalState(state: string): boolean {
  return /_(COMPLETED|FAILED|CANCELED|REJECTED)$/.test(state)
}

/** It waits for its caller: for input or for credentials. */
export function isWaitingState(state: string): boolean {
  return /_(INPUT|AUTH)_REQUIRED$/.test(state)
}
