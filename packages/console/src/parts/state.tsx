/** The state of a task: a colour, a shape and a word, so that none of them has to be seen. */
import './state.css'

export interface StateLook {
  readonly word: string
  readonly tone: 'working' | 'waiting' | 'done' | 'failed' | 'ended'
  readonly shape: string
}

const looks: Readonly<Record<string, StateLook>> = {
  SUBMITTED: { word: 'submitted', tone: 'working', shape: '○' },
  WORKING: { word: 'working', tone: 'working', shape: '◐' },
  INPUT_REQUIRED: { word: 'input', tone: 'waiting', shape: '◇' },
  AUTH_REQUIRED: { word: 'sign-in', tone: 'waiting', shape: '◈' },
  COMPLETED: { word: 'completed', tone: 'done', shape: '●' },
  FAILED: { word: 'failed', tone: 'failed', shape: '✕' },
  CANCELED: { word: 'canceled', tone: 'ended', shape: '–' },
  REJECTED: { word: 'rejected', tone: 'ended', shape: '⊘' },
}

export const taskStates = Object.keys(looks).map((name) => `TASK_STATE_${name}`)

export function lookOf(state: string): StateLook {
  return looks[state.replace('TASK_STATE_', '')] ?? { word: state.toLowerCase(), tone: 'ended', shape: '?' }
}

export function isOver(state: string): boolean {
  return /_(COMPLETED|FAILED|CANCELED|REJECTED)$/.test(state)
}

export function State({ state }: { readonly state: string }) {
  const { word, tone, shape } = lookOf(state)
  return (
    <span class={`state ${tone}`}>
      <span aria-hidden="true">{shape}</span>
      {word}
    </span>
  )
}

/** The same for what is no task: an agent's health, a delivery, an outcome. */
export function Mark({ tone, shape, word }: { tone: StateLook['tone']; shape: string; word: string }) {
  return (
    <span class={`state ${tone}`}>
      <span aria-hidden="true">{shape}</span>
      {word}
    </span>
  )
}
