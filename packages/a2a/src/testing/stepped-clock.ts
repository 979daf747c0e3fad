/** The clocks of a process whose wall clock is set while it runs. */
import type { Clock } from '../model/clock.ts'

export interface SteppedClock extends Clock {
  /** Sets the wall clock forward, or back. No time passes. */
  step(ms: number): void
  /** Lets time pass, on both clocks. */
  pass(ms: number): void
}

/** Stands still unless it is moved. */
export function steppedClock(startAt = Date.now()): SteppedClock {
  let [wall, monotonic] = [startAt, 0]
  return {
    now: () => wall,
    monotonicNow: () => monotonic,
    step: (ms) => void (wall += ms),
    pass(ms) {
      wall += ms
      monotonic += ms
    },
  }
}
