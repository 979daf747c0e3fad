/** When a request to a model is made again. Pure, so that the schedule can be read and tested without waiting. */
import type { A2AError } from '@parley/a2a'

export interface RetryPolicy {
  readonly retries: number
  /** The longest single wait; an endpoint that asks for a longer one is not waited for. */
  readonly retryWait: number
  /** How long anybody waits for an answer at all. */
  readonly leftMs?: number
}

const firstWaitMs = 500

/** How long to wait before try number `attempt + 1`, or nothing to give up. The first try is 1. */
export function waitBeforeNext(
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
