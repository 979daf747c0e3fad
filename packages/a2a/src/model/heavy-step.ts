/**
 * Work in proportion to a large body or task (parsing, hashing, storing, loading or writing 20 MB) runs in steps, and the steps of
 * all requests share one queue: one step per turn of the event loop, then a pause as long as the step. Callers take turns, so the
 * large requests of one do not delay those of another, however many there are. Work that takes longer than a few milliseconds is cut
 * (`inSteps`).
 *
 * The timers keep the process alive: queued steps run before the process exits by itself.
 */

/** Characters or bytes. A smaller step takes a few milliseconds and is not queued. */
const heavyFrom = 500_000

/** How long a step that can be cut holds the event loop, and how long the pause after any step is at most. */
const stepMs = 15
const longestPauseMs = 50

/**
 * A body or task that waits for its first step takes little memory, or just its bytes; in progress it takes five times as much. So
 * work in progress goes first, except for one step in so many. Without the exception, large responses that are read without end
 * would block new bodies. A body of 20 MB takes about as many steps: with a smaller number bodies would begin faster than they end.
 */
const stepsPerFirst = 32

/** Resolves when the next step of some work may run, which ends with the current turn of the event loop. */
export type NextStep = () => Promise<void>

/** Steps of several callers, which take turns. */
export class CallerQueue {
  readonly #waiting = new Map<string, (() => void)[]>()

  push(caller: string, step: () => void): void {
    const own = this.#waiting.get(caller)
    if (own === undefined) this.#waiting.set(caller, [step])
    else own.push(step)
  }

  get isEmpty(): boolean {
    return this.#waiting.size === 0
  }

  /** The oldest step of the caller whose turn it is; the caller's next turn comes after those of all others. */
  take(): (() => void) | undefined {
    for (const [caller, own] of this.#waiting) {
      const step = own.shift()
      this.#waiting.delete(caller)
      if (own.length > 0) this.#waiting.set(caller, own)
      return step
    }
    return undefined
  }
}

const first = new CallerQueue()
const begun = new CallerQueue()
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

/** For whom work is done. Read only if it is heavy. */
export interface WorkOwner {
  /** A text that is the same for all work of a caller. */
  readonly callerKey: string
}

/** `caller`: any text that is the same for all work of a caller. Default: work of the process itself. */
export function heavyStep(caller = ''): Promise<void> {
  return enqueueStep(begun, caller)
}

/** Like `heavyStep`, for the first step of a request. */
export function firstHeavyStep(caller = ''): Promise<void> {
  return enqueueStep(first, caller)
}

/** Runs work that yields every millisecond or so, cut into steps. The first runs at once: call it in a step. */
export async function inSteps<Result>(work: Iterator<unknown, Result>, nextStep: NextStep): Promise<Result> {
  for (;;) {
    const until = performance.now() + stepMs
    do {
      const made = work.next()
      if (made.done === true) return made.value
    } while (performance.now() < until)
    await nextStep()
  }
}

function enqueueStep(queue: CallerQueue, caller: string): Promise<void> {
  return new Promise((resolve) => {
    queue.push(caller, resolve)
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
  const isFirst = begun.isEmpty || (!first.isEmpty && stepsSinceFirst >= stepsPerFirst - 1)
  stepsSinceFirst = isFirst ? 0 : stepsSinceFirst + 1
  return (isFirst ? first : begun).take()
}

function runNextTick(run: () => void): void {
  if (immediately === undefined) wait(run)
  else immediately(run)
}
