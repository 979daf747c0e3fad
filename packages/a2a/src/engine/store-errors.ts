/**
 * A store that does not respond is a temporary server error, and callers learn just that: what the store throws becomes
 * UNAVAILABLE, and only our log holds the reason.
 */
import { A2AError } from '../model/error.ts'
import type { Store } from '../stores/store.ts'

type Method = (...args: unknown[]) => Promise<unknown>

/** Every method that can fail. A proxy would need no list, but its trap would run for every call. */
const methods = [
  'append',
  'load',
  'read',
  'firstSeq',
  'changed',
  'list',
  'context',
  'countActive',
  'countStates',
  'countUnfinished',
  'search',
  'findTasks',
  'findMessage',
  'saveSnapshot',
  'loadSnapshot',
  'claimOrphans',
  'renew',
  'claimDue',
  'savePush',
  'loadPush',
  'listPush',
  'searchPush',
  'deletePush',
  'claimPush',
  'movePush',
  'recordAttempt',
  'listAttempts',
  'prune',
  'feed',
  'feedEnd',
  'listKeys',
  'saveKey',
  'deleteKey',
  'close',
] as const satisfies readonly (keyof Store)[]

export function withStoreErrors(store: Store): Store {
  const { leaseTtlMs, prunesItself, kv } = store
  const guarded: Record<string, unknown> = { leaseTtlMs, prunesItself, kv }
  for (const name of methods) {
    const method = store[name].bind(store) as Method
    guarded[name] = (...args: unknown[]) => {
      try {
        return method(...args).catch(throwUnavailable)
      } catch (cause) {
        return Promise.reject(storeUnavailable(cause))
      }
    }
  }
  return guarded as unknown as Store
}

function throwUnavailable(cause: unknown): never {
  throw storeUnavailable(cause)
}

function storeUnavailable(cause: unknown): A2AError {
  return new A2AError('UNAVAILABLE', 'The store does not answer', {}, { cause })
}
