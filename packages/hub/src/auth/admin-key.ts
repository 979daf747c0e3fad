/** The admin key: set in the configuration, or created at the first start and shown once. Stored as a hash. */
import type { KeyValueStore } from '@parley/a2a'
import { ConfigError } from '@parley/a2a/server'
import { sha256Hex, isSameSecret, generateKey } from './key-format.ts'
import { adminKeyMark } from './console-session.ts'

export interface AdminKey {
  matches(key: string): boolean
  /** Identifies the key without revealing it; differs for each key. */
  readonly mark: string
  /** Set if the key was created by this start. Show it: it cannot be read again later. */
  readonly created?: string
}

const kind = 'admin'
const name = 'key'
const minLength = 16

/** A configured key replaces a created one, so an operator who lost the key configures another. */
export async function openAdminKey(kv: KeyValueStore, given?: string): Promise<AdminKey> {
  if (given !== undefined) {
    if (given.length < minLength) {
      throw new ConfigError(
        'admin.key',
        `is shorter than ${minLength} characters: create one with \`openssl rand -base64 32\``,
      )
    }
    return adminKeyFromHash(sha256Hex(given))
  }
  const { key } = generateKey('pka')
  const isFirst = await kv.write(kind, { key: name, value: { hash: sha256Hex(key), createdAt: Date.now() } }, 0)
  if (isFirst !== undefined) return { ...adminKeyFromHash(sha256Hex(key)), created: key }
  const stored = await kv.read(kind, name)
  const { hash } = (stored?.value ?? {}) as { hash?: string }
  if (typeof hash !== 'string') throw new ConfigError('admin.key', 'the generated key cannot be read: set another key')
  return adminKeyFromHash(hash)
}

function adminKeyFromHash(hash: string): AdminKey {
  return { matches: (key) => isSameSecret(sha256Hex(key), hash), mark: adminKeyMark(hash) }
}
