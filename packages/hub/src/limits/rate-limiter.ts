/**
 * The rate limiters of this process: replicas count separately, which costs no round trip and allows at most the rate times the
 * number of replicas. They use the generic cell rate algorithm: one number per key, the time at which its full rate is available
 * again, replaces a list of request times.
 */
import { systemClock } from '@parley/a2a/internal'
import type { Rate } from '../config/values.ts'

export interface RateClaim {
  /** The counted key: `key:…`, `agent:…`, `address:…`. */
  readonly key: string
  readonly rate: Rate
}

export interface RateLimiter {
  /**
   * Uses one request of each claim, or of none if one of them is exhausted. Returns the tightest claim; `undefined` for no claims.
   */
  take(claims: readonly RateClaim[]): RateLimitStatus | undefined
  /** The number of remembered keys. */
  readonly size: number
}

/** A client that changes its address each time must not fill the memory. */
const maxRemembered = 100_000

/** `now` is the monotonic clock, so that a step of the wall clock does not refuse callers for the length of the step. */
export function createRateLimiter(now: () => number = systemClock.monotonicNow, maxKeys = maxRemembered): RateLimiter {
  const fullAtByKey = new Map<string, number>()

  function remember(who: string, at: number): void {
    // Moved to the end, so that the least recently used keys come first. Their order matters only when some are evicted.
    if (fullAtByKey.size > maxKeys / 2) fullAtByKey.delete(who)
    fullAtByKey.set(who, at)
    if (fullAtByKey.size > maxKeys) evict()
  }

  /** Evicts a tenth at once, so that a full map is not scanned for every new key. */
  function evict(): void {
    const time = now()
    for (const [who, at] of fullAtByKey) if (at <= time) fullAtByKey.delete(who)
    for (const who of fullAtByKey.keys()) {
      if (fullAtByKey.size <= maxKeys * 0.9) return
      fullAtByKey.delete(who)
    }
  }

  return {
    take(claims) {
      const [first] = claims
      if (first === undefined) return undefined
      const time = now()
      // Nearly every request has one claim.
      if (claims.length === 1) {
        const status = applyRequest(fullAtByKey.get(first.key) ?? 0, first.rate, time)
        if (status.isAllowed) remember(first.key, status.fullAt)
        return status
      }
      const statuses = claims.map(({ key, rate }) => applyRequest(fullAtByKey.get(key) ?? 0, rate, time))
      const refused = statuses.filter(({ isAllowed }) => !isAllowed)
      if (refused.length > 0) return refused.reduce((a, b) => (b.retryAfterMs > a.retryAfterMs ? b : a))
      claims.forEach(({ key }, index) => remember(key, (statuses[index] as RateLimitStatus).fullAt))
      return statuses.reduce((a, b) => (b.remaining < a.remaining ? b : a))
    },
    get size() {
      return fullAtByKey.size
    },
  }
}

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
