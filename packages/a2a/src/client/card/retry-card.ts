/**
 * Retries a card request if the server says that it is unavailable for now. A server that cannot be reached is not
 * retried.
 */
import { A2AError } from '../../model/error.ts'
import type { ClientLimits, ClientLog, ConnectOptions } from '../contract.ts'
import { sleep } from '../sleep.ts'
import { backoffDelayMs } from '../retry.ts'

export interface RetryCardOptions {
  /** Without a number of attempts, there are no retries. */
  readonly limits: ClientLimits | Pick<ClientLimits, 'cardTimeoutMs'>
  readonly signal?: AbortSignal | undefined
  readonly log?: ClientLog | undefined
  readonly onRetry?: ConnectOptions['onRetry']
}

/** `first` is the failure of the first attempt. `onFinal` handles a later response that is not retryable. */
export async function retryCard<T>(
  first: A2AError,
  { limits, signal = new AbortController().signal, log, onRetry }: RetryCardOptions,
  fetchAgain: () => Promise<T>,
  onFinal: (reason: A2AError) => Promise<T>,
): Promise<T> {
  let reason: unknown = first
  for (let attempt = 1; 'attempts' in limits && attempt < limits.attempts && isRetryable(reason); attempt++) {
    const delayMs = backoffDelayMs(attempt, reason, limits)
    if (delayMs === undefined) break
    log?.debug?.(`Requesting the agent card again in ${Math.round(delayMs)} ms`, { attempt, reason })
    onRetry?.({ error: reason, delayMs })
    await sleep(delayMs, signal)
    try {
      return await fetchAgain()
    } catch (next) {
      reason = next
    }
  }
  if (hasHttpStatus(reason) && !reason.retryable) return onFinal(reason)
  throw reason
}

function isRetryable(reason: unknown): reason is A2AError {
  return hasHttpStatus(reason) && reason.retryable
}

function hasHttpStatus(reason: unknown): reason is A2AError {
  return reason instanceof A2AError && reason.details['status'] !== undefined
}
