/**
 * A store that does not answer is a trouble of ours that passes, and callers are told
 * so: what it throws becomes UNAVAILABLE, with the reason for our log alone.
 */
import { A2AError } from '../model/error.ts'
import type { Store } from '../stores/store.ts'

type Method = (...given: unknown[]) => Promise<unknown>

/** All that can fail. A proxy would need no list, but its trap is run for every call. */
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

export function reachable(store: Store): Store {
  const { leaseTtlMs, prunesItself, notes } = store
  const guarded: Record<string, unknown> = { leaseTtlMs, prunesItself, notes }
  for (const name of methods) {
    const method = store[name].bind(store) as Method
    guarded[name] = (...given: unknown[]) => {
      try {
        return method(...given).catch(unanswered)
      } catch (cause) {
        return Promise.reject(unavailable(cause))
      }
    }
  }
  return guarded as unknown as Store
}

function unanswered(cause: unknown): never {
  throw unavailable(cause)
}

function unavailable(cause: unknown): A2AError {
  return new A2AError('UNAVAILABLE', 'The store does not answer', {}, { cause })
}
