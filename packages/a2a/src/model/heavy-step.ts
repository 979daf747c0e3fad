/**
 * Work in proportion to a large body (to parse, hash, store or write 20 MB) is done in steps, and the steps of all requests
 * stand in one queue: one step in a turn of the event loop, then a pause as long as the step. A step takes up to 200 ms;
 * ten callers who send such bodies at one time would otherwise hold up every other request for all their steps in a row.
 */

/** Characters or bytes. Below this a step takes a few milliseconds, which nobody has to wait for. */
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

/** Resolves when a step may be done. It is done when the event loop comes round again. */
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
  // What waits for the step runs before this does.
  laterTurn(() => setTimeout(next, Math.min(performance.now() - startedAt, longestPauseMs)))
}

/** Workers and browsers have no setImmediate. */
function laterTurn(run: () => void): void {
  const { setImmediate: immediately } = globalThis as { readonly setImmediate?: (run: () => void) => unknown }
  if (immediately === undefined) setTimeout(run)
  else immediately(run)
}
