/**
 * Keeps work away from an agent that fails again and again: after so many failures in a row nothing is handed on to it for a
 * while, then one piece of work, and all again once that has gone well. Pure but for what it remembers; the time is given.
 */
export interface BreakerSettings {
  readonly failures: number
  readonly restMs: number
}

export type BreakerState = 'closed' | 'open' | 'half-open'

export interface Breaker {
  state(now: number): BreakerState
  /** Whether work may be handed on now. Half open, the one who is told so is the one who finds out. */
  take(now: number): boolean
  /** The same, without taking the place. */
  wouldTake(now: number): boolean
  succeeded(): void
  failed(now: number): void
}

export function createBreaker(settings: () => BreakerSettings): Breaker {
  let inARow = 0
  let openedAt: number | undefined
  /** Somebody is finding out since then. */
  let triedAt: number | undefined

  function state(now: number): BreakerState {
    if (openedAt === undefined) return 'closed'
    return now - openedAt < settings().restMs ? 'open' : 'half-open'
  }

  /** Whoever does not come back from finding out is not waited for. */
  function wouldTake(now: number): boolean {
    const at = state(now)
    return at === 'closed' || (at === 'half-open' && (triedAt === undefined || now - triedAt >= settings().restMs))
  }

  return {
    state,
    wouldTake,
    take(now) {
      if (!wouldTake(now)) return false
      if (openedAt !== undefined) triedAt = now
      return true
    },
    succeeded() {
      inARow = 0
      openedAt = undefined
      triedAt = undefined
    },
    failed(now) {
      inARow += 1
      triedAt = undefined
      if (openedAt !== undefined || inARow >= settings().failures) openedAt = now
    },
  }
}
