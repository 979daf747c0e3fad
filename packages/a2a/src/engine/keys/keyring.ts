/**
 * The keys with which a server signs and encrypts. The store keeps them, so that all of its processes and every restart have the
 * same ones. With a master key they are wrapped, and a copy of the store is not enough to forge a page token or to read a secret.
 * The newest key signs and all verify, so keys can rotate without interruption.
 */
import { clockOf } from '../../model/clock.ts'
import type { KeyRow, KeyStore } from '../../stores/store.ts'
import { fromBase64Url, toBase64Url } from '../../model/base64-url.ts'
import { generateKeyPair, importKeyPair, type KeyPair } from './key-pair.ts'
import { createKeyWrapping, type KeyWrapping, type MasterKeys } from './key-wrapping.ts'

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
  /** The purposes of `sign` and `seal`, with the numbers of their keys, oldest first. Numbers begin signatures and sealed texts. */
  secretKeys(): Promise<ReadonlyMap<string, readonly SecretKeyInfo[]>>
  /**
   * Wraps all keys by another master key: one that the store creates, or its current one if keys are still wrapped by a previous
   * one. Returns how many keys were wrapped again. An interrupted rotation is continued by the next call.
   */
  rotateMasterKey(): Promise<number>
}

/** A key of the keyring, without its secret. */
export interface SecretKeyInfo {
  readonly number: number
  readonly createdAt: number
}

type CryptoKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>

class KeyringKey {
  readonly number: number
  readonly row: KeyRow
  readonly secret: Uint8Array<ArrayBuffer>
  /** The place of the master key that wraps it in the store. */
  readonly master: number
  #hmac: Promise<CryptoKey> | undefined
  #aes: Promise<CryptoKey> | undefined
  #pair: Promise<KeyPair> | undefined

