/**
 * Merges the reports of concurrent work into one sequence. `emit` resolves when the report was taken and the next one is
 * requested: by then it is in the log's queue, before any checkpoint that follows.
 */
import type { Report } from '@parley/a2a'

export type EmitReport = (report: Report) => Promise<void>

/** The work starts when the first report is requested, and is released when the reader stops. */
export function streamReports(work: (emit: EmitReport) => Promise<void>): AsyncIterable<Report> {
  return { [Symbol.asyncIterator]: () => reportIterator(work) }
}

function reportIterator(work: (emit: EmitReport) => Promise<void>): AsyncIterator<Report> {
  const queued: { readonly report: Report; readonly taken: () => void }[] = []
  let releaseCurrent: (() => void) | undefined
  let working: Promise<void> | undefined
  let failure: { readonly reason: unknown } | undefined
  let hasEnded = false
  let wake: (() => void) | undefined

  const emit: EmitReport = (report) =>
    new Promise((resolve) => {
      // The reader has stopped; the work notices it by its signal.
      if (hasEnded) return resolve()
      queued.push({ report, taken: resolve })
      wake?.()
    })

  const end = (reason?: { readonly reason: unknown }): void => {
    failure ??= reason
    hasEnded = true
    wake?.()
  }

  return {
    async next() {
      releaseCurrent?.()
      releaseCurrent = undefined
      working ??= work(emit).then(
        () => end(),
        (reason: unknown) => end({ reason }),
      )
      while (queued.length === 0 && !hasEnded) await new Promise<void>((resolve) => (wake = resolve))
      const next = queued.shift()
      if (next !== undefined) {
        releaseCurrent = next.taken
        return { done: false, value: next.report }
      }
      if (failure !== undefined) throw failure.reason
      return { done: true, value: undefined }
    },
    async return() {
      end()
      releaseCurrent?.()
      for (const { taken } of queued.splice(0)) taken()
      return { done: true, value: undefined }
    },
  }
}
