/** An agent whose turns are watched: how long it takes to its first word, and whether it is well. It notices nothing. */
import { hasSettled } from '@parley/a2a'
import type { Agent, AgentFunction, AgentOutput, Report, Turn } from '@parley/a2a'
import { isPlain, reportIterator } from '../limits/report-iterator.ts'
import type { ReportIterator } from '../limits/report-iterator.ts'
import { verdictOnError, verdictOnReport } from './outcome.ts'
import type { Verdict } from './outcome.ts'

export interface Observer {
  /** So long it took until the agent said something. */
  firstWord(ms: number): void
  /** Once for each turn. */
  ended(verdict: Verdict): void
}

export function observed(agent: Agent, observer: Observer, monotonicNow: () => number): Agent {
  const watched =
    (run: AgentFunction): AgentFunction =>
    (turn) =>
      watch(run, turn, createWatch(observer, turn, monotonicNow))
  if (typeof agent === 'function') return watched(agent)
  return agent.resume === 'reattach'
    ? { ...agent, run: watched(agent.run), reattach: watched(agent.reattach) }
    : { ...agent, run: watched(agent.run) }
}

interface Watch {
  /** It goes on for a while: one that does not listen when its time is up is noticed all the same. */
  lasts(): void
  said(report: Report | undefined): void
  ended(): void
  /** Nobody wants more of it. */
  stopped(): void
  failed(reason: unknown): void
}

function createWatch(observer: Observer, turn: Turn, monotonicNow: () => number): Watch {
  const startedAt = monotonicNow()
  let verdict: Verdict | undefined
  let isOver = false
  let isListening = false
  let isSettled = false
  const hear = (): void => {
    if (verdict === undefined) observer.firstWord(monotonicNow() - startedAt)
  }
  const end = (): void => {
    if (isOver) return
    isOver = true
    if (isListening) turn.signal.removeEventListener('abort', onAbort)
    observer.ended(verdict ?? 'none')
  }
  const onAbort = (): void => {
    if (verdictOnError(undefined, turn.signal) !== 'ill') return
    verdict = 'ill'
    end()
  }
  return {
    lasts() {
      if (isListening) return
      isListening = true
      turn.signal.addEventListener('abort', onAbort)
    },
    said(report) {
      hear()
      // The last word decides, and a failure is one.
      verdict = verdictOnReport(report)
      isSettled = typeof report === 'object' && ('reply' in report || ('state' in report && hasSettled(report.state)))
    },
    stopped() {
      // What it said last may have ended the turn. Else it was stopped in the middle, and nobody knows.
      if (!isSettled && verdict !== 'ill') verdict = 'none'
      end()
    },
    ended() {
      verdict ??= 'well'
      end()
    },
    failed(reason) {
      verdict = verdictOnError(reason, turn.signal)
      end()
    },
  }
}

function watch(run: AgentFunction, turn: Turn, it: Watch): AgentOutput | Promise<AgentOutput> {
  try {
    const output = run(turn)
    if (!(output instanceof Promise)) return heard(output, it)
    it.lasts()
    return output.then(
      (given: AgentOutput) => heard(given, it),
      (reason: unknown) => {
        it.failed(reason)
        throw reason
      },
    )
  } catch (reason) {
    it.failed(reason)
    throw reason
  }
}

function heard(output: AgentOutput, it: Watch): AgentOutput {
  if (!isPlain(output)) {
    it.lasts()
    return { [Symbol.asyncIterator]: () => listening(reportIterator(output), it) }
  }
  const reports = Array.isArray(output) ? (output as readonly Report[]) : [output as Report | undefined]
  for (const report of reports) it.said(report)
  it.ended()
  return output
}

function listening(iterator: ReportIterator, it: Watch): ReportIterator {
  return {
    async next() {
      try {
        const result = await iterator.next()
        if (result.done !== true || result.value !== undefined) it.said(result.value)
        if (result.done === true) it.ended()
        return result
      } catch (reason) {
        it.failed(reason)
        throw reason
      }
    },
    async return() {
      it.stopped()
      return (await iterator.return?.()) ?? { done: true, value: undefined }
    },
  }
}
