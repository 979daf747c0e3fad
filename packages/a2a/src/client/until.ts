/** Waiting no longer than a signal allows, for what may not know the signal: a stranger's fetch, a stranger's authenticator. */
import type { Fetch } from './contract.ts'
import { discard } from './read-text.ts'

const underWay = new Set<Request>()

/** Node's fetch hears of an abort only through its Request, which must not be collected in the meantime. */
export async function fetchUntil(signal: AbortSignal, fetch: Fetch, request: Request): Promise<Response> {
  underWay.add(request)
  try {
    return await until(signal, fetch(request), discard)
  } finally {
    underWay.delete(request)
  }
}

/** What comes too late is given to `late`. */
export function until<T>(signal: AbortSignal, work: T | Promise<T>, late?: (value: T) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    const working = Promise.resolve(work)
    const stop = (): void => {
      reject(signal.reason as Error)
      working.then(late, () => {})
    }
    signal.addEventListener('abort', stop)
    if (signal.aborted) stop()
    working.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}
