/**
 * When to try again what failed: after delays that double, at once on request, or not until it is requested. Used to open agents and
 * to reach them.
 */
import { backoffMs } from '@parley/a2a/internal'

/** For operators: how a failure is being retried. */
export interface RetryState {
  /** `running`: an attempt is in progress. `stopped`: there is no next attempt until one is requested. */
  readonly state: 'scheduled' | 'running' | 'stopped'
  /** Set if the state is `scheduled`. */
  readonly nextTryAt?: number
  /** Consecutive failed attempts, and the time of the first of them. */
  readonly attempts: number
  readonly since: number
}

export interface RetryScheduleOptions {
  /** Rejects if it failed. */
  attempt(): Promise<void>
  /** The delay after the first failure, and the longest. Infinity: no further attempt without a request. */
  readonly firstMs: number
  lastMs(): number
  readonly now: () => number
  /** Called after each failed attempt, when the next one is known, and after `stop`. */
  onChange?(): void
}

export interface RetrySchedule {
  /** `undefined` before the first failure and after a success. */
  readonly state: RetryState | undefined
  /** Whether `stop` was called since. */
  readonly isStopped: boolean
  /** Tries now. A call during an attempt waits for that one. Never rejects. */
  run(): Promise<void>
  /** Tries now and continues to retry, beginning with the shortest delay. */
  retryNow(): Promise<void>
  /** No further attempts until `retryNow`. An attempt in progress continues. */
  stop(): void
  /** Forgets the failures. */
  reset(): void
  close(): void
}

export function createRetrySchedule({ attempt, firstMs, lastMs, now, onChange }: RetryScheduleOptions): RetrySchedule {
  let attempts = 0
  let since = 0
  /** Failures since the delay began with the shortest. */
  let failures = 0
  let nextTryAt: number | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  let running: Promise<void> | undefined
  let isStopped = false
  let isClosed = false

  function run(): Promise<void> {
    unschedule()
    return (running ??= attempt()
      .then(reset, recordFailure)
      .finally(() => {
        running = undefined
        if (attempts > 0 && !isClosed) onChange?.()
      }))
  }

  function recordFailure(): void {
    const at = now()
    if (attempts === 0) since = at
    attempts += 1
    if (isClosed || isStopped || lastMs() === Infinity) return
    failures += 1
    const waitMs = Math.round(backoffMs(failures, firstMs, lastMs()))
    nextTryAt = at + waitMs
    timer = setTimeout(() => void run(), waitMs).unref()
  }

  function unschedule(): void {
    clearTimeout(timer)
    nextTryAt = undefined
  }

  function reset(): void {
    unschedule()
    attempts = 0
    failures = 0
    isStopped = false
  }

  return {
    get state(): RetryState | undefined {
      if (attempts === 0) return undefined
      if (running !== undefined) return { state: 'running', attempts, since }
      if (nextTryAt !== undefined) return { state: 'scheduled', nextTryAt, attempts, since }
      return { state: 'stopped', attempts, since }
    },
    get isStopped() {
      return isStopped
    },
    run,
    retryNow() {
      isStopped = false
      failures = 0
      return run()
    },
    stop() {
      unschedule()
      isStopped = true
      if (running === undefined) onChange?.()
    },
    reset,
    close() {
      isClosed = true
      unschedule()
    },
  }
}
