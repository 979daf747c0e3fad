/** Waits no longer than a signal allows for work that may ignore the signal: a custom fetch, a custom authenticator. */
import { abortable } from '../../model/signals.ts'
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
