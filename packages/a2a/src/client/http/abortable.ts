/** Waits no longer than a signal allows for work that may ignore the signal: a custom fetch, a custom authenticator. */
import type { Fetch } from '../contract.ts'
import { discardBody } from './read-text.ts'

const pendingRequests = new Set<Request>()

/** Node's fetch gets the abort only through its Request, which must not be garbage-collected in the meantime. */
export async function abortableFetch(signal: AbortSignal, fetch: Fetch, request: Request): Promise<Response> {
  pendingRequests.add(request)
  try {
    return await abortable(signal, fetch(request), discardBody)
  } finally {
    pendingRequests.delete(request)
  }
}

/** A value that arrives too late is passed to `onLate`. */
export function abortable<T>(signal: AbortSignal, work: T | Promise<T>, onLate?: (value: T) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    const working = Promise.resolve(work)
    const onAbort = (): void => {
      reject(signal.reason as Error)
      working.then(onLate, () => {})
    }
    signal.addEventListener('abort', onAbort)
    if (signal.aborted) onAbort()
    working.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
}
