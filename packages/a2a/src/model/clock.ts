/**
 * The two clocks of a process. Wall time is shown, stored and compared with other machines; it may step back or forward at any
 * moment (an operator, NTP, a virtual machine that resumes). Durations within a process (timeouts, rate limits, caches) are
 * measured with the monotonic clock, which never steps. `startTimer` waits; `toTimestamp` reads the timestamps of peers.
 */
export interface Clock {
  /** Wall time in milliseconds since the epoch. */
  readonly now: () => number
  /** Milliseconds since an arbitrary moment. Never goes back, and does not jump with the wall clock. */
  readonly monotonicNow: () => number
}

/** The clock of the system: `Date.now` and `performance.now`. */
export const systemClock: Clock = { now: () => Date.now(), monotonicNow: () => performance.now() }

/**
 * Returns the given clocks, or those of the system. If only `now` is given, it also serves as the monotonic clock: time
 * then passes in a test without stepping.
 */
export function clockOf({ now, monotonicNow = now }: ClockOptions): Clock {
  return { now: now ?? systemClock.now, monotonicNow: monotonicNow ?? systemClock.monotonicNow }
}

/** Clocks to inject in tests, in milliseconds. Default: the system clocks. */
export interface ClockOptions {
  readonly now?: (() => number) | undefined
  readonly monotonicNow?: (() => number) | undefined
}

/** Smaller differences are rounding, or a slow adjustment of the clock. */
const smallestStepMs = 1_000

/**
 * Returns a function that takes a time just read from the wall clock and subtracts the steps that the clock has made since
 * `createStepCorrection` was called. Without steps it returns the time unchanged.
 */
export function createStepCorrection({ now, monotonicNow }: Clock): (at: number) => number {
  const startedAt = now() - monotonicNow()
  return (at) => {
    const stepMs = now() - monotonicNow() - startedAt
    return Math.abs(stepMs) < smallestStepMs ? at : Math.round(at - stepMs)
  }
}

/** Node fires longer timers at once. */
export const maxTimerMs = 2 ** 31 - 1

/**
 * Calls `act` after a delay of any length, unless it is canceled first by the returned function. An
 * infinite delay never ends.
 */
export function startTimer(delayMs: number, act: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  const wait = (ms: number): void => {
    if (ms === Infinity) return
    timer = ms > maxTimerMs ? setTimeout(wait, maxTimerMs, ms - maxTimerMs) : setTimeout(act, Math.ceil(ms))
  }
  wait(delayMs)
  return () => clearTimeout(timer)
}

/** Lets an otherwise idle process end while the timer runs. Timers of browsers and workers have no such method. */
export function unrefTimer<Timer>(timer: Timer): Timer {
  ;(timer as { unref?(): unknown }).unref?.()
  return timer
}

// Timestamps as 1.0 writes them: UTC, milliseconds, `Z` (J-3). Peers write them in other ways too.

const timestampPattern = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(?:\.(\d{0,9}))?(?:[Zz]|([+\- ])(\d\d):?(\d\d))?$/

/** A time as `toTimestamp` returns it, on a day that every month has. */
const canonicalPattern = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|1\d|2[0-8])T([01]\d|2[0-3])(:[0-5]\d){2}\.\d{3}Z$/

/**
 * Accepts 0 to 9 fraction digits, any offset, and a missing zone as UTC. Returns `undefined` if the text is not a time. An offset
 * may begin with a space: an unescaped `+` in a query string becomes one.
 */
export function toTimestamp(text: string): string | undefined {
  // Most peers write this form: 0.05 µs instead of 1.6.
  if (canonicalPattern.test(text)) return text
  const found = timestampPattern.exec(text)
  if (found === null) return undefined
  const [, date, time, fraction = '', sign, hours = '0', minutes = '0'] = found
  const millis = fraction.slice(0, 3).padEnd(3, '0')
  const utc = `${date}T${time}.${millis}Z`
  const at = Date.parse(utc)
  // Date.parse moves the 31st of June into July; reject dates that do not exist.
  if (Number.isNaN(at) || new Date(at).toISOString() !== utc) return undefined
  if (sign === undefined) return utc
  if (Number(hours) > 23 || Number(minutes) > 59) return undefined
  const offsetMs = (Number(hours) * 60 + Number(minutes)) * 60_000
  const shifted = new Date(sign === '-' ? at + offsetMs : at - offsetMs).toISOString()
  // Outside the years 0 to 9999 the notation has a sign.
  return shifted.length === utc.length ? shifted : undefined
}
