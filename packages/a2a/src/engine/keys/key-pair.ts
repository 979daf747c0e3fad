/**
 * Key pairs for signatures that third parties verify: ES256, because every JWT library supports it. The keyring stores them as the
 * text of a JWK. The name is the thumbprint of the key (RFC 7638), so that two servers never use one name for different keys.
 */
import { toBase64Url } from '../../model/base64-url.ts'

type CryptoKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>

export interface KeyPair {
  readonly kid: string
  readonly createdAt: number
  readonly privateKey: CryptoKey
  /** As a JWKS lists it. */
  readonly publicJwk: PublicJwk
}

export interface PublicJwk {
  readonly kty: string
  readonly crv: string
  readonly x: string
  readonly y: string
  readonly kid: string
  readonly alg: 'ES256'
  readonly use: 'sig'
}

const ecdsa = { name: 'ECDSA', namedCurve: 'P-256' }

/** Creates a key pair, as bytes to store. */
export async function generateKeyPair(): Promise<Uint8Array<ArrayBuffer>> {
  const { privateKey } = await crypto.subtle.generateKey(ecdsa, true, ['sign', 'verify'])
  const { kty, crv, x, y, d } = await crypto.subtle.exportKey('jwk', privateKey)
  return new TextEncoder().encode(JSON.stringify({ kty, crv, x, y, d }))
}

export async function importKeyPair(bytes: Uint8Array<ArrayBuffer>, createdAt: number): Promise<KeyPair> {
  const jwk = JSON.parse(new TextDecoder().decode(bytes)) as {
    kty: string
    crv: string
    x: string
    y: string
    d: string
  }
  const { kty, crv, x, y } = jwk
  const privateKey = await crypto.subtle.importKey('jwk', jwk, ecdsa, false, ['sign'])
  // The thumbprint hashes the members in this order with nothing between them.
  const hashed = new TextEncoder().encode(JSON.stringify({ crv, kty, x, y }))
  const kid = toBase64Url(new Uint8Array(await crypto.subtle.digest('SHA-256', hashed)))
  return { kid, createdAt, privateKey, publicJwk: { kty, crv, x, y, kid, alg: 'ES256', use: 'sig' } }
}
