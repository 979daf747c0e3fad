/** The key-value store in memory. */
import type { Json } from '../../model/task.ts'
import { compareBytes, keyToBytes, lastWritePerKey, keyRangeOf } from '../key-value-keys.ts'
import type { KeyValueEntry, KeyValueQuery, KeyValueStore, KeyValueWrite } from '../key-value-store.ts'

interface StoredEntry extends KeyValueEntry {
  readonly bytes: Uint8Array
  readonly expiresAt: number
}

/**
 * Creates a key-value store in memory, for tests and for use without a `Store`. `now` returns milliseconds since the epoch.
 */
export function memoryKeyValueStore(now: () => number = Date.now): KeyValueStore {
  return createMemoryKeyValue(now).kv
}

export function createMemoryKeyValue(now: () => number) {
  const kinds = new Map<string, Map<string, StoredEntry>>()

  function find(kind: string, key: string): StoredEntry | undefined {
    const entry = kinds.get(kind)?.get(key)
    return entry !== undefined && entry.expiresAt > now() ? entry : undefined
  }

  function keep(kind: string, { key, value, expiresAt = Infinity }: KeyValueWrite): number {
    keyToBytes(kind)
    const bytes = keyToBytes(key)
    const version = (find(kind, key)?.version ?? 0) + 1
    const entries = kinds.get(kind) ?? new Map<string, StoredEntry>()
    kinds.set(
      kind,
      entries.set(key, { key, bytes, value: structuredClone(value), version, updatedAt: now(), expiresAt }),
    )
    return version
  }

  function remove(kind: string, key: string): boolean {
    const isThere = find(kind, key) !== undefined
    const entries = kinds.get(kind)
    entries?.delete(key)
    if (entries?.size === 0) kinds.delete(kind)
    return isThere
  }

  const kv: KeyValueStore = {
    read: async (kind, key) => entryOf(find(kind, key)),
    write: async (kind, entry, version) =>
      version !== undefined && version !== (find(kind, entry.key)?.version ?? 0) ? undefined : keep(kind, entry),
    writeAll: async (kind, given) => {
      for (const { entry } of lastWritePerKey(given)) keep(kind, entry)
    },
    remove: async (kind, key) => remove(kind, key),
    list: async (kind, query) => {
      const live = [...(kinds.get(kind)?.values() ?? [])].filter(({ expiresAt }) => expiresAt > now())
      return selectEntries(live, query).map((entry) => entryOf(entry) as KeyValueEntry)
    },
    add: async (kind, key, by, expiresAt) => {
      const before = find(kind, key)?.value
      const sum = (typeof before === 'number' ? before : 0) + by
      keep(kind, { key, value: sum, expiresAt })
      return sum
    },
  }

  return {
    kv,
    forgetExpired(): void {
      const at = now()
      for (const [kind, known] of kinds)
        for (const { key, expiresAt } of known.values()) if (expiresAt <= at) remove(kind, key)
    },
    /** What `forgetExpired` would remove, by kind. */
    expired: (): readonly (readonly [kind: string, entries: readonly KeyValueEntry[]])[] =>
      [...kinds].map(([kind, known]) => [kind, [...known.values()].filter(({ expiresAt }) => expiresAt <= now())]),
    /** Removes an entry, expired or not. Returns whether there was one. */
    discard(kind: string, key: string): boolean {
      const isThere = kinds.get(kind)?.has(key) === true
      remove(kind, key)
      return isThere
    },
    /** Replaces the value of an entry and keeps its expiry. Returns whether there is one. */
    replace(kind: string, key: string, value: Json): boolean {
      const entries = kinds.get(kind)
      const entry = entries?.get(key)
      if (entry === undefined) return false
      entries?.set(key, { ...entry, value: structuredClone(value), version: entry.version + 1 })
      return true
    },
  }
}

function entryOf(kept: StoredEntry | undefined): KeyValueEntry | undefined {
  if (kept === undefined) return undefined
  const { key, value, version, updatedAt } = kept
  return { key, value: structuredClone<Json>(value), version, updatedAt }
}

function selectEntries(entries: readonly StoredEntry[], query: KeyValueQuery): readonly StoredEntry[] {
  const { from, until } = keyRangeOf(query)
  const found = entries.filter(({ bytes }) => compareBytes(bytes, from) >= 0 && compareBytes(bytes, until) < 0)
  found.sort((a, b) => compareBytes(a.bytes, b.bytes))
  return (query.descending === true ? found.reverse() : found).slice(0, query.limit)
}
