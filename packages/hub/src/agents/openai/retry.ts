/** When to retry a request to a model. A pure function, so that the schedule can be tested without waiting. */
import type { A2AError } from '@parley/a2a'

export interface RetryPolicy {
  readonly retries: number
  /** The longest single wait; if the endpoint asks for a longer one, the request is not retried. */
  readonly retryWait: number
  /** Time that is left for the answer. */
  readonly leftMs?: number
}

const firstWaitMs = 500

/** How long to wait before attempt number `attempt + 1`, or undefined to give up. The first attempt is 1. */
export function retryDelayMs(
  attempt: number,
  failure: A2AError,
  { retries, retryWait, leftMs = Infinity }: RetryPolicy,
  random: () => number = Math.random,
): number | undefined {
  if (attempt > retries || !failure.retryable) return undefined
  const ceiling = Math.min(retryWait, firstWaitMs * 2 ** (attempt - 1))
  const waitMs = Number(failure.details.retryAfterMs ?? Math.round(ceiling * (0.5 + random() / 2)))
  return waitMs <= retryWait && waitMs < leftMs ? waitMs : undefined
}
