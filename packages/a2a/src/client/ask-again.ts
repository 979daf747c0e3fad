/** For a card whose server says that it cannot serve now. Whoever is not there at all is not waited for. */
import { A2AError } from '../model/error.ts'
import type { ClientLimits, ClientLog } from './contract.ts'
import { sleep } from './sleep.ts'
import { retryDelay } from './retry.ts'

export interface Patience {
  /** Where there is no number of attempts, there is none. */
  readonly limits: ClientLimits | Pick<ClientLimits, 'cardTimeoutMs'>
  readonly signal?: AbortSignal | undefined
  readonly log?: ClientLog | undefined
}

/** `first` is why it failed the first time. What is said in the end instead, if it says anything, is for `otherwise`. */
export async function askAgain<T>(
  first: A2AError,
  { limits, signal = new AbortController().signal, log }: Patience,
  ask: () => Promise<T>,
  otherwise: (reason: A2AError) => Promise<T>,
): Promise<T> {
  let reason: unknown = first
  for (let attempt = 1; 'attempts' in limits && attempt < limits.attempts && isBusy(reason); attempt++) {
    const delayMs = retryDelay(attempt, reason, limits)
    if (delayMs === undefined) break
    log?.debug?.(`The card is asked for again in ${Math.round(delayMs)} ms`, { attempt, reason })
    await sleep(delayMs, signal)
    try {
      return await ask()
    } catch (next) {
      reason = next
    }
  }
  if (hasAnswered(reason) && !reason.retryable) return otherwise(reason)
  throw reason
}

function isBusy(reason: unknown): reason is A2AError {
  return hasAnswered(reason) && reason.retryable
}

function hasAnswered(reason: unknown): reason is A2AError {
  return reason instanceof A2AError && reason.details['status'] !== undefined
}
