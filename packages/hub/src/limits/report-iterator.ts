/** Whatever an agent gives back, as one iterator of reports; what it returned rather than yielded is the return value. */
import type { AgentOutput, ObservableLike, Report } from '@parley/a2a'

export type ReportIterator = AsyncIterator<Report, Report | undefined, undefined>

/** How far an observable, which cannot be told to wait, may run ahead of its reader. */
const maxBehind = 10_000

/** Whether it is all there already, so that nothing of the agent runs any more. */
export function isPlain(output: AgentOutput): boolean {
  if (typeof output !== 'object' || output === null || Array.isArray(output)) return true
  return !(Symbol.asyncIterator in output || 'subscribe' in output || Symbol.iterator in output)
}

export function reportIterator(output: AgentOutput): ReportIterator {
  if (typeof output !== 'object' || output === null) return returned(output ?? undefined)
  if (Symbol.asyncIterator in output) return output[Symbol.asyncIterator]() as ReportIterator
  if ('subscribe' in output) return streamOf(output)[Symbol.asyncIterator]()
  if (Symbol.iterator in output) return waiting(output[Symbol.iterator]() as Iterator<Report, Report | undefined>)
  return returned(output)
}

function returned(report: Report | undefined): ReportIterator {
  return { next: async () => ({ done: true, value: report }) }
}

function waiting(iterator: Iterator<Report, Report | undefined>): ReportIterator {
  return {
    next: async () => iterator.next(),
    return: async () => iterator.return?.() ?? { done: true, value: undefined },
  }
}

function streamOf(observable: ObservableLike<Report>): ReadableStream<Report> {
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
