/**
 * The keys with which we sign what callers bring back, such as page tokens. They live
 * in the store, so that every process and every restart knows them, wrapped by a master
 * key that does not live there. Signed by the newest, accepted from any: a key can be
 * rotated while tokens of the last one are still about.
 */
import type { Signer } from '../engine/contract.ts'
import { newId } from '../model/id.ts'
import { ConfigError } from './config-error.ts'
import type { Store } from './options.ts'

export interface Keyring extends Signer {
  /** Loads the keys, and makes the first one. Rejects if they cannot be unwrapped. */
  open(): Promise<void>
}

const purpose = 'sign'

type KeyRow = Parameters<Store['saveKey']>[0]
type Key = InstanceType<typeof CryptoKey>

export function createKeyring(
  store: Pick<Store, 'listKeys' | 'saveKey'>,
  masterKey: Uint8Array | undefined,
  now: () => number,
): Keyring {
  let opened: Promise<Key[]> | undefined

  async function load(): Promise<Key[]> {
    const rows = (await store.listKeys()).filter((row) => row.purpose === purpose)
    if (rows.length > 0) {
      const newestFirst = [...rows].sort((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1))
      return Promise.all(newestFirst.map(async (row) => importKey(await unwrap(row, masterKey))))
    }
    const secret = crypto.getRandomValues(new Uint8Array(32))
    await store.saveKey({ id: newId(), purpose, material: await wrap(secret, masterKey), createdAt: now() })
    return [await importKey(secret)]
  }

  async function keys(): Promise<readonly Key[]> {
    opened ??= load()
    return opened
  }

  return {
    async open() {
      await keys()
    },
    async sign(forWhat, text) {
      const [newest] = await keys()
      const mac = await crypto.subtle.sign('HMAC', newest as Key, bytesOf(forWhat, text))
      return toBase64Url(new Uint8Array(mac))
    },
    async verify(forWhat, text, signature) {
      const given = fromBase64Url(signature)
      if (given === undefined) return false
      for (const key of await keys()) {
        if (await crypto.subtle.verify('HMAC', key, given, bytesOf(forWhat, text))) return true
      }
      return false
    },
  }
}

/** The purpose is part of what is signed: a page token is no hop token. */
function bytesOf(forWhat: string, text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(`${forWhat}\n${text}`)
}

function importKey(secret: Uint8Array<ArrayBuffer>): Promise<Key> {
  return crypto.subtle.importKey('raw', secret, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign', 'verify'])
}

async function wrap(secret: Uint8Array<ArrayBuffer>, masterKey: Uint8Array | undefined): Promise<string> {
  if (masterKey === undefined) return `plain.${toBase64Url(secret)}`
  const iv = crypto.getRandomValues(new Uint8Array(12))
  const wrapped = await crypto.subtle.encrypt({ name: 'AES-GCM', iv }, await importMaster(masterKey), secret)
  return `a256gcm.${toBase64Url(iv)}.${toBase64Url(new Uint8Array(wrapped))}`
}

async function unwrap({ material }: KeyRow, masterKey: Uint8Array | undefined): Promise<Uint8Array<ArrayBuffer>> {
  const [form, first = '', second = ''] = material.split('.')
  if (form === 'plain') return fromBase64Url(first) ?? lost()
  const iv = fromBase64Url(first)
  const wrapped = fromBase64Url(second)
  if (form !== 'a256gcm' || iv === undefined || wrapped === undefined || masterKey === undefined) return lost()
  try {
    return new Uint8Array(await crypto.subtle.decrypt({ name: 'AES-GCM', iv }, await importMaster(masterKey), wrapped))
  } catch {
    return lost()
  }
}

function lost(): never {
  throw new ConfigError('masterKey', 'the keys in the store were wrapped with another master key: bring that one back')
}

async function importMaster(masterKey: Uint8Array): Promise<Key> {
  if (masterKey.length !== 32) throw new ConfigError('masterKey', 'give 32 bytes')
  return crypto.subtle.importKey('raw', new Uint8Array(masterKey), 'AES-GCM', false, ['encrypt', 'decrypt'])
}

function toBase64Url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
}

function fromBase64Url(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!/^[\w-]{1,1024}$/.test(text)) return undefined
  try {
    return Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (char) => char.charCodeAt(0))
  } catch {
    return undefined
  }
}
