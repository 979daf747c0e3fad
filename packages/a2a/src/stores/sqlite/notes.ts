/** Notes in a table of their own, written in the same groups as everything else. */
import type { Json } from '../../model/task.ts'
import { keyBytes, keyOf, lastOfEach, rangeOf } from '../note-keys.ts'
import type { Note, NoteQuery, Notes, NoteWrite } from '../notes.ts'
import type { Database } from './database.ts'
import { wholeTime } from './rows.ts'

interface NoteColumns {
  readonly key: Uint8Array
  readonly version: number
  readonly updated_at: number
  readonly value: string
}

export interface NotesParts {
  readonly database: Database
  readonly now: () => number
  read<Result>(look: () => Result): Promise<Result>
  /** Within a transaction that others may share. */
  write<Result>(work: () => Result): Promise<Result>
}

export function createNotes({ database, now, read, write }: NotesParts) {
  const columns = 'key, version, updated_at, value'
  const isLive = '(expires_at IS NULL OR expires_at > ?)'
  const one = database.prepare<NoteColumns>(`SELECT ${columns} FROM notes WHERE kind = ? AND key = ? AND ${isLive}`)
  const inRange = `SELECT ${columns} FROM notes WHERE kind = ? AND key >= ? AND key < ? AND ${isLive}`
  const upward = database.prepare<NoteColumns>(`${inRange} ORDER BY key LIMIT ?`)
  const downward = database.prepare<NoteColumns>(`${inRange} ORDER BY key DESC LIMIT ?`)
  const put = database.prepare(`
    INSERT INTO notes (kind, key, version, updated_at, expires_at, value) VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (kind, key) DO UPDATE SET version = excluded.version, updated_at = excluded.updated_at,
      expires_at = excluded.expires_at, value = excluded.value`)
  const removal = database.prepare('DELETE FROM notes WHERE kind = ? AND key = ?')
  const sweep = database.prepare(`
    DELETE FROM notes WHERE (kind, key) IN (
      SELECT kind, key FROM notes WHERE expires_at IS NOT NULL AND expires_at <= ? ORDER BY expires_at LIMIT ?)`)

  /** Its texts are made now; what is answered writes them, unless the version has become another. */
  function writing(kind: Uint8Array, key: Uint8Array, { value, expiresAt }: NoteWrite) {
    const text = JSON.stringify(value)
    return (version?: number): number | undefined => {
      const before = one.get(kind, key, now())?.version ?? 0
      if (version !== undefined && version !== before) return undefined
      put.run(kind, key, before + 1, now(), expiryOf(expiresAt), text)
      return before + 1
    }
  }

  function list(kind: Uint8Array, query: NoteQuery): readonly Note[] {
    const { from, until } = rangeOf(query)
    const statement = query.descending === true ? downward : upward
    return statement.all(kind, from, until, now(), wholeTime(query.limit)).map(noteOf)
  }

  function add(kind: Uint8Array, key: Uint8Array, by: number, expiresAt: number): number {
    const row = one.get(kind, key, now())
    const before: unknown = row && JSON.parse(row.value)
    const sum = (typeof before === 'number' ? before : 0) + by
    put.run(kind, key, (row?.version ?? 0) + 1, now(), expiryOf(expiresAt), JSON.stringify(sum))
    return sum
  }

  const notes: Notes = {
    read: async (kind, key) => {
      const place = [keyBytes(kind), keyBytes(key)] as const
      return read(() => {
        const row = one.get(...place, now())
        return row && noteOf(row)
      })
    },
    write: async (kind, note, version) => {
      const job = writing(keyBytes(kind), keyBytes(note.key), note)
      return write(() => job(version))
    },
    writeAll: async (kind, given) => {
      const jobs = lastOfEach(given).map(({ bytes, note }) => writing(keyBytes(kind), bytes, note))
      return write(() => jobs.forEach((job) => job()))
    },
    remove: async (kind, key) => {
      const place = [keyBytes(kind), keyBytes(key)] as const
      return write(() => {
        const isThere = one.get(...place, now()) !== undefined
        removal.run(...place)
        return isThere
      })
    },
    list: async (kind, query) => read(() => list(keyBytes(kind), query)),
    add: async (kind, key, by, expiresAt) => {
      const place = [keyBytes(kind), keyBytes(key)] as const
      return write(() => add(...place, by, expiresAt))
    },
  }

  return {
    notes,
    /** Within a transaction. */
    sweep: (at: number, limit: number): void => void sweep.run(at, limit),
  }
}

function expiryOf(expiresAt: number | undefined): number | null {
  return expiresAt === undefined ? null : wholeTime(Math.ceil(expiresAt))
}

function noteOf({ key, version, updated_at, value }: NoteColumns): Note {
  return { key: keyOf(key), value: JSON.parse(value) as Json, version, updatedAt: updated_at }
}
