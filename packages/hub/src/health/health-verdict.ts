/** Whether a turn says something about the health of its agent; errors in the work itself do not. */
import { A2AError } from '@parley/a2a'
import type { Report } from '@parley/a2a'

/** `none`: unknown, for example for work that was canceled or that the agent refused with a reason. */
export type HealthVerdict = 'well' | 'ill' | 'none'

/** Another agent, or the same one later, might have succeeded. */
const agentFailureCodes: ReadonlySet<string> = new Set([
  'AGENT_UNAVAILABLE',
  'UNAVAILABLE',
  'UNAUTHENTICATED',
  'RATE_LIMITED',
  'TIMEOUT',
  'INTERRUPTED',
  'INTERNAL',
  'INVALID_AGENT_RESPONSE',
])

/** Takes an error code, or the metadata of a status. */
export function isAgentFailure(reason: unknown): boolean {
  return typeof reason === 'string' && agentFailureCodes.has(reason)
}

export function verdictOnReport(report: Report | undefined): HealthVerdict {
  if (typeof report !== 'object' || !('state' in report)) return 'well'
  if (report.state !== 'TASK_STATE_FAILED') return 'well'
  return isAgentFailure(report.metadata?.['reason']) ? 'ill' : 'none'
}

export function verdictOnError(reason: unknown, signal: AbortSignal): HealthVerdict {
  if (signal.aborted) return signal.reason instanceof A2AError && signal.reason.code === 'TIMEOUT' ? 'ill' : 'none'
  return isAgentFailure(A2AError.from(reason).code) ? 'ill' : 'none'
}
