/** The health of an agent as a shape, a word and a sentence. */
import type { Agent, AgentCards } from '../api/admin.ts'
import { formatCount, pluralize } from '../components/format.ts'
import type { StatusDisplay } from '../components/status/task-state.tsx'

export interface AgentStatus extends StatusDisplay {
  readonly word: 'up' | 'slow' | 'down' | 'blocked' | 'unavailable'
  readonly tone: 'done' | 'waiting' | 'failed'
  readonly why: string | undefined
}

type AgentHealthInput = Pick<Agent, 'state' | 'startError' | 'health' | 'drift'>

export function agentStatus({ state, startError, health, drift }: AgentHealthInput): AgentStatus {
  if (state === 'unavailable') return { tone: 'failed', shape: '✕', word: 'unavailable', why: startError?.message }
  if (drift === 'blocked') {
    return {
      tone: 'failed',
      shape: '⊘',
      word: 'blocked',
      why: 'Its card has changed, and the new one is not approved yet.',
    }
  }
  const { why } = health
  if (health.state === 'down') return { tone: 'failed', shape: '✕', word: 'down', why }
  if (health.state === 'slow') return { tone: 'waiting', shape: '◐', word: 'slow', why }
  return { tone: 'done', shape: '●', word: 'up', why }
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
    return { text: health.why, at: health.askedAt, taskId: undefined }
  }
  return lastError === undefined
    ? undefined
    : { text: lastError.text ?? 'failed', at: lastError.at, taskId: lastError.taskId }
}

export function breakerText(breaker: Agent['health']['breaker']): string | undefined {
  if (breaker === 'open') return 'Nothing is handed on to it for a while, because too much failed.'
  return breaker === 'half-open' ? 'One message is let through, to see whether it is well again.' : undefined
}

/** Whether the operator should look at this agent. */
export function needsAttention(agent: AgentHealthInput): boolean {
  return agentStatus(agent).word !== 'up' || agent.drift !== undefined || agent.health.breaker !== 'closed'
}

export function loadText({ working, waiting, streams }: Agent['load']): string {
  const words = [
    ...(working > 0 ? [`${formatCount(working)} working`] : []),
    ...(waiting > 0 ? [`${formatCount(waiting)} waiting`] : []),
    ...(streams > 0 ? [pluralize(streams, 'stream')] : []),
  ]
  return words.length === 0 ? 'idle' : words.join(' · ')
}

type Signature = NonNullable<NonNullable<AgentCards['remote']>['signature']>

/** Result of the signature check of an agent's own card. */
export function signatureStatus(
  signature: Signature | undefined,
): Omit<AgentStatus, 'word'> & { readonly word: string } {
  const { status = 'unchecked', why, kid, alg } = signature ?? {}
  switch (status) {
    case 'verified':
      return {
        tone: 'done',
        shape: '●',
        word: 'verified',
        why: `Signed with ${kid ?? 'a key'}${alg === undefined ? '' : ` (${alg})`}.`,
      }
    case 'unverified':
      return { tone: 'failed', shape: '✕', word: 'not verified', why }
    case 'unsigned':
      return { tone: 'waiting', shape: '○', word: 'unsigned', why: why ?? 'It shows a card without a signature.' }
    default:
      return {
        tone: 'waiting',
        shape: '◌',
        word: 'not checked',
        why: 'Set verify: prefer or require in its settings to check it.',
      }
  }
}
