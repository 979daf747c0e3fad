/**
 * Work in proportion to a large body (parsing, hashing, storing or writing 20 MB) runs in steps, and the steps of all requests
 * share one queue: one step per turn of the event loop, then a pause as long as the step. A step takes up to 200 ms. Without the
 * queue, ten callers who send such bodies at the same time would delay every other request by all their steps in a row.
 *
 * The timers keep the process alive: queued steps run before the process exits by itself.
 */

/** Characters or bytes. A smaller step takes a few milliseconds and is not queued. */
const heavyFrom = 500_000

/** Longer pauses only slow down large requests: a small one takes a few milliseconds. */
const longestPauseMs = 50

/**
 * A body that waits for its first step takes its bytes in memory; a body in progress takes five times as much. So bodies in
 * progress go first, except for one step in so many. Without the exception, large responses that are read without end would block
 * new bodies.
 */
const stepsPerFirst = 4

const first: (() => void)[] = []
const begun: (() => void)[] = []
let isRunning = false
let stepsSinceFirst = 0

// Captured at load: if a test replaced the timers and restored them, it would lose a pending step.
const { setTimeout: wait, setImmediate: immediately } = globalThis as {
  readonly setTimeout: (run: () => void, ms?: number) => unknown
  /** Missing in workers and browsers. */
  readonly setImmediate?: (run: () => void) => unknown
}

export function isHeavy(length: number): boolean {
  return length >= heavyFrom
}

const largeRequests = new WeakSet<object>()

/** The response to a large request is likely to be as large. */
export function markLarge(request: object): void {
  largeRequests.add(request)
}

export function isMarkedLarge(request: object): boolean {
  return largeRequests.has(request)
}

/** Resolves when the caller may run its step, which ends with the current turn of the event loop. */
export function heavyStep(): Promise<void> {
  return enqueueStep(begun)
}

/** Like `heavyStep`, for the first step of a request. */
export function firstHeavyStep(): Promise<void> {
  return enqueueStep(first)
}

function enqueueStep(waiting: (() => void)[]): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve)
    if (isRunning) return
    isRunning = true
    runNextTick(next)
  })
}

function next(): void {
  const step = takeStep()
  if (step === undefined) {
    isRunning = false
    return
  }
  const startedAt = performance.now()
  // Resolves a promise; an error in the step goes to the code that awaits it.
  step()
  // The code that awaits the step runs before this.
  runNextTick(() => wait(next, Math.min(performance.now() - startedAt, longestPauseMs)))
}

function takeStep(): (() => void) | undefined {
  const isFirst = begun.length === 0 || (first.length > 0 && stepsSinceFirst >= stepsPerFirst - 1)
  stepsSinceFirst = isFirst ? 0 : stepsSinceFirst + 1
  return (isFirst ? first : begun).shift()
}

function runNextTick(run: () => void): void {
  if (immediately === undefined) wait(run)
  else immediately(run)
}
