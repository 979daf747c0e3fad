/**
 * Many timeouts of one length, nearly all of them canceled: one timer for all instead of one each. A timer for every message that
 * is answered at once cost 9 µs of the 100 that its response took, and a stream sets one for each report.
 */
export interface SharedTimer {
  /** Cancels the timeout. Does nothing if it has fired or was canceled before. */
  cancel(): void
}

/** Calls `run` after the delay. Like a timer, it keeps the process alive until then, or until it is canceled. */
export function setSharedTimeout(delayMs: number, run: () => void): SharedTimer {
  let queue = timeoutQueues.get(delayMs)
  if (queue === undefined) timeoutQueues.set(delayMs, (queue = new TimeoutQueue(delayMs)))
  return queue.add(run)
}

/** Like `setSharedTimeout`, for a length of its own. */
export function setLongTimeout(delayMs: number, run: () => void): SharedTimer {
  const until = performance.now() + delayMs
  const look = (): void => {
    if (performance.now() + earlyMs >= until) return run()
    wake()
  }
  const wake = (): void => {
    timer = setTimeout(look, Math.min(Math.max(1, Math.ceil(until - performance.now())), maxTimerMs))
  }
  let timer: Timer | undefined
  wake()
  return { cancel: () => clearTimeout(timer) }
}

/** By length; the lengths are settings, so there are few. */
const timeoutQueues = new Map<number, TimeoutQueue>()

/** Node fires longer timers at once; after this time the delay is checked again. */
export const maxTimerMs = 2 ** 31 - 1
/** Timers count in whole milliseconds of a clock that is read once per event-loop turn, and may fire one early. */
const earlyMs = 1

class QueuedTimeout implements SharedTimer {
  readonly until: number
  run: (() => void) | undefined
  readonly #queue: TimeoutQueue

  constructor(queue: TimeoutQueue, until: number, run: () => void) {
    this.#queue = queue
    this.until = until
    this.run = run
  }

  cancel(): void {
    if (this.run === undefined) return
    this.run = undefined
    this.#queue.timeoutCanceled()
  }
}

/** All timeouts have the same length, so the first added is the first due. */
class TimeoutQueue {
  readonly #delayMs: number
  #timeouts: QueuedTimeout[] = []
  /** The start of the queue: removing each due timeout from the front would move thousands of others. */
  #first = 0
  #waiting = 0
  /** At this length canceled timeouts are removed from the queue. */
  #compactAt = 64
  #timer: Timer | undefined

  constructor(delayMs: number) {
    this.#delayMs = delayMs
  }

  add(run: () => void): SharedTimer {
    const timeout = new QueuedTimeout(this, performance.now() + this.#delayMs, run)
    if (this.#timeouts.length >= this.#compactAt) this.#compact()
    this.#timeouts.push(timeout)
    this.#waiting += 1
    if (this.#timer === undefined) this.#wakeFor(timeout)
    else if (this.#waiting === 1) this.#timer.ref?.()
    return timeout
  }

  timeoutCanceled(): void {
    this.#waiting -= 1
    // The timer stays for the next timeout, which is cheaper than a new one, but no longer keeps the process alive.
    if (this.#waiting === 0) this.#timer?.unref?.()
  }

  #wakeFor({ until }: QueuedTimeout): void {
    const inMs = Math.max(1, Math.ceil(until - performance.now()))
    this.#timer = setTimeout(() => this.#wake(), Math.min(inMs, maxTimerMs))
  }

  #wake(): void {
    this.#timer = undefined
    const now = performance.now() + earlyMs
    const due = this.#takeDue(now)
    if (this.#first > 64 && this.#first * 2 > this.#timeouts.length) this.#compact()
    // Before any callback runs, because it may add a timeout.
    const next = this.#timeouts[this.#first]
    if (next !== undefined) this.#wakeFor(next)
    for (const timeout of due) {
      const { run } = timeout
      timeout.cancel()
      try {
        run?.()
      } catch (reason) {
        // An error surfaces as from a separate timer, and does not affect the other callbacks.
        setTimeout(() => {
          throw reason
        })
      }
    }
  }

  /** Canceled timeouts are skipped. */
  #takeDue(now: number): readonly QueuedTimeout[] {
    const due: QueuedTimeout[] = []
    for (; this.#first < this.#timeouts.length; this.#first += 1) {
      const timeout = this.#timeouts[this.#first] as QueuedTimeout
      if (timeout.run === undefined) continue
      if (timeout.until > now) break
      due.push(timeout)
    }
    return due
  }

  #compact(): void {
    this.#timeouts = this.#timeouts.slice(this.#first).filter(({ run }) => run !== undefined)
    this.#first = 0
    this.#compactAt = Math.max(64, 2 * this.#timeouts.length)
  }
}

/** Node's timers support these; those of browsers do not. */
type Timer = ReturnType<typeof setTimeout> & { ref?(): void; unref?(): void }
