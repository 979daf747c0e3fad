/**
 * The generic cell rate algorithm. One number per key, the time at which its full rate is available again, replaces a list of
 * request times. Pure.
 */
import type { Rate } from '../config/values.ts'

export interface RateLimitStatus {
  readonly isAllowed: boolean
  readonly limit: number
  /** How many more requests are allowed at once. */
  readonly remaining: number
  /** When `remaining` is `limit` again without further requests; on the clock of the given `now`. */
  readonly fullAt: number
  /** 0 if it is allowed. */
  readonly retryAfterMs: number
}

/** Applies one request to a key whose rate is full again at `wholeAt`. A refused request uses nothing. */
export function applyRequest(wholeAt: number, { count, windowMs }: Rate, now: number): RateLimitStatus {
  const interval = windowMs / count
  const before = Math.max(wholeAt, now)
  const after = before + interval
  const retryAfterMs = Math.max(0, after - windowMs - now)
  // Intervals accumulate errors of a millionth of a millisecond, which must not cost the last request of a window.
  const isAllowed = retryAfterMs < 0.001
  const next = isAllowed ? after : before
  const remaining = Math.max(0, Math.floor((windowMs - (next - now)) / interval + 0.001))
  return { isAllowed, limit: count, remaining, fullAt: next, retryAfterMs: isAllowed ? 0 : retryAfterMs }
}
