/**
 * Who this hub is to a gateway: an Ed25519 key that stays the same. A gateway lets whoever started a run stop it, and
 * asks it for approvals, by this key alone; without one a run that was started before a restart could not be canceled.
 */
import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, sign } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import type { Notes } from '@parley/a2a'
import type { Fields } from './wire.ts'

export interface Device {
  readonly id: string
  /** The raw key, base64url. */
  readonly publicKey: string
  sign(text: string): string
}

const kind = 'openclaw-device'

/** The one that is kept, made at first. Replicas that make one at the same time end up with the same. */
export async function keptDevice(notes: Notes): Promise<Device> {
  const kept = (await notes.read(kind, 'key'))?.value
  if (typeof kept === 'string') return deviceOf(kept)
  const made = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  if ((await notes.write(kind, { key: 'key', value: made }, 0)) !== undefined) return deviceOf(made)
  return keptDevice(notes)
}

/** Of a PKCS #8 private key, as PEM. */
export function deviceOf(pem: string): Device {
  const key = createPrivateKey(pem)
  const raw = rawPublicKey(key)
  return {
    id: createHash('sha256').update(raw).digest('hex'),
    publicKey: raw.toString('base64url'),
    sign: (text) => sign(null, Buffer.from(text, 'utf8'), key).toString('base64url'),
  }
}

export function isDeviceKey(pem: string): boolean {
  try {
    return createPrivateKey(pem).asymmetricKeyType === 'ed25519'
  } catch {
    return false
  }
}

function rawPublicKey(key: KeyObject): Buffer {
  // The key itself is what comes last in its envelope.
  return createPublicKey(key).export({ type: 'spki', format: 'der' }).subarray(-32)
}

export interface Proof {
  readonly clientId: string
  readonly clientMode: string
  readonly role: string
  readonly scopes: readonly string[]
  readonly platform: string
  /** The token that the same request shows. */
  readonly token: string
  readonly nonce: string
  readonly signedAt: number
}

/** What a connect request says of the device (version 3 of the signed text). */
export function proofOf(device: Device, proof: Proof): Fields {
  const { clientId, clientMode, role, scopes, platform, token, nonce, signedAt } = proof
  const text = ['v3', device.id, clientId, clientMode, role, scopes.join(','), signedAt, token, nonce, platform, '']
  return { id: device.id, publicKey: device.publicKey, signature: device.sign(text.join('|')), signedAt, nonce }
}

/** The token that a gateway gave to this device, which proves it without the shared one. */
export interface DeviceTokens {
  read(url: string): Promise<string | undefined>
  keep(url: string, token: string): Promise<void>
  forget(url: string): Promise<void>
}

export function keptTokens(notes: Notes): DeviceTokens {
  const keyOf = (url: string): string => `token:${createHash('sha256').update(url).digest('hex').slice(0, 32)}`
  return {
    async read(url) {
      const value = (await notes.read(kind, keyOf(url)))?.value
      return typeof value === 'string' ? value : undefined
    },
    async keep(url, token) {
      await notes.write(kind, { key: keyOf(url), value: token })
    },
    async forget(url) {
      await notes.remove(kind, keyOf(url))
    },
  }
}
