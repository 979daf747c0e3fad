/** Observes the turns of an agent: time to the first output, and the health verdict. Transparent to the agent. */
import { A2AError, type Agent, type Report, type Turn } from '@parley/a2a'
import { hasSettled } from '@parley/a2a/internal'
import { watchRun, wrapAgent, type RunWatcher } from '../agents/wrap-agent.ts'

export interface TurnObserver {
  /** The time until the first output. */
  onFirstOutput(ms: number): void
  /** Called once per turn. */
  onEnd(verdict: HealthVerdict): void
}

export interface ObserverClock {
  readonly now: () => number
  readonly monotonicNow: () => number
}

export function observeAgent(agent: Agent, observer: TurnObserver, clock: ObserverClock): Agent {
  return wrapAgent(agent, (run) => (turn) => watchRun(run, turn, createTurnWatch(observer, turn, clock)))
}

function createTurnWatch(observer: TurnObserver, turn: Turn, { now, monotonicNow }: ObserverClock): RunWatcher {
  const startedAt = monotonicNow()
  let verdict: HealthVerdict | undefined
  let isOver = false
  let isListening = false
  let isSettled = false
  let hasOutput = false
  const end = (): void => {
    if (isOver) return
    isOver = true
    if (isListening) turn.signal.removeEventListener('abort', onAbort)
    observer.onEnd(verdict ?? 'unknown')
  }
  const isTimedOut = (): boolean => turn.signal.aborted && verdictOnError(undefined, turn.signal) === 'unhealthy'
  const onAbort = (): void => {
    if (!isTimedOut()) return
    verdict = 'unhealthy'
    end()
  }
  return {
    // Keeps watching for a while: an agent that ignores its deadline is detected too. Only here: output that is read piece by piece
    // reports `onStop`, and a signal that no code uses need not be created, which took 4 µs of each task.
    onPending() {
      if (isListening) return
      isListening = true
      turn.signal.addEventListener('abort', onAbort)
    },
    onReport(report) {
      if (!hasOutput && isOutput(report)) {
        hasOutput = true
        observer.onFirstOutput(monotonicNow() - startedAt)
      }
      // The last report decides, and a failure is one.
      verdict = verdictOnReport(report)
      isSettled = typeof report === 'object' && ('reply' in report || ('state' in report && hasSettled(report.state)))
    },
    onStop() {
      if (isOver) return
      // The last report may have ended the turn. Otherwise the turn was stopped midway: by its deadline, or the verdict is unknown.
      if (!isSettled && verdict !== 'unhealthy') verdict = isTimedOut() ? 'unhealthy' : 'unknown'
      end()
    },
    onEnd() {
      // An agent that ends because its deadline aborted it has missed it. Before the deadline the signal is not looked at.
      const mayBeLate = turn.deadlineAt !== undefined && now() >= turn.deadlineAt
      verdict = mayBeLate && isTimedOut() ? 'unhealthy' : (verdict ?? 'healthy')
      end()
    },
    onError(reason) {
      verdict = verdictOnError(reason, turn.signal)
      end()
    },
  }
}

/** Whether the report has content for the caller. Status messages tell of work, and are often sent before it begins. */
function isOutput(report: Report | undefined): boolean {
  if (typeof report !== 'object') return report !== undefined
  return !('state' in report) || (report.state === 'TASK_STATE_COMPLETED' && report.message !== undefined)
}

/**
 * Whether a turn says something about the health of its agent; errors in the work itself do not.
 * `none`: unknown, for example for work that was canceled or that the agent refused with a reason.
 */
export type HealthVerdict = 'healthy' | 'unhealthy' | 'unknown'

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
  if (typeof report !== 'object' || !('state' in report)) return 'healthy'
  if (report.state !== 'TASK_STATE_FAILED') return 'healthy'
  return isAgentFailure(report.metadata?.['reason']) ? 'unhealthy' : 'unknown'
}

export function verdictOnError(reason: unknown, signal: AbortSignal): HealthVerdict {
  if (signal.aborted)
    return signal.reason instanceof A2AError && signal.reason.code === 'TIMEOUT' ? 'unhealthy' : 'unknown'
  return isAgentFailure(A2AError.from(reason).code) ? 'unhealthy' : 'unknown'
}
