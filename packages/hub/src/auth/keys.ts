/**
 * The API keys of this hub: made, looked up, listed and revoked. Kept as hashes in the notes, so that a copy of the store
 * opens nothing. A key that was found is believed for `believedMs` without asking again, which is how long a revocation
 * takes to reach other replicas; in this process it holds at once.
 */
import type { Notes } from '@parley/a2a'
import { clockOf } from '@parley/a2a/server'
import type { Rate } from '../config/values.ts'
import { hashOf, isSameHash, keyIdOf, newKey } from './key-format.ts'
import { infoOf, type KeyInfo, type KeyRecord, readRecord, stateOf, writeRecord } from './key-record.ts'
import { createCredentialUse } from './credential-use.ts'

export interface KeyOrder {
  readonly name: string
  readonly scopes: readonly string[]
  /** Default: one of its own. */
  readonly principal?: string | undefined
  readonly tenant?: string | undefined
  readonly rate?: Rate | undefined
  readonly tasksPerDay?: number | undefined
  readonly expiresAt?: number | undefined
  readonly createdBy: string
}

export interface MadeKey {
  /** To be shown once. */
  readonly key: string
  readonly info: KeyInfo
}

export interface KeyPage {
  readonly keys: readonly KeyInfo[]
  /** To be asked for next, if there are more. */
  readonly after?: string
}

export interface Keys {
  create(order: KeyOrder): Promise<MadeKey>
  /** Whose key this is, if it is a good one. */
  find(key: string): Promise<KeyRecord | undefined>
  get(id: string): Promise<KeyInfo | undefined>
  /** Those that are good, up to so many. */
  ofPrincipal(principal: string, limit: number): Promise<readonly KeyInfo[]>
  list(query: { readonly after?: string | undefined; readonly limit: number }): Promise<KeyPage>
  /** Nothing if there is no such key. */
  revoke(id: string): Promise<KeyInfo | undefined>
  /** Drops it from the cache: another replica revoked it. */
  forget(id: string): void
  close(): Promise<void>
}

export interface KeysParts {
  readonly notes: Notes
  readonly now?: () => number
  readonly monotonicNow?: () => number
  failed?(cause: unknown): void
  /** Called when a key is revoked, to end its streams. */
  revoked?(id: string): Promise<void>
}

const kind = 'key'
/** Which keys a principal has: `<hash of it>/<id>`, for its name may be longer than a note's. */
const kindOfOwner = 'key-of'
/** How long another replica may go on taking a key that was revoked here. */
export const believedMs = 2_000
const mostBelieved = 10_000
/** For how long one that is good no more is still listed. */
const remembered = 90 * 86_400_000
/** Longer than anybody looks for a key that is not used. */
const useKeptMs = 400 * 86_400_000
/** Compared with where there is no key of that id, so that time does not tell that there is none. */
const nobody = hashOf('')

interface Believed {
  readonly record: Promise<KeyRecord | undefined>
  readonly until: number
}

export function createKeys({ notes, failed = () => {}, revoked, ...clock }: KeysParts): Keys {
  const { now, monotonicNow } = clockOf(clock)
  const believed = new Map<string, Believed>()
  const use = createCredentialUse({ notes, now, kind: 'key-use', keptMs: useKeptMs, failed })

  async function load(id: string): Promise<KeyRecord | undefined> {
    const note = await notes.read(kind, id)
    return note === undefined ? undefined : readRecord(note.value)
  }

  function look(id: string): Promise<KeyRecord | undefined> {
    const before = believed.get(id)
    if (before !== undefined && before.until > monotonicNow()) return before.record
    believed.delete(id)
    if (believed.size >= mostBelieved) forgetOldest()
    const record = load(id)
    const entry = { record, until: monotonicNow() + believedMs }
    believed.set(id, entry)
    // What could not be read is asked for again.
    record.catch(() => {
      if (believed.get(id) === entry) believed.delete(id)
    })
    return record
  }

  function forgetOldest(): void {
    for (const id of believed.keys()) {
      if (believed.size < mostBelieved * 0.9) return
      believed.delete(id)
    }
  }

  async function shown(record: KeyRecord): Promise<KeyInfo> {
    return infoOf(record, now(), (await use.lastUsed([record.id])).get(record.id))
  }

  async function keep(record: KeyRecord, expiresAt: number | undefined): Promise<void> {
    await notes.write(kind, {
      key: record.id,
      value: writeRecord(record),
      ...(expiresAt !== undefined ? { expiresAt } : {}),
    })
  }

  return {
    async create({ name, scopes, principal, tenant, rate, tasksPerDay, expiresAt, createdBy }) {
      const { id, key } = newKey()
      const record: KeyRecord = {
        id,
        name,
        scopes,
        principal: principal ?? `key:${id}`,
        ...(tenant !== undefined ? { tenant } : {}),
        ...(rate !== undefined ? { rate } : {}),
        ...(tasksPerDay !== undefined ? { tasksPerDay } : {}),
        createdAt: now(),
        createdBy,
        ...(expiresAt !== undefined ? { expiresAt } : {}),
        hash: hashOf(key),
      }
      const ends = expiresAt === undefined ? {} : { expiresAt }
      // Before the key itself: one that nobody can list must not be good.
      await notes.write(kindOfOwner, { key: placeOf(record), value: id, ...ends })
      await keep(record, expiresAt === undefined ? undefined : expiresAt + remembered)
      return { key, info: infoOf(record, now(), undefined) }
    },
    async find(key) {
      const id = keyIdOf(key)
      if (id === undefined) return undefined
      const record = await look(id)
      if (!isSameHash(hashOf(key), record?.hash ?? nobody) || record === undefined) return undefined
      if (stateOf(record, now()) !== 'active') return undefined
      use.used(id)
      return record
    },
    async get(id) {
      const record = await load(id)
      return record === undefined ? undefined : shown(record)
    },
    async ofPrincipal(principal, limit) {
      const places = await notes.list(kindOfOwner, { prefix: `${hashOf(principal)}/`, limit })
      const records = await Promise.all(places.map(({ value }) => load(value as string)))
      const good = records.filter(
        (record) => record !== undefined && stateOf(record, now()) === 'active',
      ) as KeyRecord[]
      return Promise.all(good.map(shown))
    },
    async list({ after, limit }) {
      const notesFound = await notes.list(kind, { limit: limit + 1, ...(after !== undefined ? { after } : {}) })
      const records = notesFound.slice(0, limit).map(({ value }) => readRecord(value))
      const lastUsed = await use.lastUsed(records.map(({ id }) => id))
      const last = notesFound.length > limit ? records.at(-1)?.id : undefined
      return {
        keys: records.map((record) => infoOf(record, now(), lastUsed.get(record.id))),
        ...(last !== undefined ? { after: last } : {}),
      }
    },
    async revoke(id) {
      const record = await load(id)
      if (record === undefined) return undefined
      const over = record.revokedAt === undefined ? { ...record, revokedAt: now() } : record
      await keep(over, now() + remembered)
      await notes.remove(kindOfOwner, placeOf(record))
      await revoked?.(id)
      // Set and not only forgotten: a look that is under way since before must not put the old one back.
      believed.set(id, { record: Promise.resolve(over), until: monotonicNow() + believedMs })
      return shown(over)
    },
    forget: (id) => void believed.delete(id),
    close: use.close,
  }
}

function placeOf({ principal, id }: KeyRecord): string {
  return `${hashOf(principal)}/${id}`
}
