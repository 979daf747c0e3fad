/** The state of an agent and its reason, as every page and command shows them. Without imports that run: commands use it, too. */
import type { AgentSummary } from './agent-summary.ts'

const hourMs = 3_600_000
const windowMs = 15 * 60_000

type AgentFacts = Pick<AgentSummary, 'state' | 'startError' | 'health' | 'lastError' | 'drift'> & {
  readonly endedTasks?: AgentSummary['endedTasks'] & { readonly isFailing?: boolean }
}

export function agentStatus(agent: AgentFacts, now: number): AgentSummary['status'] {
  const { state, startError, health, lastError, drift, endedTasks } = agent
  if (state !== 'open') return { state: 'unavailable', reason: startError?.message ?? 'it did not start' }
  if (drift === 'blocked') return { state: 'blocked', reason: 'its card has changed and is not approved yet' }
  const { why, cause, breaker } = health
  if (health.state === 'down') {
    // The circuit breaker counts failures of tasks: the last one explains them.
    const last = cause === undefined && breaker === 'open' ? (lastError?.cause ?? lastError?.text) : undefined
    return { state: 'down', reason: [why ?? 'it is not reachable', ...(last === undefined ? [] : [last])].join(': ') }
  }
  if (endedTasks?.isFailing === true) return { state: 'failing', reason: failingReason(endedTasks, lastError, now) }
  if (health.state === 'slow')
    return { state: 'slow', reason: 'its first output usually takes longer than the configured limit' }
  if (breaker !== 'closed')
    return {
      state: 'up',
      reason: 'after failures, its next delegated task decides whether agents delegate to it again',
    }
  return { state: 'up', ...(drift === 'changed' ? { reason: 'its card has changed and is not approved yet' } : {}) }
}

/** As the hub sent it. A hub of an earlier version does not. */
export function receivedStatus(agent: Partial<Pick<AgentSummary, 'status'>> & AgentFacts): AgentSummary['status'] {
  return agent.status ?? agentStatus(agent, Date.now())
}

function failingReason(
  { ended, failed }: AgentSummary['endedTasks'],
  lastError: AgentSummary['lastError'],
  now: number,
): string {
  const share = `${failed} of ${ended} tasks failed in the last 15 minutes (${Math.round((100 * failed) / ended)} %)`
  const newest = recentText(lastError, now - windowMs)
  return newest === undefined ? share : `${share}; the newest: ${newest}`
}

/** Of an agent that is up, although calls of it ended with an error in the last hour. */
export function recentFailure(
  { usage, lastError }: Pick<AgentSummary, 'usage' | 'lastError'>,
  now: number,
): string | undefined {
  if (usage.errors === 0) return undefined
  const calls = usage.calls === 1 ? 'call' : 'calls'
  const failure = `${usage.errors} of ${usage.calls} ${calls} failed in the last hour`
  const newest = recentText(lastError, now - hourMs)
  return newest === undefined ? failure : `${failure}; the last failed task: ${newest}`
}

/** Calls also fail without a failed task. A task of another day does not explain them. */
function recentText(lastError: AgentSummary['lastError'], since: number): string | undefined {
  if (lastError === undefined || Date.parse(lastError.at) < since) return undefined
  return lastError.cause ?? lastError.text ?? `task ${lastError.taskId}`
}
