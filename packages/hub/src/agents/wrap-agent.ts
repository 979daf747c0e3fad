/** Wraps agents: replaces their functions, watches their runs, and reads any output as one iterator of reports. */
import type { Agent, AgentFunction, AgentOutput, Report, Turn } from '@parley/a2a'
import type { ObservableLike } from '@parley/a2a/internal'

/** The same agent, with the same resume semantics, whose functions are replaced. */
export function wrapAgent(agent: Agent, wrap: (run: AgentFunction) => AgentFunction): Agent {
  if (typeof agent === 'function') return wrap(agent)
  return agent.resume === 'reattach'
    ? { ...agent, run: wrap(agent.run), reattach: wrap(agent.reattach) }
    : { ...agent, run: wrap(agent.run) }
}

export interface RunWatcher {
  /** The function of the agent returned a promise. Output that is read piece by piece reports `onStop` if it is not read to its end. */
  onPending?(): void
  onReport?(report: Report | undefined): void
  onEnd(): void
  onError(reason: unknown): void
  /** The reader stopped; the agent may still work. */
  onStop(): void
  /** The agent has stopped after its reader did. */
  onStopped?(): void
}

/** Runs an agent function, and reports its output to the watcher. */
export function watchRun(run: AgentFunction, turn: Turn, watcher: RunWatcher): AgentOutput | Promise<AgentOutput> {
  const failed = (reason: unknown): never => {
    watcher.onError(reason)
    throw reason
  }
  try {
    const output = run(turn)
    if (!(output instanceof Promise)) return watchOutput(output, watcher, turn)
    watcher.onPending?.()
    return output.then((given: AgentOutput) => watchOutput(given, watcher, turn), failed)
  } catch (reason) {
    return failed(reason)
  }
}

function watchOutput(output: AgentOutput, watcher: RunWatcher, turn: Turn): AgentOutput {
  if (!isCompleteOutput(output)) {
    return { [Symbol.asyncIterator]: () => watchIterator(reportIterator(output, turn), watcher) }
  }
  const reports = Array.isArray(output) ? (output as readonly Report[]) : [output as Report | undefined]
  for (const report of reports) watcher.onReport?.(report)
  watcher.onEnd()
  return output
}

function watchIterator(iterator: ReportIterator, watcher: RunWatcher): ReportIterator {
  const onResult = (result: IteratorResult<Report, Report | undefined>): typeof result => {
    if (result.done !== true || result.value !== undefined) watcher.onReport?.(result.value)
    if (result.done === true) watcher.onEnd()
    return result
  }
  const onError = (reason: unknown): never => {
    watcher.onError(reason)
    throw reason
  }
  return {
    next() {
      try {
        return Promise.resolve(iterator.next()).then(onResult, onError)
      } catch (reason) {
        return onError(reason)
      }
    },
    async return() {
      watcher.onStop()
      try {
        return (await iterator.return?.()) ?? { done: true, value: undefined }
      } finally {
        watcher.onStopped?.()
      }
    },
  }
}

export type ReportIterator = AsyncIterator<Report, Report | undefined, undefined>

/** How far an observable, which has no backpressure, may run ahead of its reader. */
const maxBehind = 10_000

/** Whether the output is complete, so that nothing of the agent runs any more. */
export function isCompleteOutput(output: AgentOutput): boolean {
  if (typeof output !== 'object' || output === null || Array.isArray(output)) return true
  return !(Symbol.asyncIterator in output || 'subscribe' in output || Symbol.iterator in output)
}

/** A returned report is the return value. An observable is unsubscribed when the turn is aborted. */
export function reportIterator(output: AgentOutput, turn?: Turn): ReportIterator {
  if (typeof output !== 'object' || output === null) return returnedReport(output ?? undefined)
  if (Symbol.asyncIterator in output) return output[Symbol.asyncIterator]() as ReportIterator
  if ('subscribe' in output) return streamOfObservable(output, turn?.signal)[Symbol.asyncIterator]()
  if (Symbol.iterator in output)
    return fromSyncIterator(output[Symbol.iterator]() as Iterator<Report, Report | undefined>)
  return returnedReport(output)
}

function returnedReport(report: Report | undefined): ReportIterator {
  return { next: async () => ({ done: true, value: report }) }
}

function fromSyncIterator(iterator: Iterator<Report, Report | undefined>): ReportIterator {
  return {
    next: async () => iterator.next(),
    return: async () => iterator.return?.() ?? { done: true, value: undefined },
  }
}

function streamOfObservable(observable: ObservableLike<Report>, signal?: AbortSignal): ReadableStream<Report> {
  let subscription: ReturnType<ObservableLike<Report>['subscribe']>
  const stop = (): void => {
    if (typeof subscription === 'function') subscription()
    else subscription?.unsubscribe()
  }
  return new ReadableStream<Report>({
    start(controller) {
      let isOver = false
      const once = (end: () => void): void => {
        if (isOver) return
        isOver = true
        end()
      }
      const abort = (): void => {
        controller.error(signal?.reason)
        stop()
      }
      signal?.addEventListener('abort', () => once(abort), { once: true })
      subscription = observable.subscribe({
        next(report) {
          if (isOver) return
          controller.enqueue(report)
          if ((controller.desiredSize ?? 0) >= -maxBehind) return
          once(() => controller.error(new Error(`more than ${maxBehind} reports behind`)))
          stop()
        },
        error: (reason) => once(() => controller.error(reason)),
        complete: () => once(() => controller.close()),
      })
    },
    cancel: stop,
  })
}
