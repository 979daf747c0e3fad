/** The key that runs the hub: given by the configuration, or made at the first start and told once. Kept as a hash. */
import type { Notes } from '@parley/a2a'
import { ConfigError } from '@parley/a2a/server'
import { hashOf, isSameHash, newKey } from './key-format.ts'
import { markOf } from './session.ts'

export interface AdminKey {
  isGood(key: string): boolean
  /** Another one for another key, and no help to find either. */
  readonly mark: string
  /** There if it was made just now: to be shown, for nobody can read it later. */
  readonly made?: string
}

const kind = 'admin'
const name = 'key'
const shortest = 16

/** One that is given counts instead of one that was made: so whoever lost theirs gives another. */
export async function openAdminKey(notes: Notes, given?: string): Promise<AdminKey> {
  if (given !== undefined) {
    if (given.length < shortest) {
      throw new ConfigError(
        'admin.key',
        `is shorter than ${shortest} characters: make one with \`openssl rand -base64 32\``,
      )
    }
    return known(hashOf(given))
  }
  const { key } = newKey('pka')
  const isFirst = await notes.write(kind, { key: name, value: { hash: hashOf(key), createdAt: Date.now() } }, 0)
  if (isFirst !== undefined) return { ...known(hashOf(key)), made: key }
  const note = await notes.read(kind, name)
  const { hash } = (note?.value ?? {}) as { hash?: string }
  if (typeof hash !== 'string') throw new ConfigError('admin.key', 'the one that was made cannot be read: give another')
  return known(hash)
}

function known(hash: string): AdminKey {
  return { isGood: (key) => isSameHash(hashOf(key), hash), mark: markOf(hash) }
}
