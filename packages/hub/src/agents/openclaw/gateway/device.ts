/**
 * The identity of this hub at a gateway: a permanent Ed25519 key. The gateway uses only this key to decide who may stop a
 * run and answer its approvals. Without it, a run from before a restart could not be canceled.
 */
import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, sign, type KeyObject } from 'node:crypto'
import type { KeyValueStore } from '@parley/a2a/stores'
import type { GatewayFields } from './frames.ts'

export interface Device {
  readonly id: string
  /** The raw key, base64url. */
  readonly publicKey: string
  sign(text: string): string
}

const recordKind = 'openclaw-device'

/** Loads the stored key or creates it. Replicas that create one at the same time end up with the same. */
export async function loadDevice(kv: KeyValueStore): Promise<Device> {
  const kept = (await kv.read(recordKind, 'key'))?.value
  if (typeof kept === 'string') return deviceFromKey(kept)
  const made = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  if ((await kv.write(recordKind, { key: 'key', value: made }, 0)) !== undefined) return deviceFromKey(made)
  return loadDevice(kv)
}

/** From a PKCS #8 private key in PEM. */
export function deviceFromKey(pem: string): Device {
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
  // The raw key is the last part of its encoding.
  return createPublicKey(key).export({ type: 'spki', format: 'der' }).subarray(-32)
}

export interface DeviceProof {
  readonly clientId: string
  readonly clientMode: string
  readonly role: string
  readonly scopes: readonly string[]
  readonly platform: string
  /** The token that the same request presents. */
  readonly token: string
  readonly nonce: string
  readonly signedAt: number
}

/** The device fields of a connect request (version 3 of the signed text). */
export function signDeviceProof(device: Device, proof: DeviceProof): GatewayFields {
  const { clientId, clientMode, role, scopes, platform, token, nonce, signedAt } = proof
  const text = ['v3', device.id, clientId, clientMode, role, scopes.join(','), signedAt, token, nonce, platform, '']
  return { id: device.id, publicKey: device.publicKey, signature: device.sign(text.join('|')), signedAt, nonce }
}

/** Tokens that gateways issued to this device, which replace the shared one. */
export interface DeviceTokens {
  read(url: string): Promise<string | undefined>
  keep(url: string, token: string): Promise<void>
  forget(url: string): Promise<void>
}

export function createDeviceTokens(kv: KeyValueStore): DeviceTokens {
  const keyOf = (url: string): string => `token:${createHash('sha256').update(url).digest('hex').slice(0, 32)}`
  return {
    async read(url) {
      const value = (await kv.read(recordKind, keyOf(url)))?.value
      return typeof value === 'string' ? value : undefined
    },
    async keep(url, token) {
      await kv.write(recordKind, { key: keyOf(url), value: token })
    },
    async forget(url) {
      await kv.remove(recordKind, keyOf(url))
    },
  }
}
