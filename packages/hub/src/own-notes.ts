/** A part of the hub's notes that is somebody's own: an agent's, or that of all agents of a kind. */
import type { Notes } from '@parley/a2a'

/** `whose` is the same for nobody else, and none begins like another and a slash. */
export function ownNotes(notes: Notes, whose: string): Notes {
  const own = (kind: string): string => `${whose}/${kind}`
  return {
    read: (kind, key) => notes.read(own(kind), key),
    write: (kind, note, version) => notes.write(own(kind), note, version),
    writeAll: (kind, all) => notes.writeAll(own(kind), all),
    remove: (kind, key) => notes.remove(own(kind), key),
    list: (kind, query) => notes.list(own(kind), query),
    add: (kind, key, by, expiresAt) => notes.add(own(kind), key, by, expiresAt),
  }
}
