/**
 * Time and order that depend only on the program: timers, immediates and `performance.now` of a simulated event loop.
 * A callback runs when all promises before it have settled, in the order in which real timers of the same lengths would come
 * due, and no time passes but from one to the next. Simulated code may wait for nothing else: no disk, no network, no
 * thread. It replaces globals, so its users need a separate process.
 */
export interface SimulatedTime {
  /** Milliseconds since the simulation began. */
  now(): number
  /** Resolves after so long. */
  sleep(ms: number): Promise<void>
  /** Resolves in the next turn of the simulated event loop. */
  turn(): Promise<void>
}

/** More than any simulation needs: one that reaches this never ends. */
const maxCallbacks = 1_000_000

const realImmediate = globalThis.setImmediate

/** Runs `main`, then everything that it scheduled. Rejects if `main` does, or if it waits for something that is not simulated. */
export async function simulate<Result>(main: (time: SimulatedTime) => Promise<Result>): Promise<Result> {
  const loop = new SimulatedLoop()
  const restore = replaceGlobals(loop)
  try {
    let outcome: { readonly value: Result } | { readonly reason: unknown } | undefined
    const settled = main({
      now: () => loop.now,
      sleep: (ms) => new Promise((resolve) => void loop.add(resolve, ms)),
      turn: () => new Promise((resolve) => void loop.add(resolve, immediately)),
    })
    void settled.then(
      (value) => (outcome = { value }),
      (reason: unknown) => (outcome = { reason }),
    )
    for (let callbacks = 0; callbacks < maxCallbacks; callbacks += 1) {
      await promisesToSettle()
      if (outcome !== undefined && ('reason' in outcome || loop.isEmpty)) return await settled
      if (!loop.runNext()) throw new Error('The simulation waits for something that is not simulated')
    }
    throw new Error('The simulation does not end')
  } finally {
    restore()
  }
}

function promisesToSettle(): Promise<void> {
  return new Promise((resolve) => void realImmediate(resolve))
}

/** Before every timer: the delay of an immediate. */
const immediately = -1

/** What the program holds of a timer. Only pending callbacks keep a simulation alive. */
interface Timer {
  at: number
  order: number
  readonly run: () => void
  readonly delayMs: number
  readonly isRepeated: boolean
  ref(): Timer
  unref(): Timer
}

class SimulatedLoop {
  now = 0
  #order = 0
  readonly #waiting = new Set<Timer>()

  get isEmpty(): boolean {
    return this.#waiting.size === 0
  }

  add(run: () => void, delayMs: number, isRepeated = false): Timer {
    const timer: Timer = { at: 0, order: 0, run, delayMs, isRepeated, ref: () => timer, unref: () => timer }
    this.#wait(timer)
    return timer
  }

  cancel(timer: Timer): void {
    this.#waiting.delete(timer)
  }

  /** False if nothing waits. */
  runNext(): boolean {
    let next: Timer | undefined
    for (const timer of this.#waiting) if (next === undefined || isBefore(timer, next)) next = timer
    if (next === undefined) return false
    this.#waiting.delete(next)
    this.now = next.at
    if (next.isRepeated) this.#wait(next)
    next.run()
    return true
  }

  #wait(timer: Timer): void {
    // As Node counts: whole milliseconds, at least one.
    timer.at = this.now + (timer.delayMs === immediately ? 0 : Math.max(1, Math.trunc(timer.delayMs) || 1))
    timer.order = this.#order += 1
    this.#waiting.add(timer)
  }
}

function isBefore(one: Timer, other: Timer): boolean {
  return one.at < other.at || (one.at === other.at && one.order < other.order)
}

type Run = (...given: unknown[]) => void

function replaceGlobals(loop: SimulatedLoop): () => void {
  const cancel = (timer?: Timer): void => {
    if (timer !== undefined) loop.cancel(timer)
  }
  const replacements = {
    setTimeout: (run: Run, ms = 1, ...given: unknown[]) => loop.add(() => run(...given), ms),
    setInterval: (run: Run, ms = 1, ...given: unknown[]) => loop.add(() => run(...given), ms, true),
    setImmediate: (run: Run, ...given: unknown[]) => loop.add(() => run(...given), immediately),
    clearTimeout: cancel,
    clearInterval: cancel,
    clearImmediate: cancel,
  }
  const { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate } = globalThis
  const realNow = performance.now
  Object.assign(globalThis, replacements)
  performance.now = () => loop.now
  return () => {
    Object.assign(globalThis, { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate })
    performance.now = realNow
  }
}
