/** Whether a turn says something of its agent's health: what went wrong with the work itself does not. */
import { A2AError } from '@parley/a2a'
import type { Report } from '@parley/a2a'

/** `none`: nothing can be said, as of work that was canceled, or that the agent had a reason to refuse. */
export type Verdict = 'well' | 'ill' | 'none'

/** Another agent, or the same one later, might have done it. */
const troubles: ReadonlySet<string> = new Set([
  'AGENT_UNAVAILABLE',
  'UNAVAILABLE',
  'UNAUTHENTICATED',
  'RATE_LIMITED',
  'TIMEOUT',
  'INTERRUPTED',
  'INTERNAL',
  'INVALID_AGENT_RESPONSE',
])

/** Of an error's code, or of what the metadata of a status say. */
export function isTrouble(reason: unknown): boolean {
  return typeof reason === 'string' && troubles.has(reason)
}

export function verdictOnReport(report: Report | undefined): Verdict {
  if (typeof report !== 'object' || !('state' in report)) return 'well'
  if (report.state !== 'TASK_STATE_FAILED') return 'well'
  return isTrouble(report.metadata?.['reason']) ? 'ill' : 'none'
}

export function verdictOnError(reason: unknown, signal: AbortSignal): Verdict {
  if (signal.aborted) return signal.reason instanceof A2AError && signal.reason.code === 'TIMEOUT' ? 'ill' : 'none'
  return isTrouble(A2AError.from(reason).code) ? 'ill' : 'none'
}
