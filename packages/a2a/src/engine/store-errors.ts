/**
 * A store that does not respond is a temporary server error, and callers learn just that: what the store throws becomes
 * UNAVAILABLE, and only our log holds the reason.
 */
import { A2AError } from '../model/error.ts'
import type { PushStore, Store, TaskStore } from '../stores/store.ts'

type Method = (...args: unknown[]) => Promise<unknown>

/** Every method that can fail. A proxy would need no list, but its trap would run for every call. */
const taskMethods = [
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
  'agents',
  'findTasks',
  'findMessage',
  'saveSnapshot',
  'loadSnapshot',
  'claimOrphans',
  'renew',
  'claimDue',
] as const satisfies readonly (keyof TaskStore)[]
const pushMethods = [
  'save',
  'load',
  'list',
  'search',
  'delete',
  'claim',
  'move',
  'recordAttempt',
  'listAttempts',
] as const satisfies readonly (keyof PushStore)[]

export function withStoreErrors(store: Store): Store {
  const { leaseTtlMs, prunesItself, tasks, push, keys, feed, kv } = store
  return {
    leaseTtlMs,
    ...(prunesItself !== undefined ? { prunesItself } : {}),
    tasks: {
      ...guarded(tasks, taskMethods),
      ...(tasks.sizeOf !== undefined ? guarded(tasks as Required<TaskStore>, ['sizeOf']) : {}),
      ...(tasks.loadStored !== undefined ? { loadStored } : {}),
    },
    ...(push !== undefined ? { push: guarded(push, pushMethods) } : {}),
    keys: guardedKeys(),
    ...(feed !== undefined ? { feed: guarded(feed, ['read', 'end']) } : {}),
    kv,
    ...guarded(store, ['prune', 'close']),
  }

  function guardedKeys(): Store['keys'] {
    const { masterKey, otherMasterKeys, createMasterKey, adoptMasterKey, replace } = keys
    return {
      ...guarded(keys, ['list', 'save', 'delete']),
      // The master key is not in the database: its errors are for the operator.
      ...(masterKey !== undefined ? { masterKey: masterKey.bind(keys) } : {}),
      ...(otherMasterKeys !== undefined ? { otherMasterKeys: otherMasterKeys.bind(keys) } : {}),
      ...(createMasterKey !== undefined ? { createMasterKey: createMasterKey.bind(keys) } : {}),
      ...(adoptMasterKey !== undefined ? { adoptMasterKey: adoptMasterKey.bind(keys) } : {}),
      ...(replace !== undefined ? guarded(keys as Required<Store['keys']>, ['replace']) : {}),
    }
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

function guarded<Facet extends object, Name extends keyof Facet & string>(
  facet: Facet,
  methods: readonly Name[],
): Pick<Facet, Name> {
  const guards: Record<string, Method> = {}
  for (const name of methods) {
    const method = (facet[name] as Method).bind(facet)
    guards[name] = (...args: unknown[]) => {
      try {
        return method(...args).catch(throwUnavailable)
      } catch (cause) {
        return Promise.reject(storeUnavailable(cause))
      }
    }
  }
  return guards as unknown as Pick<Facet, Name>
}

function throwUnavailable(cause: unknown): never {
  throw storeUnavailable(cause)
}

function storeUnavailable(cause: unknown): A2AError {
  return new A2AError('UNAVAILABLE', 'The store does not answer', {}, { cause })
}
