/**
 * Circuit breaker for an agent that fails repeatedly: after a number of consecutive failures it gets no delegated work for a while,
 * then one task, and all again once that has succeeded. Pure except for its state; the caller passes the time.
 */
interface CircuitBreakerSettings {
  readonly failures: number
  readonly cooldownMs: number
}

export type CircuitBreakerState = 'closed' | 'open' | 'half-open'

export interface CircuitBreaker {
  state(now: number): CircuitBreakerState
  /** Whether work may be delegated now. When half open, the caller that gets `true` runs the trial. */
  tryAcquire(now: number): boolean
  /** The same, without starting the trial. */
  canAcquire(now: number): boolean
  recordSuccess(): void
  recordFailure(now: number): void
}

export function createCircuitBreaker(settings: () => CircuitBreakerSettings): CircuitBreaker {
  let consecutiveFailures = 0
  let openedAt: number | undefined
  /** When the running trial started. */
  let triedAt: number | undefined

  function state(now: number): CircuitBreakerState {
    if (openedAt === undefined) return 'closed'
    return now - openedAt < settings().cooldownMs ? 'open' : 'half-open'
  }

  /** A trial that never reports back expires. */
  function wouldTake(now: number): boolean {
    const at = state(now)
    return at === 'closed' || (at === 'half-open' && (triedAt === undefined || now - triedAt >= settings().cooldownMs))
  }

  return {
    state,
    canAcquire: wouldTake,
    tryAcquire(now) {
      if (!wouldTake(now)) return false
      if (openedAt !== undefined) triedAt = now
      return true
    },
    recordSuccess() {
      consecutiveFailures = 0
      openedAt = undefined
      triedAt = undefined
    },
    recordFailure(now) {
      consecutiveFailures += 1
      triedAt = undefined
      if (openedAt !== undefined || consecutiveFailures >= settings().failures) openedAt = now
    },
  }
}
