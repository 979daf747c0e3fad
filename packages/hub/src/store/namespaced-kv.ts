/** A namespaced part of the hub's key-value store: of one agent, or of all agents of a kind. */
import type { KeyValueStore } from '@parley/a2a/stores'

/** The namespace must be unique, and none may be another one followed by a slash. */
export function namespacedKv(kv: KeyValueStore, namespace: string): KeyValueStore {
  const namespaced = (kind: string): string => `${namespace}/${kind}`
  return {
    ...(kv.isOrdered === true ? { isOrdered: true } : {}),
    read: (kind, key) => kv.read(namespaced(kind), key),
    write: (kind, entry, version) => kv.write(namespaced(kind), entry, version),
    writeAll: (kind, all) => kv.writeAll(namespaced(kind), all),
    remove: (kind, key) => kv.remove(namespaced(kind), key),
    list: (kind, query) => kv.list(namespaced(kind), query),
    add: (kind, key, by, expiresAt) => kv.add(namespaced(kind), key, by, expiresAt),
  }
}
