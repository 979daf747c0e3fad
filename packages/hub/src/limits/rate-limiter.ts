/**
 * The rate limiters of this process: replicas count separately, which costs no round trip and allows at most the rate times the
 * number of replicas.
 */
import { systemClock } from '@parley/a2a/server'
import type { Rate } from '../config/values.ts'
import { applyRequest, type RateLimitStatus } from './rate-limit.ts'

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
    // Moved to the end, so that the least recently used keys come first.
    fullAtByKey.delete(who)
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
      if (claims.length === 0) return undefined
      const time = now()
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
