/** Why an agent cannot take work, in one line for operators. Without imports that run: commands use it, too. */
import type { AgentSummary } from './agent-view.ts'

const hourMs = 3_600_000

type AgentState = Pick<AgentSummary, 'state' | 'startError' | 'health' | 'lastError'>

/** `undefined` if the agent is up. */
export function agentTrouble({ state, startError, health, lastError }: AgentState): string | undefined {
  if (state !== 'open') return startError?.message ?? 'it did not start'
  const { why, cause, breaker } = health
  if (why === undefined) return undefined
  // The circuit breaker counts failures of tasks: the last one explains them.
  const last = cause === undefined && breaker === 'open' ? (lastError?.cause ?? lastError?.text) : undefined
  return last === undefined ? why : `${why}: ${last}`
}

/** Of an agent that is up, although calls of it ended with an error in the last hour. */
export function recentFailure(
  { usage, lastError }: Pick<AgentSummary, 'usage' | 'lastError'>,
  now: number,
): string | undefined {
  if (usage.errors === 0) return undefined
  const calls = usage.calls === 1 ? 'call' : 'calls'
  const failure = `${usage.errors} of ${usage.calls} ${calls} failed in the last hour`
  // Calls also fail without a failed task. A task of another day does not explain them.
  if (lastError === undefined || now - Date.parse(lastError.at) > hourMs) return failure
  return `${failure}; the last failed task: ${lastError.cause ?? lastError.text}`
}
