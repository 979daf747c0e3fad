/** What an agent that cannot take work says of itself: what failed, the cause, and what to do. Pure. */
import type { Agent } from '../api/admin.ts'

export interface AgentFailure {
  readonly kind: 'start' | 'reach' | 'card' | 'breaker'
  readonly title: string
  /** The error as it was reported. */
  readonly cause: string | undefined
  readonly advice: string
}

type AgentFacts = Pick<Agent, 'title' | 'status' | 'startError' | 'health' | 'lastError'>

/** `undefined` if the agent takes work. */
export function agentFailure(agent: AgentFacts): AgentFailure | undefined {
  const { title: called, status, startError, health, lastError } = agent
  if (status.state === 'unavailable') {
    return {
      kind: 'start',
      title: `${called} failed to start`,
      cause: startError?.message,
      advice: 'Messages are refused until it starts. Check its settings and the log of the hub.',
    }
  }
  if (status.state === 'blocked') {
    return {
      kind: 'card',
      title: `Calls to ${called} are blocked`,
      cause: undefined,
      advice:
        'Its card has changed since it was approved. Compare the cards, and approve the new one if you expect the change.',
    }
  }
  if (status.state !== 'down') return undefined
  if (health.cause !== undefined) {
    return {
      kind: 'reach',
      title: `${called} fails its health check`,
      cause: health.cause,
      advice: 'Check that it is running and that its URL, credentials and model are correct.',
    }
  }
  return {
    kind: 'breaker',
    title: `${called} failed several times in a row`,
    cause: lastError?.cause ?? lastError?.text,
    advice: 'Other agents do not delegate to it for a while. Messages that you send still reach it.',
  }
}

/** Time until the next attempt, in whole seconds: `5 s`, `1 min 5 s`. `undefined` once it is due. */
export function timeUntil(at: string, now: number): string | undefined {
  const seconds = Math.ceil((Date.parse(at) - now) / 1_000)
  if (seconds <= 0) return undefined
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}
