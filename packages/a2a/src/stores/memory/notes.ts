/** Notes without a disk. */
import type { Json } from '../../model/task.ts'
import type { Note, NoteQuery, Notes, NoteWrite } from '../notes.ts'

interface Kept extends Note {
  readonly expiresAt: number
}

export function memoryNotes(now: () => number = Date.now): Notes {
  const kinds = new Map<string, Map<string, Kept>>()

  const of = (kind: string): Map<string, Kept> => {
    const known = kinds.get(kind) ?? new Map<string, Kept>()
    kinds.set(kind, known)
    return known
  }

  function find(kind: string, key: string): Kept | undefined {
    const note = of(kind).get(key)
    if (note === undefined || note.expiresAt > now()) return note
    of(kind).delete(key)
    return undefined
  }

  function keep(kind: string, { key, value, expiresAt = Infinity }: NoteWrite): number {
    const version = (find(kind, key)?.version ?? 0) + 1
    of(kind).set(key, { key, value: structuredClone(value), version, updatedAt: now(), expiresAt })
    return version
  }

  return {
    read: async (kind, key) => shown(find(kind, key)),
    write: async (kind, note, version) =>
      version !== undefined && version !== (find(kind, note.key)?.version ?? 0) ? undefined : keep(kind, note),
    writeAll: async (kind, notes) => {
      for (const note of notes) keep(kind, note)
    },
    remove: async (kind, key) => find(kind, key) !== undefined && of(kind).delete(key),
    list: async (kind, query) =>
      selected([...of(kind).keys()].filter((key) => find(kind, key) !== undefined), query).map(
        (key) => shown(find(kind, key)) as Note,
      ),
    add: async (kind, key, by, expiresAt) => {
      const before = find(kind, key)?.value
      const sum = (typeof before === 'number' ? before : 0) + by
      keep(kind, { key, value: sum, expiresAt })
      return sum
    },
  }
}

function shown(kept: Kept | undefined): Note | undefined {
  if (kept === undefined) return undefined
  const { key, value, version, updatedAt } = kept
  return { key, value: structuredClone<Json>(value), version, updatedAt }
}

function selected(keys: readonly string[], { prefix = '', after, descending, limit }: NoteQuery): readonly string[] {
  const ordered = keys.filter((key) => key.startsWith(prefix)).sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
  if (descending === true) ordered.reverse()
  const isAfter = (key: string): boolean =>
    after === undefined || (descending === true ? Buffer.from(key).compare(Buffer.from(after)) < 0 : Buffer.from(key).compare(Buffer.from(after)) > 0)
  return ordered.filter(isAfter).slice(0, limit)
}
