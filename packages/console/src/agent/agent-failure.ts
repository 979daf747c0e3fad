/** What an agent that cannot take work says of itself: what failed, the cause, and what to do. Pure. */
import type { Agent } from '../api/admin.ts'
import { agentStrings } from './strings.ts'

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
  const words = agentStrings.down
  if (status.state === 'unavailable') {
    return { kind: 'start', title: words.notStarted(called), cause: startError?.message, advice: words.startAdvice }
  }
  if (status.state === 'blocked') {
    return { kind: 'card', title: words.blocked(called), cause: undefined, advice: words.blockedAdvice }
  }
  if (status.state !== 'down') return undefined
  if (health.cause !== undefined) {
    return { kind: 'reach', title: words.notReachable(called), cause: health.cause, advice: words.reachableAdvice }
  }
  return {
    kind: 'breaker',
    title: words.failing(called),
    cause: lastError?.cause ?? lastError?.text,
    advice: words.failingAdvice,
  }
}

/** Time until the next attempt, in whole seconds: `5 s`, `1 min 5 s`. `undefined` once it is due. */
export function timeUntil(at: string, now: number): string | undefined {
  const seconds = Math.ceil((Date.parse(at) - now) / 1_000)
  if (seconds <= 0) return undefined
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}
