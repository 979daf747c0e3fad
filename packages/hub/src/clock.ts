/**
 * The two clocks of the hub. Wall time (`now`) is shown, stored and compared with other machines; it may be set at any moment.
 * Durations within the process (rates, rests, caches, idle times) are measured with the monotonic clock.
 */
export interface Clock {
  /** Wall time in milliseconds since the epoch. */
  readonly now: () => number
  /** Milliseconds since an arbitrary moment. Does not change with the wall clock. */
  readonly monotonicNow: () => number
}

export const systemClock: Clock = { now: () => Date.now(), monotonicNow: () => performance.now() }

/** The given clocks, or those of the system. A test that moves only `now` means both: its time passes, it does not step. */
export function clockOf({ now, monotonicNow = now }: Partial<Clock>): Clock {
  return { now: now ?? systemClock.now, monotonicNow: monotonicNow ?? systemClock.monotonicNow }
}
