/** The state of an agent as a shape, a word and a sentence. The hub decides the state and its reason. */
import type { Agent, AgentCards } from '../api/admin.ts'
import { formatCount, pluralize } from '../components/format.ts'
import type { StatusDisplay } from '../components/status/task-state.tsx'

const statusTexts = {
  up: 'Up',
  slow: 'Slow',
  failing: 'Failing',
  down: 'Down',
  blocked: 'Blocked',
  unavailable: 'Unavailable',
}

type State = Agent['status']['state']

export interface AgentStatus extends StatusDisplay {
  readonly word: State
  readonly why: string | undefined
}

const displays: Readonly<Record<State, Pick<StatusDisplay, 'tone' | 'shape'>>> = {
  up: { tone: 'done', shape: '●' },
  slow: { tone: 'waiting', shape: '◐' },
  failing: { tone: 'failed', shape: '▲' },
  down: { tone: 'failed', shape: '✕' },
  blocked: { tone: 'failed', shape: '⊘' },
  unavailable: { tone: 'failed', shape: '✕' },
}

export function agentStatus({ status: { state, reason } }: Pick<Agent, 'status'>): AgentStatus {
  return { ...displays[state], word: state, text: statusTexts[state], why: reason }
}

export interface LastError {
  readonly text: string
  readonly at: string | undefined
  /** The task that failed. `undefined` if the agent could not be opened. */
  readonly taskId: string | undefined
}

/** Why the agent cannot take messages now, such as a module that does not load; otherwise how its last failed task ended. */
export function agentLastError({
  status: { state, reason = '' },
  startError,
  health,
  lastError,
}: Pick<Agent, 'status' | 'startError' | 'health' | 'lastError'>): LastError | undefined {
  if (state === 'unavailable' || state === 'down') {
    return { text: reason, at: startError?.at ?? health.askedAt, taskId: undefined }
  }
  return lastError === undefined
    ? undefined
    : {
        text: lastError.cause ?? lastError.text ?? 'Failed',
        at: lastError.at,
        taskId: lastError.taskId,
      }
}

/** Whether the operator should look at this agent. */
export function needsAttention({ status }: Pick<Agent, 'status'>): boolean {
  return status.reason !== undefined
}

export function loadText({ working, waiting, streams }: Agent['load']): string {
  const parts = [
    ...(working > 0 ? [`${formatCount(working)} working`] : []),
    ...(waiting > 0 ? [`${formatCount(waiting)} waiting`] : []),
    ...(streams > 0 ? [pluralize(streams, 'stream')] : []),
  ]
  return parts.length === 0 ? 'idle' : parts.join(' · ')
}

type Signature = NonNullable<NonNullable<AgentCards['remote']>['signature']>

/** Result of the signature check of an agent's own card. */
export function signatureStatus(
  signature: Signature | undefined,
): StatusDisplay & { readonly why: string | undefined } {
  const { status = 'unchecked', why, kid, alg = '' } = signature ?? {}
  switch (status) {
    case 'verified':
      return {
        tone: 'done',
        shape: '●',
        word: 'Verified',
        why: `Signed with ${kid ?? 'a key'}${alg === '' ? '' : ` (${alg})`}.`,
      }
    case 'unverified':
      return { tone: 'failed', shape: '✕', word: 'Not verified', why }
    case 'unsigned':
      return { tone: 'waiting', shape: '○', word: 'Unsigned', why: why ?? 'Its card has no signature.' }
    default:
      return {
        tone: 'waiting',
        shape: '◌',
        word: 'Not checked',
        why: 'To check it, set verify: prefer or verify: require in its settings.',
      }
  }
}
