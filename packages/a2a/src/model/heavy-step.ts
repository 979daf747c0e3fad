/**
 * Work in proportion to a large body (to parse, hash, store or write 20 MB) is done in steps, and the steps of all requests
 * stand in one queue: one step in a turn of the event loop, then a pause as long as the step. A step takes up to 200 ms;
 * ten callers who send such bodies at one time would otherwise hold up every other request for all their steps in a row.
 *
 * The timers keep the process alive: work that waits for its step is done before the process ends by itself.
 */

/** Characters or bytes. Below this a step takes a few milliseconds and is not queued. */
const heavyFrom = 500_000

/** Longer pauses only make large requests slower: a small one is answered in a few milliseconds. */
const longestPauseMs = 50

/**
 * A body that waits for its first step is its bytes; one that has begun is five times as much. So what has begun goes
 * first, but for one step in so many: otherwise large answers that are read without end would keep new bodies out.
 */
const stepsPerFirst = 4

const first: (() => void)[] = []
const begun: (() => void)[] = []
let isRunning = false
let stepsSinceFirst = 0

// Kept from the start: timers that a test replaces meanwhile, and puts back, would lose the step that they hold.
const { setTimeout: wait, setImmediate: immediately } = globalThis as {
  readonly setTimeout: (run: () => void, ms?: number) => unknown
  /** Workers and browsers have none. */
  readonly setImmediate?: (run: () => void) => unknown
}

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
  return queued(begun)
}

/** The same for the first step of a request. */
export function firstHeavyStep(): Promise<void> {
  return queued(first)
}

function queued(waiting: (() => void)[]): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve)
    if (isRunning) return
    isRunning = true
    laterTurn(next)
  })
}

function next(): void {
  const step = taken()
  if (step === undefined) {
    isRunning = false
    return
  }
  const startedAt = performance.now()
  // Resolves a promise: what goes wrong in the step is for whoever waits for it.
  step()
  // What waits for the step runs before this does.
  laterTurn(() => wait(next, Math.min(performance.now() - startedAt, longestPauseMs)))
}

function taken(): (() => void) | undefined {
  const isFirst = begun.length === 0 || (first.length > 0 && stepsSinceFirst >= stepsPerFirst - 1)
  stepsSinceFirst = isFirst ? 0 : stepsSinceFirst + 1
  return (isFirst ? first : begun).shift()
}

function laterTurn(run: () => void): void {
  if (immediately === undefined) wait(run)
  else immediately(run)
}
