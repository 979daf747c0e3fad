/**
 * The API keys of this hub: create, look up, list and revoke. Stored as hashes, so that a copy of the store contains no usable key.
 * A key that was found is cached for `keyCacheMs`, so a revocation reaches other replicas within that time; in this process it
 * takes effect at once.
 */
import { omitUndefined, clockOf } from '@parley/a2a/internal'
import type { KeyValueStore } from '@parley/a2a/stores'
import type { Rate } from '../config/values.ts'
import {
  sha256Hex,
  isSameSecret,
  keyIdOf,
  generateKey,
  keyInfoOf,
  parseKeyRecord,
  keyState,
  ownerIndexKey,
  ownerIndexKind,
  serializeKeyRecord,
} from './key-format.ts'
import type { KeyInfo, KeyRecord } from './key-format.ts'
import { createCredentialUse } from './credential-use.ts'

export interface CreateKeyOptions {
  readonly name: string
  readonly scopes: readonly string[]
  /** Default: a principal of its own. */
  readonly principal?: string | undefined
  readonly tenant?: string | undefined
  readonly rate?: Rate | undefined
  readonly tasksPerDay?: number | undefined
  readonly expiresAt?: number | undefined
  readonly createdBy: string
  readonly isCallerKey?: true | undefined
}

export interface CreatedKey {
  /** Show it once. */
  readonly key: string
  readonly info: KeyInfo
}

export interface KeyPage {
  readonly keys: readonly KeyInfo[]
  /** The cursor of the next page, if there is more. */
  readonly after?: string
}

export interface ApiKeys {
  create(order: CreateKeyOptions): Promise<CreatedKey>
  /** The record of the key, if it is valid. */
  find(key: string): Promise<KeyRecord | undefined>
  /** The same without a read: `undefined` also for a key that is not in the cache. */
  findCached(key: string): KeyRecord | undefined
  get(id: string): Promise<KeyInfo | undefined>
  /** The name of the key, also of one that was revoked; cached. */
  nameOf(id: string): Promise<string | undefined>
  /** The valid keys that act as the caller or that it created for itself, up to `limit`. */
  ofCaller(caller: string, limit: number): Promise<readonly KeyInfo[]>
  list(query: { readonly after?: string | undefined; readonly limit: number }): Promise<KeyPage>
  /** Returns `undefined` if there is no such key. */
  revoke(id: string): Promise<KeyInfo | undefined>
  /** Drops it from the cache: another replica revoked it. */
  forget(id: string): void
  /** Drops a last use that is not written yet: the record of the key is being erased. */
  forgetUse(id: string): void
  close(): Promise<void>
}

export interface ApiKeysDeps {
  readonly kv: KeyValueStore
  readonly now?: () => number
  readonly monotonicNow?: () => number
  onError?(cause: unknown): void
  /** Called when a key is revoked, to end its streams. */
  onRevoked?(id: string): Promise<void>
  /** How long an ended key is still listed. Default 90 days. Read for every write: it may change. */
  readonly endedRetentionMs?: number | undefined
}

interface CachedKey {
  readonly record: Promise<KeyRecord | undefined>
  /** Set once it is read; without a record if there is none. */
  read?: { readonly record: KeyRecord | undefined }
  readonly until: number
}

const kind = 'key'
/** How long another replica may accept a key that was revoked here. */
export const keyCacheMs = 2_000
const maxCached = 10_000
const defaultEndedRetentionMs = 90 * 86_400_000
/** How long the last use of an unused key is kept. */
const useRetentionMs = 400 * 86_400_000
/** Compared if the id is unknown, so that timing does not reveal that. */
const emptyHash = sha256Hex('')

