/**
 * How often somebody may come: the generic cell rate algorithm. One number for each of them, the time at which all that
 * was used is whole again, says as much as a list of the times at which they came. Pure.
 */
import type { Rate } from '../config/values.ts'

export interface Standing {
  readonly isAllowed: boolean
  readonly limit: number
  /** How many more could come at once. */
  readonly remaining: number
  /** When `remaining` is `limit` again without further requests; on the clock of the given `now`. */
  readonly wholeAt: number
  /** 0 if it is allowed. */
  readonly retryAfterMs: number
}

/** What one more means for somebody whose rate is whole again at `wholeAt`. Nothing is used by one that is not allowed. */
export function oneMore(wholeAt: number, { count, windowMs }: Rate, now: number): Standing {
  const interval = windowMs / count
  const before = Math.max(wholeAt, now)
  const after = before + interval
  const retryAfterMs = Math.max(0, after - windowMs - now)
  // Intervals add up with errors of a millionth of a millisecond, which must not cost the last one of a window.
  const isAllowed = retryAfterMs < 0.001
  const next = isAllowed ? after : before
  const remaining = Math.max(0, Math.floor((windowMs - (next - now)) / interval + 0.001))
  return { isAllowed, limit: count, remaining, wholeAt: next, retryAfterMs: isAllowed ? 0 : retryAfterMs }
}
