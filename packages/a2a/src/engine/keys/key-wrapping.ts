/**
 * How the keys of the keyring are encrypted in the store: by the master key, which is kept apart from the data. While a master key
 * is being replaced there are two, and each key may be wrapped by either.
 */
import type { KeyRow } from '../../stores/store.ts'
import { fromBase64Url, toBase64Url } from '../../model/base64-url.ts'

/** The master key, and others that may have wrapped a key: the previous one, or the next one of an interrupted rotation. */
export interface MasterKeys {
  readonly current: Uint8Array
  readonly others: readonly Uint8Array[]
}

export interface UnwrappedKey {
  readonly secret: Uint8Array<ArrayBuffer>
  /** The place of the master key that wrapped it: 0 is the current one, then the others. */
  readonly master: number
}

export interface KeyWrapping {
  /** `master` is a place as in `UnwrappedKey`. */
  wrap(id: string, secret: Uint8Array<ArrayBuffer>, master: number): Promise<string>
  /** Rejects if no master key wrapped it. */
  unwrap(row: KeyRow): Promise<UnwrappedKey>
}

type CryptoKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>

const keyBytes = 32

export async function createKeyWrapping(masters: MasterKeys | undefined): Promise<KeyWrapping> {
  if (masters === undefined) return plainWrapping
  const keys = await Promise.all([masters.current, ...masters.others].map(importMaster))
  // The id is authenticated too, so that keys cannot be swapped in the store.
  const cipher = (iv: Uint8Array<ArrayBuffer>, id: string) => ({
    name: 'AES-GCM',
    iv,
    additionalData: new TextEncoder().encode(id),
  })
  return {
    async wrap(id, secret, master) {
      const iv = crypto.getRandomValues(new Uint8Array(12))
      const sealed = new Uint8Array(await crypto.subtle.encrypt(cipher(iv, id), keys[master] as CryptoKey, secret))
      return `aes-gcm.${toBase64Url(iv)}.${toBase64Url(sealed)}`
    },
    async unwrap({ id, material }) {
      const [kind, iv, sealed] = material.split('.')
      const [ivBytes, sealedBytes] = [fromBase64Url(iv), fromBase64Url(sealed)]
      if (kind !== 'aes-gcm' || ivBytes === undefined || sealedBytes === undefined) {
        throw new Error(`The key ${id} in the store is not wrapped by a master key, although one is configured`)
      }
      let cause: unknown
      for (const [master, key] of keys.entries()) {
        try {
          const secret = new Uint8Array(await crypto.subtle.decrypt(cipher(ivBytes, id), key, sealedBytes))
          return { secret, master }
        } catch (reason) {
          cause = reason
        }
      }
      throw new Error(
        `The key ${id} in the store was wrapped by a different master key. Use the key that wrapped it last: the file ` +
          'beside the database (SQLite), or PARLEY_MASTER_KEY (PostgreSQL). During a rotation also set the previous key.',
        { cause },
      )
    },
  }
}

const plainWrapping: KeyWrapping = {
  wrap: async (_id, secret) => `plain.${toBase64Url(secret)}`,
  async unwrap({ id, material }) {
    const [kind, text] = material.split('.')
    const secret = kind === 'plain' ? fromBase64Url(text) : undefined
    if (secret === undefined) throw new Error(`The key ${id} in the store is wrapped: configure its master key`)
    return { secret, master: 0 }
  },
}

function importMaster(key: Uint8Array): Promise<CryptoKey> {
  if (key.length !== keyBytes) throw new Error(`The master key must have ${keyBytes} bytes, not ${key.length}`)
  return crypto.subtle.importKey('raw', new Uint8Array(key), 'AES-GCM', false, ['encrypt', 'decrypt'])
}
