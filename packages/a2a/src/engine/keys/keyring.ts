/**
 * The keys with which a server signs and encrypts. The store keeps them, so that all of its processes and every restart have the
 * same ones. With a master key they are wrapped, and a copy of the store is not enough to forge a page token or to read a secret.
 * The newest key signs and all verify, so keys can rotate without interruption.
 */
import { clockOf } from '../../model/clock.ts'
import type { KeyRow, KeyStore } from '../../stores/store.ts'
import { fromBase64Url, toBase64Url } from './base64-url.ts'
import { generateKeyPair, importKeyPair, type KeyPair } from './key-pair.ts'

export interface Keyring {
  /** HMAC-SHA-256 under the newest key of this purpose, which is created on first use. */
  sign(purpose: string, text: string): Promise<string>
  /** Whether any key of this purpose created the signature. */
  verify(purpose: string, text: string, signature: string): Promise<boolean>
  /** AES-256-GCM under the newest key of this purpose. Only a caller that passes the same `about` can unseal it. */
  seal(purpose: string, text: string, about: string): Promise<string>
  /** Rejects if no key of this purpose sealed the text, or if `about` differs. */
  unseal(purpose: string, sealed: string, about: string): Promise<string>
  /** The key pairs of this purpose, oldest first: for signatures that third parties verify. The first is created on demand. */
  keyPairs(purpose: string): Promise<readonly KeyPair[]>
  /** Creates another key pair, unless another process just created one: `after` is the number of known pairs. */
  addKeyPair(purpose: string, after: number): Promise<void>
  /** Creates a new key, which signs from now on. Signatures of older keys stay valid. */
  rotate(purpose: string): Promise<void>
  /** Removes the keys created before this time, never the newest. */
  retire(purpose: string, before: number): Promise<void>
}

type CryptoKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>

class KeyringKey {
  readonly number: number
  readonly row: KeyRow
  readonly secret: Uint8Array<ArrayBuffer>
  #hmac: Promise<CryptoKey> | undefined
  #aes: Promise<CryptoKey> | undefined
  #pair: Promise<KeyPair> | undefined

  constructor(number: number, row: KeyRow, secret: Uint8Array<ArrayBuffer>) {
    this.number = number
    this.row = row
    this.secret = secret
  }

