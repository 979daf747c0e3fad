/**
 * Reports of work in which several things go on at once, as one sequence. Whoever says something waits until it was taken
 * and the next is asked for: by then it stands in the log's queue, in front of any checkpoint that follows.
 */
import type { Report } from '@parley/a2a'

export type Say = (report: Report) => Promise<void>

/** The work begins when the first report is asked for, and is let go of when nobody wants more. */
export function reportsOf(work: (say: Say) => Promise<void>): AsyncIterable<Report> {
  return { [Symbol.asyncIterator]: () => iterate(work) }
}

function iterate(work: (say: Say) => Promise<void>): AsyncIterator<Report> {
  const said: { readonly report: Report; readonly taken: () => void }[] = []
  let handedOut: (() => void) | undefined
  let working: Promise<void> | undefined
  let failure: { readonly reason: unknown } | undefined
  let hasEnded = false
  let wake: (() => void) | undefined

  const say: Say = (report) =>
    new Promise((resolve) => {
      // Nobody listens any more: what is at work will notice by its signal.
      if (hasEnded) return resolve()
      said.push({ report, taken: resolve })
      wake?.()
    })

  const end = (reason?: { readonly reason: unknown }): void => {
    failure ??= reason
    hasEnded = true
    wake?.()
  }

  return {
    async next() {
      handedOut?.()
      handedOut = undefined
      working ??= work(say).then(
        () => end(),
        (reason: unknown) => end({ reason }),
      )
      while (said.length === 0 && !hasEnded) await new Promise<void>((resolve) => (wake = resolve))
      const next = said.shift()
      if (next !== undefined) {
        handedOut = next.taken
        return { done: false, value: next.report }
      }
      if (failure !== undefined) throw failure.reason
      return { done: true, value: undefined }
    },
    async return() {
      end()
      handedOut?.()
      for (const { taken } of said.splice(0)) taken()
      return { done: true, value: undefined }
    },
  }
}
