/** Converts any agent output into one iterator of reports; a returned report is the return value. */
import type { AgentOutput, ObservableLike, Report } from '@parley/a2a'

export type ReportIterator = AsyncIterator<Report, Report | undefined, undefined>

/** How far an observable, which has no backpressure, may run ahead of its reader. */
const maxBehind = 10_000

/** Whether the output is complete, so that nothing of the agent runs any more. */
export function isCompleteOutput(output: AgentOutput): boolean {
  if (typeof output !== 'object' || output === null || Array.isArray(output)) return true
  return !(Symbol.asyncIterator in output || 'subscribe' in output || Symbol.iterator in output)
}

export function reportIterator(output: AgentOutput): ReportIterator {
  if (typeof output !== 'object' || output === null) return returnedReport(output ?? undefined)
  if (Symbol.asyncIterator in output) return output[Symbol.asyncIterator]() as ReportIterator
  if ('subscribe' in output) return streamOfObservable(output)[Symbol.asyncIterator]()
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

function streamOfObservable(observable: ObservableLike<Report>): ReadableStream<Report> {
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
