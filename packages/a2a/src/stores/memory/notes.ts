/** Notes without a disk. */
import type { Json } from '../../model/task.ts'
import { compareBytes, keyBytes, lastOfEach, rangeOf } from '../note-keys.ts'
import type { Note, NoteQuery, Notes, NoteWrite } from '../notes.ts'

interface Kept extends Note {
  readonly bytes: Uint8Array
  readonly expiresAt: number
}

export function memoryNotes(now: () => number = Date.now): Notes {
  return createNotes(now).notes
}

export function createNotes(now: () => number) {
  const kinds = new Map<string, Map<string, Kept>>()

  function find(kind: string, key: string): Kept | undefined {
    const note = kinds.get(kind)?.get(key)
    return note !== undefined && note.expiresAt > now() ? note : undefined
  }

  function keep(kind: string, { key, value, expiresAt = Infinity }: NoteWrite): number {
    keyBytes(kind)
    const bytes = keyBytes(key)
    const version = (find(kind, key)?.version ?? 0) + 1
    const notes = kinds.get(kind) ?? new Map<string, Kept>()
    kinds.set(kind, notes.set(key, { key, bytes, value: structuredClone(value), version, updatedAt: now(), expiresAt }))
    return version
  }

  function remove(kind: string, key: string): boolean {
    const isThere = find(kind, key) !== undefined
    const notes = kinds.get(kind)
    notes?.delete(key)
    if (notes?.size === 0) kinds.delete(kind)
    return isThere
  }

  const notes: Notes = {
    read: async (kind, key) => shown(find(kind, key)),
    write: async (kind, note, version) =>
      version !== undefined && version !== (find(kind, note.key)?.version ?? 0) ? undefined : keep(kind, note),
    writeAll: async (kind, given) => {
      for (const { note } of lastOfEach(given)) keep(kind, note)
    },
    remove: async (kind, key) => remove(kind, key),
    list: async (kind, query) => {
      const live = [...(kinds.get(kind)?.values() ?? [])].filter(({ expiresAt }) => expiresAt > now())
      return selected(live, query).map((note) => shown(note) as Note)
    },
    add: async (kind, key, by, expiresAt) => {
      const before = find(kind, key)?.value
      const sum = (typeof before === 'number' ? before : 0) + by
      keep(kind, { key, value: sum, expiresAt })
      return sum
    },
  }

  return {
    notes,
    forgetExpired(): void {
      const at = now()
      for (const [kind, known] of kinds)
        for (const { key, expiresAt } of known.values()) if (expiresAt <= at) remove(kind, key)
    },
  }
}

function shown(kept: Kept | undefined): Note | undefined {
  if (kept === undefined) return undefined
  const { key, value, version, updatedAt } = kept
  return { key, value: structuredClone<Json>(value), version, updatedAt }
}

function selected(notes: readonly Kept[], query: NoteQuery): readonly Kept[] {
  const { from, until } = rangeOf(query)
  const found = notes.filter(({ bytes }) => compareBytes(bytes, from) >= 0 && compareBytes(bytes, until) < 0)
  found.sort((a, b) => compareBytes(a.bytes, b.bytes))
  return (query.descending === true ? found.reverse() : found).slice(0, query.limit)
}