  constructor(number: number, row: KeyRow, secret: Uint8Array<ArrayBuffer>, master: number) {
    this.number = number
    this.row = row
    this.secret = secret
    this.master = master
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
/** Other replicas create keys rarely: more than a few rounds mean that the store does not keep what it is given. */
const maxRewraps = 20

/**
 * `masterKey` has 32 bytes, or returns the master keys of the store. Without one the store holds the keys unencrypted, which suits a
 * store that is itself in memory.
 */
export async function openKeyring(
  store: KeyStore,
  masterKey?: Uint8Array | (() => MasterKeys),
  nowOption?: () => number,
): Promise<Keyring> {
  const { now, monotonicNow } = clockOf({ now: nowOption })
  let wrapping = await currentWrapping()
  /** By purpose, oldest first. */
  let rings = new Map<string, readonly KeyringKey[]>()
  /** By id, of all purposes. */
  let keysById = new Map<string, KeyringKey>()
  let loading = Promise.resolve()
  let loadedAt = -Infinity
  /** New keys are created, and the master key is rotated, one after the other. */
  let changing: Promise<unknown> = Promise.resolve()

  function currentWrapping(): Promise<KeyWrapping> {
    if (masterKey === undefined || typeof masterKey === 'function') return createKeyWrapping(masterKey?.())
    return createKeyWrapping({ current: masterKey, others: [] })
  }

  function exclusive<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = changing.then(work)
    changing = done.catch(() => {})
    return done
  }

  /** Reads all keys again, one read after the other, so that an older read never overwrites a newer one. */
  function load(): Promise<void> {
    loading = loading.then(readAll, readAll)
    return loading
  }

  async function readAll(): Promise<void> {
    const found = new Map<string, KeyringKey[]>()
    const byId = new Map<string, KeyringKey>()
    for (const row of await store.list()) {
      const number = numberIn(row)
      if (number === undefined) continue
      const key = await openKey(number, row)
      found.set(row.purpose, [...(found.get(row.purpose) ?? []), key])
      byId.set(row.id, key)
    }
    for (const ring of found.values()) ring.sort((a, b) => a.number - b.number)
    rings = found
    keysById = byId
    loadedAt = monotonicNow()
  }

  async function openKey(number: number, row: KeyRow): Promise<KeyringKey> {
    const known = keysById.get(row.id)
    if (known?.row.material === row.material) return known
    try {
      const { secret, master } = await wrapping.unwrap(row)
      return new KeyringKey(number, row, secret, master)
    } catch (reason) {
      // Another replica has rotated to a master key that this one does not have. The key itself is the same.
      if (known !== undefined) return known
      throw reason
    }
  }

  async function reloadIfStale(): Promise<void> {
    // While the store does not answer, the known keys are as good as any.
    if (monotonicNow() - loadedAt > staleMs) await load().catch(() => {})
  }

  /**
   * The master key that wraps the keys of the store. While replicas learn a new one, all keep to the old one until the rotation: a
   * replica that does not know the new one yet could not read the key.
   */
  function wrappingMaster(): number {
    const first = keysById.get(checkKeyId) ?? keysById.values().next().value
    return first?.master ?? 0
  }

  /** Two processes that create the same key agree: the store keeps the first, and both read which one it is. */
  function createKey(purpose: string, number: number, secret = randomKey()): Promise<void> {
    return exclusive(async () => {
      await load()
      const id = `${purpose}.${number}`
      const material = await wrapping.wrap(id, secret, wrappingMaster())
      await store.save({ id, purpose, material, createdAt: now() })
      await load()
      // The master key was rotated while the key was saved: of the two, the later one sees what the other did.
      if (keysById.get(id)?.master !== wrappingMaster()) await rewrapAll(wrappingMaster())
    })
  }

  /** Returns how many keys were not wrapped by this master key before. */
  async function rewrapAll(master: number): Promise<number> {
    const rewrapped = new Set<string>()
    for (let round = 0; round < maxRewraps; round += 1) {
      const rows = (await store.list()).filter((row) => numberIn(row) !== undefined)
      const opened = await Promise.all(rows.map(async (row) => ({ row, ...(await wrapping.unwrap(row)) })))
      const others = opened.filter((key) => key.master !== master)
      if (others.length === 0) {
        await load()
        return rewrapped.size
      }
      const changes = others.map(async ({ row: { id, material }, secret }) => {
        return { id, from: material, to: await wrapping.wrap(id, secret, master) }
      })
      if (await store.replace?.(await Promise.all(changes))) for (const { row } of others) rewrapped.add(row.id)
    }
    throw new Error('The keys in the store change all the time: the master key was not rotated')
  }

  /** Ends a rotation of the store's own master key that a crash interrupted. */
  async function settleMasterKey(): Promise<void> {
    if (typeof masterKey !== 'function' || store.adoptMasterKey === undefined) return
    const { current, others } = masterKey()
    const used = new Set([...keysById.values()].map(({ master }) => master))
    if (others.length === 0 || used.size > 1) return
    const [master = 0] = used
    await store.adoptMasterKey([current, ...others][master] as Uint8Array)
    await forgetMasterKeys()
  }

  /** The places of master keys have changed. */
  async function forgetMasterKeys(): Promise<void> {
    wrapping = await currentWrapping()
    keysById = new Map()
    await load()
  }

  async function newest(purpose: string): Promise<KeyringKey> {
    if (rings.get(purpose) === undefined) await createKey(purpose, 1)
    // Another process may have rotated, and may remove the old key some time later.
    else await reloadIfStale()
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
  await settleMasterKey()
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
    async secretKeys() {
      await load()
      const secret = [...rings].filter(([, ring]) => ring.every((key) => key.secret.length === keyBytes))
      return new Map(
        secret.map(([purpose, ring]) => [
          purpose,
          ring.map(({ number, row }) => ({ number, createdAt: row.createdAt })),
        ]),
      )
    },
    rotateMasterKey: () =>
      exclusive(async () => {
        if (typeof masterKey !== 'function' || store.replace === undefined) {
          throw new Error('The store has no master key of its own, so its master key cannot be rotated')
        }
        if (store.createMasterKey === undefined) return rewrapAll(0)
        const next = await store.createMasterKey()
        await forgetMasterKeys()
        const { others } = masterKey()
        const count = await rewrapAll(1 + others.findIndex((other) => isSameKey(other, next)))
        await store.adoptMasterKey?.(next)
        await forgetMasterKeys()
        return count
      }),
  }
}

function isSameKey(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, at) => byte === b[at])
}

function importAes(secret: Uint8Array<ArrayBuffer>): Promise<CryptoKey> {
  return crypto.subtle.importKey('raw', secret, 'AES-GCM', false, ['encrypt', 'decrypt'])
}

function randomKey(): Uint8Array<ArrayBuffer> {
  return crypto.getRandomValues(new Uint8Array(keyBytes))
}

/** The key against which the master key is checked: a store that a server has opened has it. */
export const checkPurpose = 'master-key-check'
const checkKeyId = `${checkPurpose}.1`

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
