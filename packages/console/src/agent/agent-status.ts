/** The health of an agent as a shape, a word and a sentence. */
import type { Agent, AgentCards } from '../api/admin.ts'
import { formatCount, pluralize } from '../components/format.ts'
import type { StatusDisplay } from '../components/status/task-state.tsx'
import { agentStrings } from './strings.ts'

export interface AgentStatus extends StatusDisplay {
  readonly word: 'up' | 'slow' | 'down' | 'blocked' | 'unavailable'
  readonly tone: 'done' | 'waiting' | 'failed'
  readonly why: string | undefined
}

type AgentHealthInput = Pick<Agent, 'state' | 'startError' | 'health' | 'drift'>

export function agentStatus({ state, startError, health, drift }: AgentHealthInput): AgentStatus {
  const { status: words } = agentStrings
  if (state === 'unavailable') {
    return { tone: 'failed', shape: '✕', word: 'unavailable', text: words.unavailable, why: startError?.message }
  }
  if (drift === 'blocked') {
    return { tone: 'failed', shape: '⊘', word: 'blocked', text: words.blocked, why: words.cardChanged }
  }
  const { why } = health
  if (health.state === 'down') return { tone: 'failed', shape: '✕', word: 'down', text: words.down, why }
  if (health.state === 'slow') return { tone: 'waiting', shape: '◐', word: 'slow', text: words.slow, why }
  return { tone: 'done', shape: '●', word: 'up', text: words.up, why }
}

export interface LastError {
  readonly text: string
  readonly at: string | undefined
  /** The task that failed. `undefined` if the agent could not be opened. */
  readonly taskId: string | undefined
}

/** Why the agent cannot take messages now, such as a module that does not load; otherwise how its last failed task ended. */
export function agentLastError(agent: AgentHealthInput & Pick<Agent, 'lastError'>): LastError | undefined {
  const { state, startError, health, lastError } = agent
  if (state === 'unavailable' && startError !== undefined) {
    return { text: startError.message, at: startError.at, taskId: undefined }
  }
  if (health.state === 'down' && health.why !== undefined) {
    return { text: health.cause ?? health.why, at: health.askedAt, taskId: undefined }
  }
  return lastError === undefined
    ? undefined
    : {
        text: lastError.cause ?? lastError.text ?? agentStrings.status.failed,
        at: lastError.at,
        taskId: lastError.taskId,
      }
}

export function breakerText(breaker: Agent['health']['breaker']): string | undefined {
  if (breaker === 'open') return agentStrings.breaker.open
  return breaker === 'half-open' ? agentStrings.breaker.halfOpen : undefined
}

/** Whether the operator should look at this agent. */
export function needsAttention(agent: AgentHealthInput): boolean {
  return agentStatus(agent).word !== 'up' || agent.drift !== undefined || agent.health.breaker !== 'closed'
}

export function loadText({ working, waiting, streams }: Agent['load']): string {
  const words = agentStrings.load
  const parts = [
    ...(working > 0 ? [words.working(formatCount(working))] : []),
    ...(waiting > 0 ? [words.waiting(formatCount(waiting))] : []),
    ...(streams > 0 ? [pluralize(streams, words.stream)] : []),
  ]
  return parts.length === 0 ? words.idle : parts.join(' · ')
}

type Signature = NonNullable<NonNullable<AgentCards['remote']>['signature']>

/** Result of the signature check of an agent's own card. */
export function signatureStatus(
  signature: Signature | undefined,
): StatusDisplay & { readonly why: string | undefined } {
  const { status = 'unchecked', why, kid, alg = '' } = signature ?? {}
  const words = agentStrings.signature
  switch (status) {
    case 'verified':
      return {
        tone: 'done',
        shape: '●',
        word: words.verified,
        why: words.signedWith(kid ?? words.someKey, alg),
      }
    case 'unverified':
      return { tone: 'failed', shape: '✕', word: words.notVerified, why }
    case 'unsigned':
      return { tone: 'waiting', shape: '○', word: words.unsigned, why: why ?? words.unsignedWhy }
    default:
      return {
        tone: 'waiting',
        shape: '◌',
        word: words.notChecked,
        why: words.notCheckedWhy,
      }
  }
}
