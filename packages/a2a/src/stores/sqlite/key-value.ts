/** The key-value table, written in the same group commits as everything else. */
import type { Json } from '../../model/task.ts'
import { keyToBytes, keyFromBytes, lastWritePerKey, keyRangeOf } from '../key-value-keys.ts'
import type { KeyValueEntry, KeyValueQuery, KeyValueStore, KeyValueWrite } from '../key-value-store.ts'
import type { SqliteContext } from './context.ts'
import { toSqliteInteger } from './rows.ts'

interface EntryColumns {
  readonly key: Uint8Array
  readonly version: number
  readonly updated_at: number
  readonly value: string
}

/** How the store runs reads and writes. A write runs within a transaction that other jobs may share. */
interface SqliteAccess {
  read<Result>(look: () => Result): Promise<Result>
  write<Result>(work: () => Result): Promise<Result>
}

export function createSqliteKeyValue({ database, now }: SqliteContext, { read, write }: SqliteAccess) {
  const columns = 'key, version, updated_at, value'
  const isLive = '(expires_at IS NULL OR expires_at > ?)'
  const one = database.prepare<EntryColumns>(`SELECT ${columns} FROM notes WHERE kind = ? AND key = ? AND ${isLive}`)
  const inRange = `SELECT ${columns} FROM notes WHERE kind = ? AND key >= ? AND key < ? AND ${isLive}`
  const upward = database.prepare<EntryColumns>(`${inRange} ORDER BY key LIMIT ?`)
  const downward = database.prepare<EntryColumns>(`${inRange} ORDER BY key DESC LIMIT ?`)
  const put = database.prepare(`
    INSERT INTO notes (kind, key, version, updated_at, expires_at, value) VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (kind, key) DO UPDATE SET version = excluded.version, updated_at = excluded.updated_at,
      expires_at = excluded.expires_at, value = excluded.value`)
  // The same without reading the version first. An expired entry counts as absent.
  const replace = database.prepare(`
    INSERT INTO notes (kind, key, version, updated_at, expires_at, value) VALUES (?1, ?2, 1, ?3, ?4, ?5)
    ON CONFLICT (kind, key) DO UPDATE SET
      version = CASE WHEN notes.expires_at IS NULL OR notes.expires_at > ?3 THEN notes.version + 1 ELSE 1 END,
      updated_at = excluded.updated_at, expires_at = excluded.expires_at, value = excluded.value`)
  const removal = database.prepare('DELETE FROM notes WHERE kind = ? AND key = ?')
  const sweep = database.prepare(`
    DELETE FROM notes WHERE (kind, key) IN (
      SELECT kind, key FROM notes WHERE expires_at IS NOT NULL AND expires_at <= ? ORDER BY expires_at LIMIT ?)`)

  /** Serializes the value now; the returned function writes it, unless the version has changed. */
  function writing(kind: Uint8Array, key: Uint8Array, { value, expiresAt }: KeyValueWrite) {
    const text = JSON.stringify(value)
    return (version?: number): number | undefined => {
      const before = one.get(kind, key, now())?.version ?? 0
      if (version !== undefined && version !== before) return undefined
      put.run(kind, key, before + 1, now(), expiryOf(expiresAt), text)
      return before + 1
    }
  }

  function list(kind: Uint8Array, query: KeyValueQuery): readonly KeyValueEntry[] {
    const { from, until } = keyRangeOf(query)
    const statement = query.descending === true ? downward : upward
    return statement.all(kind, from, until, now(), toSqliteInteger(query.limit)).map(entryOf)
  }

  function add(kind: Uint8Array, key: Uint8Array, by: number, expiresAt: number): number {
    const row = one.get(kind, key, now())
    const before: unknown = row && JSON.parse(row.value)
    const sum = (typeof before === 'number' ? before : 0) + by
    put.run(kind, key, (row?.version ?? 0) + 1, now(), expiryOf(expiresAt), JSON.stringify(sum))
    return sum
  }

  const kv: KeyValueStore = {
    // All writes go through one queue of the writer, and a transaction takes the jobs of the queue from its front.
    isOrdered: true,
    read: async (kind, key) => {
      const place = [keyToBytes(kind), keyToBytes(key)] as const
      return read(() => {
        const row = one.get(...place, now())
        return row && entryOf(row)
      })
    },
    write: async (kind, entry, version) => {
      const job = writing(keyToBytes(kind), keyToBytes(entry.key), entry)
      return write(() => job(version))
    },
    writeAll: async (kind, given) => {
      const place = keyToBytes(kind)
      const rows = lastWritePerKey(given).map(({ bytes, entry: { value, expiresAt } }) => ({
        bytes,
        text: JSON.stringify(value),
        expiry: expiryOf(expiresAt),
      }))
      return write(() => {
        const time = now()
        for (const { bytes, text, expiry } of rows) replace.run(place, bytes, time, expiry, text)
      })
    },
    remove: async (kind, key) => {
      const place = [keyToBytes(kind), keyToBytes(key)] as const
      return write(() => {
        const isThere = one.get(...place, now()) !== undefined
        removal.run(...place)
        return isThere
      })
    },
    list: async (kind, query) => read(() => list(keyToBytes(kind), query)),
    add: async (kind, key, by, expiresAt) => {
      const place = [keyToBytes(kind), keyToBytes(key)] as const
      return write(() => add(...place, by, expiresAt))
    },
  }

  return {
    kv,
    /** Within a transaction. */
    sweep: (at: number, limit: number): void => void sweep.run(at, limit),
  }
}

function expiryOf(expiresAt: number | undefined): number | null {
  return expiresAt === undefined ? null : toSqliteInteger(Math.ceil(expiresAt))
}

function entryOf({ key, version, updated_at, value }: EntryColumns): KeyValueEntry {
  return { key: keyFromBytes(key), value: JSON.parse(value) as Json, version, updatedAt: updated_at }
}
