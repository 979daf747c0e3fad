/**
 * The rates of all who come, in the memory of this process: replicas each count for themselves, which costs no round trip
 * and lets through at most as many times the rate as there are replicas.
 */
import { systemClock } from '@parley/a2a/server'
import type { Rate } from '../config/values.ts'
import { oneMore, type Standing } from './gcra.ts'

export interface Claim {
  /** Who is counted: `key:…`, `agent:…`, `address:…`. */
  readonly who: string
  readonly rate: Rate
}

export interface Limiter {
  /** Uses one of each, or of none if one of them is used up. Answers the claim that leaves least; nothing for no claim. */
  take(claims: readonly Claim[]): Standing | undefined
  /** How many are remembered. */
  readonly size: number
}

/** Whoever comes from a new address each time must not fill the memory. */
const mostRemembered = 100_000

/** `now` is the monotonic clock, so that a step of the wall clock does not refuse callers for as long as the step was. */
export function createLimiter(now: () => number = systemClock.monotonicNow, most = mostRemembered): Limiter {
  const wholeAt = new Map<string, number>()

  function remember(who: string, at: number): void {
    // Put last again, so that the first ones are those who have not come for longest.
    wholeAt.delete(who)
    wholeAt.set(who, at)
    if (wholeAt.size > most) forget()
  }

  /** A tenth at once, so that a full memory is not gone through for every newcomer. */
  function forget(): void {
    const time = now()
    for (const [who, at] of wholeAt) if (at <= time) wholeAt.delete(who)
    for (const who of wholeAt.keys()) {
      if (wholeAt.size <= most * 0.9) return
      wholeAt.delete(who)
    }
  }

  return {
    take(claims) {
      if (claims.length === 0) return undefined
      const time = now()
      const standings = claims.map(({ who, rate }) => oneMore(wholeAt.get(who) ?? 0, rate, time))
      const refused = standings.filter(({ isAllowed }) => !isAllowed)
      if (refused.length > 0) return refused.reduce((a, b) => (b.retryAfterMs > a.retryAfterMs ? b : a))
      claims.forEach(({ who }, index) => remember(who, (standings[index] as Standing).wholeAt))
      return standings.reduce((a, b) => (b.remaining < a.remaining ? b : a))
    },
    get size() {
      return wholeAt.size
    },
  }
}