  get hmac(): Promise<CryptoKey> {
    return (this.#hmac ??= crypto.subtle.importKey('raw', this.secret, hmac, false, ['sign', 'verify']))
  }

  get aes(): Promise<CryptoKey> {
    return (this.#aes ??= importAes(this.secret))
  }

  get pair(): Promise<KeyPair> {
    return (this.#pair ??= importKeyPair(this.secret, this.row.createdAt))
  }
}

const hmac = { name: 'HMAC', hash: 'SHA-256' }
const keyBytes = 32
const staleMs = 60_000

/** `masterKey` has 32 bytes. Without one the store holds the keys unencrypted, which suits a store that is itself in memory. */
export async function openKeyring(store: KeyStore, masterKey?: Uint8Array, nowOption?: () => number): Promise<Keyring> {
  const { now, monotonicNow } = clockOf({ now: nowOption })
  const wrapping = await createKeyWrapping(masterKey)
  /** By purpose, oldest first. */
  let rings = new Map<string, readonly KeyringKey[]>()
  let loading = Promise.resolve()
  let loadedAt = -Infinity

  /** Reads all keys again, one read after the other, so that an older read never overwrites a newer one. */
  function load(): Promise<void> {
    loading = loading.then(readAll, readAll)
    return loading
  }

  async function readAll(): Promise<void> {
    const found = new Map<string, KeyringKey[]>()
    for (const row of await store.list()) {
      const number = numberIn(row)
      if (number === undefined) continue
      const known = rings.get(row.purpose)?.find((key) => key.row.material === row.material)
      const key = known ?? new KeyringKey(number, row, await wrapping.unwrap(row))
      found.set(row.purpose, [...(found.get(row.purpose) ?? []), key])
    }
    for (const ring of found.values()) ring.sort((a, b) => a.number - b.number)
    rings = found
    loadedAt = monotonicNow()
  }

  /** Two processes that create the same key agree: the store keeps the first, and both read which one it is. */
  async function createKey(purpose: string, number: number, secret = randomKey()): Promise<void> {
    const id = `${purpose}.${number}`
    const material = await wrapping.wrap(id, secret)
    await store.save({ id, purpose, material, createdAt: now() })
    await load()
  }

  async function newest(purpose: string): Promise<KeyringKey> {
    if (rings.get(purpose) === undefined) await createKey(purpose, 1)
    const key = rings.get(purpose)?.at(-1)
    if (key === undefined) throw new Error(`The store did not keep the key for ${purpose}`)
    return key
  }

  async function find(purpose: string, number: number): Promise<KeyringKey | undefined> {
    const known = (): KeyringKey | undefined => rings.get(purpose)?.find((key) => key.number === number)
    // Another process may have created a key since.
    if (known() === undefined) await load()
    return known()
  }

  await load()
  return {
    async sign(purpose, text) {
      const key = await newest(purpose)
      const mac = await crypto.subtle.sign(hmac, await key.hmac, bytesOf(text))
      return `${key.number}.${toBase64Url(new Uint8Array(mac))}`
    },
    async verify(purpose, text, signature) {
      const [, digits = '', mac = ''] = /^(\d{1,9})\.([\w-]{43})$/.exec(signature) ?? []
      const bytes = fromBase64Url(mac)
      if (bytes === undefined) return false
      const found = await find(purpose, Number(digits))
      return found !== undefined && crypto.subtle.verify(hmac, await found.hmac, bytes, bytesOf(text))
    },
    async seal(purpose, text, about) {
      const key = await newest(purpose)
      const iv = crypto.getRandomValues(new Uint8Array(12))
      const cipher = { name: 'AES-GCM', iv, additionalData: bytesOf(about) }
      const sealed = await crypto.subtle.encrypt(cipher, await key.aes, bytesOf(text))
      return `${key.number}.${toBase64Url(iv)}.${toBase64Url(new Uint8Array(sealed))}`
    },
    async unseal(purpose, sealed, about) {
      const [number = '', iv, text] = sealed.split('.')
      const [ivBytes, textBytes] = [fromBase64Url(iv), fromBase64Url(text)]
      const key = /^\d{1,9}$/.test(number) ? await find(purpose, Number(number)) : undefined
      if (key === undefined || ivBytes === undefined || textBytes === undefined) {
        throw new Error(`No key for ${purpose} decrypts this`)
      }
      const cipher = { name: 'AES-GCM', iv: ivBytes, additionalData: bytesOf(about) }
      return decoder.decode(await crypto.subtle.decrypt(cipher, await key.aes, textBytes))
    },
    async keyPairs(purpose) {
      // The list is published: it must contain a key of another process before that key signs.
      if (rings.get(purpose) === undefined || monotonicNow() - loadedAt > staleMs) await load()
      if (rings.get(purpose) === undefined) await createKey(purpose, 1, await generateKeyPair())
      return Promise.all((rings.get(purpose) ?? []).map((key) => key.pair))
    },
    async addKeyPair(purpose, after) {
      await load()
      const ring = rings.get(purpose) ?? []
      if (ring.length <= after) await createKey(purpose, (ring.at(-1)?.number ?? 0) + 1, await generateKeyPair())
    },
    async rotate(purpose) {
      await load()
      await createKey(purpose, (rings.get(purpose)?.at(-1)?.number ?? 0) + 1)
    },
    async retire(purpose, before) {
      await load()
      const old = (rings.get(purpose) ?? []).slice(0, -1).filter(({ row }) => row.createdAt < before)
      for (const { row } of old) await store.delete(row.id)
      await load()
    },
  }
}

/** How key material is encoded in the store. */
interface KeyWrapping {
  wrap(id: string, secret: Uint8Array<ArrayBuffer>): Promise<string>
  unwrap(row: KeyRow): Promise<Uint8Array<ArrayBuffer>>
}

async function createKeyWrapping(masterKey: Uint8Array | undefined): Promise<KeyWrapping> {
  if (masterKey === undefined) return plainWrapping
  if (masterKey.length !== keyBytes)
    throw new Error(`The master key must have ${keyBytes} bytes, not ${masterKey.length}`)
  const master = await importAes(new Uint8Array(masterKey))
  // The id is authenticated too, so that keys cannot be swapped in the store.
  const cipher = (iv: Uint8Array<ArrayBuffer>, id: string) => ({ name: 'AES-GCM', iv, additionalData: bytesOf(id) })
  return {
    async wrap(id, secret) {
      const iv = crypto.getRandomValues(new Uint8Array(12))
      const sealed = new Uint8Array(await crypto.subtle.encrypt(cipher(iv, id), master, secret))
      return `aes-gcm.${toBase64Url(iv)}.${toBase64Url(sealed)}`
    },
    async unwrap({ id, material }) {
      const [kind, iv, sealed] = material.split('.')
      const [ivBytes, sealedBytes] = [fromBase64Url(iv), fromBase64Url(sealed)]
      if (kind !== 'aes-gcm' || ivBytes === undefined || sealedBytes === undefined) {
        throw new Error(`The key ${id} in the store is not wrapped by a master key, although one is configured`)
      }
      try {
        return new Uint8Array(await crypto.subtle.decrypt(cipher(ivBytes, id), master, sealedBytes))
      } catch (cause) {
        throw new Error(
          `The key ${id} in the store was wrapped by a different master key. Use the key that this store ` +
            'was first opened with: the file beside the database (SQLite), or PARLEY_MASTER_KEY (PostgreSQL).',
          { cause },
        )
      }
    },
  }
}

const plainWrapping: KeyWrapping = {
  wrap: async (_id, secret) => `plain.${toBase64Url(secret)}`,
  async unwrap({ id, material }) {
    const [kind, text] = material.split('.')
    const secret = kind === 'plain' ? fromBase64Url(text) : undefined
    if (secret === undefined) throw new Error(`The key ${id} in the store is wrapped: configure its master key`)
    return secret
  },
}

function importAes(secret: Uint8Array<ArrayBuffer>): Promise<CryptoKey> {
  return crypto.subtle.importKey('raw', secret, 'AES-GCM', false, ['encrypt', 'decrypt'])
}

function randomKey(): Uint8Array<ArrayBuffer> {
  return crypto.getRandomValues(new Uint8Array(keyBytes))
}

/** Keys with ids of another form belong to another application that shares the store. */
function numberIn({ id, purpose }: KeyRow): number | undefined {
  const digits = id.startsWith(`${purpose}.`) ? id.slice(purpose.length + 1) : ''
  return /^[1-9]\d{0,8}$/.test(digits) ? Number(digits) : undefined
}

const encoder = new TextEncoder()
const decoder = new TextDecoder()

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return encoder.encode(text)
}
