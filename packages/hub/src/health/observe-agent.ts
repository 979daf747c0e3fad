/** Observes the turns of an agent: time to the first report, and the health verdict. Transparent to the agent. */
import { hasSettled } from '@parley/a2a'
import type { Agent, Turn } from '@parley/a2a'
import { watchRun, wrapAgent, type RunWatcher } from '../agents/wrap-agent.ts'
import { verdictOnError, verdictOnReport } from './health-verdict.ts'
import type { HealthVerdict } from './health-verdict.ts'

export interface TurnObserver {
  /** The time until the first report. */
  onFirstReport(ms: number): void
  /** Called once per turn. */
  onEnd(verdict: HealthVerdict): void
}

export function observeAgent(agent: Agent, observer: TurnObserver, monotonicNow: () => number): Agent {
  return wrapAgent(agent, (run) => (turn) => watchRun(run, turn, createTurnWatch(observer, turn, monotonicNow)))
}

function createTurnWatch(observer: TurnObserver, turn: Turn, monotonicNow: () => number): RunWatcher {
  const startedAt = monotonicNow()
  let verdict: HealthVerdict | undefined
  let isOver = false
  let isListening = false
  let isSettled = false
  const reportFirst = (): void => {
    if (verdict === undefined) observer.onFirstReport(monotonicNow() - startedAt)
  }
  const end = (): void => {
    if (isOver) return
    isOver = true
    if (isListening) turn.signal.removeEventListener('abort', onAbort)
    observer.onEnd(verdict ?? 'none')
  }
  const onAbort = (): void => {
    if (verdictOnError(undefined, turn.signal) !== 'ill') return
    verdict = 'ill'
    end()
  }
  return {
    // Keeps watching for a while: an agent that ignores its deadline is detected too.
    onPending() {
      if (isListening) return
      isListening = true
      turn.signal.addEventListener('abort', onAbort)
    },
    onReport(report) {
      reportFirst()
      // The last report decides, and a failure is one.
      verdict = verdictOnReport(report)
      isSettled = typeof report === 'object' && ('reply' in report || ('state' in report && hasSettled(report.state)))
    },
    onStop() {
      // The last report may have ended the turn. Otherwise the turn was stopped midway, and the verdict is unknown.
      if (!isSettled && verdict !== 'ill') verdict = 'none'
      end()
    },
    onEnd() {
      verdict ??= 'well'
      end()
    },
    onError(reason) {
      verdict = verdictOnError(reason, turn.signal)
      end()
    },
  }
}
