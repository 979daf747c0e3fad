/**
 * A store that does not respond is a temporary server error, and callers learn just that: what the store throws becomes
 * UNAVAILABLE, and only our log holds the reason.
 */
import { A2AError } from '../model/error.ts'
import type { KeyStore, Store, TaskStore } from '../stores/store.ts'
import { wrapMethods } from '../model/wrap-methods.ts'

export function withStoreErrors(store: Store): Store {
  const { leaseTtlMs, prunesItself, tasks, push, keys, feed, kv } = store
  return {
    leaseTtlMs,
    ...(prunesItself !== undefined ? { prunesItself } : {}),
    tasks: {
      ...wrapMethods(tasks, guarded),
      ...(tasks.loadStored !== undefined ? { loadStored } : {}),
    },
    push: wrapMethods(push, guarded),
    // The master key is not in the database: its errors are for the operator.
    keys: { ...wrapMethods(keys, guarded), ...masterKeyMethods(keys) },
    ...(feed !== undefined ? { feed: wrapMethods(feed, guarded) } : {}),
    kv,
    prune: (retention) => guarded(() => store.prune(retention)),
    close: () => guarded(() => store.close()),
  }

  function loadStored(taskId: string): ReturnType<NonNullable<TaskStore['loadStored']>> {
    try {
      const stored = tasks.loadStored?.(taskId)
      // Always a promise of ours: `instanceof` does not recognize one of another implementation.
      return stored !== undefined && 'then' in stored ? Promise.resolve(stored).catch(throwUnavailable) : stored
    } catch (cause) {
      return Promise.reject(storeUnavailable(cause))
    }
  }
}

function masterKeyMethods(keys: KeyStore): Partial<KeyStore> {
  const { masterKey, otherMasterKeys, createMasterKey, adoptMasterKey } = keys
  return {
    ...(masterKey !== undefined ? { masterKey: masterKey.bind(keys) } : {}),
    ...(otherMasterKeys !== undefined ? { otherMasterKeys: otherMasterKeys.bind(keys) } : {}),
    ...(createMasterKey !== undefined ? { createMasterKey: createMasterKey.bind(keys) } : {}),
    ...(adoptMasterKey !== undefined ? { adoptMasterKey: adoptMasterKey.bind(keys) } : {}),
  }
}

function guarded<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return work().catch(throwUnavailable)
  } catch (cause) {
    return Promise.reject(storeUnavailable(cause))
  }
}

function throwUnavailable(cause: unknown): never {
  throw storeUnavailable(cause)
}

function storeUnavailable(cause: unknown): A2AError {
  return new A2AError('UNAVAILABLE', 'The store does not answer', {}, { cause })
}
