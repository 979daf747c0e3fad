/**
 * Work in proportion to a large body (to parse, hash, store or write 20 MB) is split into steps. The steps of all requests
 * wait in one queue: one step per turn of the event loop, then a pause as long as the step, at most 50 ms. A step takes up to
 * 200 ms; without the queue, ten callers that send such bodies at once would block every other request for all their steps
 * in a row.
 */

/** Characters or bytes. Below this a step takes a few milliseconds and is not queued. */
const heavyFrom = 500_000

/** Longer pauses only make large requests slower: a small one is answered in a few milliseconds. */
const longestPauseMs = 50

const waiting: (() => void)[] = []
let isRunning = false

export function isHeavy(length: number): boolean {
  return length >= heavyFrom
}

const largeRequests = new WeakSet<object>()

/** The answer to a large request is likely to be as large. */
export function markLarge(request: object): void {
  largeRequests.add(request)
}

export function isMarkedLarge(request: object): boolean {
  return largeRequests.has(request)
}

/** Resolves when the caller may run its step, which ends with the current turn of the event loop. */
export function heavyStep(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve)
    if (isRunning) return
    isRunning = true
    laterTurn(next)
  })
}

function next(): void {
  const step = waiting.shift()
  if (step === undefined) {
    isRunning = false
    return
  }
  const startedAt = performance.now()
  step()
  // The step itself runs in the microtasks before this callback.
  laterTurn(() => setTimeout(next, Math.min(performance.now() - startedAt, longestPauseMs)))
}

/** Workers and browsers have no setImmediate. */
function laterTurn(run: () => void): void {
  const { setImmediate: immediately } = globalThis as { readonly setImmediate?: (run: () => void) => unknown }
  if (immediately === undefined) setTimeout(run)
  else immediately(run)
}