export function createApiKeys(deps: ApiKeysDeps): ApiKeys {
  const { kv, onError = () => {}, onRevoked } = deps
  const { now, monotonicNow } = clockOf(deps)
  const endedRetentionMs = (): number => deps.endedRetentionMs ?? defaultEndedRetentionMs
  const cache = new Map<string, CachedKey>()
  const use = createCredentialUse({ kv, now, kind: 'key-use', retentionMs: useRetentionMs, onError })

  async function load(id: string): Promise<KeyRecord | undefined> {
    const stored = await kv.read(kind, id)
    return stored === undefined ? undefined : parseKeyRecord(stored.value)
  }

  function loadCached(id: string): Promise<KeyRecord | undefined> {
    const before = cache.get(id)
    if (before !== undefined && before.until > monotonicNow()) return before.record
    cache.delete(id)
    if (cache.size >= maxCached) evictOldest()
    const record = load(id)
    const entry: CachedKey = { record, until: monotonicNow() + keyCacheMs }
    cache.set(id, entry)
    record.then(
      (found) => (entry.read = { record: found }),
      // A failed read is not cached.
      () => {
        if (cache.get(id) === entry) cache.delete(id)
      },
    )
    return record
  }

  /** The record, if the key matches it and is valid. */
  function checkKey(key: string, record: KeyRecord | undefined): KeyRecord | undefined {
    if (!isSameSecret(sha256Hex(key), record?.hash ?? emptyHash) || record === undefined) return undefined
    if (keyState(record, now()) !== 'active') return undefined
    use.recordUse(record.id)
    return record
  }

  function evictOldest(): void {
    for (const id of cache.keys()) {
      if (cache.size < maxCached * 0.9) return
      cache.delete(id)
    }
  }

  async function withUse(record: KeyRecord): Promise<KeyInfo> {
    return keyInfoOf(record, now(), (await use.lastUsed([record.id])).get(record.id))
  }

  async function store(record: KeyRecord, expiresAt: number | undefined): Promise<void> {
    await kv.write(kind, {
      key: record.id,
      value: serializeKeyRecord(record),
      ...omitUndefined({ expiresAt }),
    })
  }

  return {
    async create({ name, scopes, principal, tenant, rate, tasksPerDay, expiresAt, createdBy, isCallerKey }) {
      const { id, key } = generateKey()
      const record: KeyRecord = {
        id,
        name,
        scopes,
        principal: principal ?? `key:${id}`,
        ...omitUndefined({ tenant, rate, tasksPerDay }),
        createdAt: now(),
        createdBy,
        ...omitUndefined({ isCallerKey, expiresAt }),
        hash: sha256Hex(key),
      }
      const ends = expiresAt === undefined ? {} : { expiresAt }
      // Before the key itself: a key that cannot be listed must not be valid.
      await kv.write(ownerIndexKind, { key: ownerIndexKey(record), value: id, ...ends })
      await store(record, expiresAt === undefined ? undefined : expiresAt + endedRetentionMs())
      return { key, info: keyInfoOf(record, now(), undefined) }
    },
    async find(key) {
      const id = keyIdOf(key)
      if (id === undefined) return undefined
      return checkKey(key, await loadCached(id))
    },
    findCached(key) {
      const id = keyIdOf(key)
      const cached = id === undefined ? undefined : cache.get(id)
      if (cached?.read === undefined || cached.until <= monotonicNow()) return undefined
      return checkKey(key, cached.read.record)
    },
    async get(id) {
      const record = await load(id)
      return record === undefined ? undefined : withUse(record)
    },
    async nameOf(id) {
      return (await loadCached(id))?.name || undefined
    },
    async ofCaller(caller, limit) {
      const indexed = await kv.list(ownerIndexKind, { prefix: `${sha256Hex(caller)}/`, limit })
      const records = await Promise.all(indexed.map(({ value }) => load(value as string)))
      const good = records.filter(
        (record) => record !== undefined && keyState(record, now()) === 'active',
      ) as KeyRecord[]
      return Promise.all(good.map(withUse))
    },
    async list({ after, limit }) {
      const notesFound = await kv.list(kind, { limit: limit + 1, ...omitUndefined({ after }) })
      const records = notesFound.slice(0, limit).map(({ value }) => parseKeyRecord(value))
      const lastUsed = await use.lastUsed(records.map(({ id }) => id))
      const last = notesFound.length > limit ? records.at(-1)?.id : undefined
      return {
        keys: records.map((record) => keyInfoOf(record, now(), lastUsed.get(record.id))),
        ...omitUndefined({ after: last }),
      }
    },
    async revoke(id) {
      const known = await load(id)
      if (known === undefined) return undefined
      const revokedRecord = known.revokedAt === undefined ? { ...known, revokedAt: now() } : known
      await store(revokedRecord, now() + endedRetentionMs())
      await kv.remove(ownerIndexKind, ownerIndexKey(known))
      await onRevoked?.(id)
      // Set instead of deleted: a read already in progress must not put the old record back.
      const record = Promise.resolve(revokedRecord)
      cache.set(id, { record, read: { record: revokedRecord }, until: monotonicNow() + keyCacheMs })
      return withUse(revokedRecord)
    },
    forget: (id) => void cache.delete(id),
    forgetUse: use.forget,
    close: use.close,
  }
}
