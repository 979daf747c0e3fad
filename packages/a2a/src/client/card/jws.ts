/**
 * Verifies one signature over one text with the platform's own cryptography: this file is small, where a library would
 * be many times as large as the part that is needed. Only algorithms with a public key: with a shared secret, every
 * verifier could have signed.
 */
import { fromBase64Url, toBase64Url } from '../../model/base64-url.ts'
import { omitUndefined } from '../../model/struct.ts'

/** A public key as it is published (RFC 7517), with the validity period that some publishers add. */
export interface JwsPublicKey {
  readonly kty?: string
  readonly kid?: string
  readonly alg?: string
  readonly crv?: string
  readonly use?: string
  readonly key_ops?: readonly string[]
  readonly [member: string]: unknown
}

export interface JwsHeader {
  readonly alg: string
  readonly kid: string
  readonly jku?: string
}

interface Algorithm {
  readonly kty: string
  readonly crv?: string
  readonly key: Parameters<typeof crypto.subtle.importKey>[2]
  readonly verify: Parameters<typeof crypto.subtle.verify>[0]
}

const ecdsa = (crv: string, hash: string): Algorithm => ({
  kty: 'EC',
  crv,
  key: { name: 'ECDSA', namedCurve: crv },
  verify: { name: 'ECDSA', hash },
})
const ed25519: Algorithm = { kty: 'OKP', crv: 'Ed25519', key: { name: 'Ed25519' }, verify: { name: 'Ed25519' } }
const rsa = 'RSASSA-PKCS1-v1_5'

const algorithms: { readonly [alg: string]: Algorithm } = {
  ES256: ecdsa('P-256', 'SHA-256'),
  ES384: ecdsa('P-384', 'SHA-384'),
  EdDSA: ed25519,
  Ed25519: ed25519,
  RS256: { kty: 'RSA', key: { name: rsa, hash: 'SHA-256' }, verify: { name: rsa } },
  PS256: { kty: 'RSA', key: { name: 'RSA-PSS', hash: 'SHA-256' }, verify: { name: 'RSA-PSS', saltLength: 32 } },
}

export const supportedAlgorithms: readonly string[] = Object.keys(algorithms)

/** A few hundred are usual, and several thousand with a certificate chain. */
const maxHeaderLength = 50_000

/** Throws, with the reason, for a header that a card signature must not have. */
export function readJwsHeader(encoded: string, allowed: readonly string[]): JwsHeader {
  if (encoded.length > maxHeaderLength) throw new Error(`its header has more than ${maxHeaderLength} characters`)
  const header = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytesOf(encoded))) as {
    readonly [name: string]: unknown
  } | null
  const { alg, kid, jku } = header ?? {}
  if (typeof alg !== 'string' || !Object.hasOwn(algorithms, alg) || !allowed.includes(alg)) {
    throw new Error(`its algorithm is not accepted: ${String(alg).slice(0, 20)}`)
  }
  if (typeof kid !== 'string' || kid === '') throw new Error('it names no key (kid)')
  // Critical extensions must be understood (RFC 7515 §4.1.11), and this code supports none.
  if (header?.['crit'] !== undefined) throw new Error('it requires an unsupported extension (crit)')
  return { alg, kid, ...(typeof jku === 'string' ? { jku } : {}) }
}

/** Whether a key may be used for this algorithm now (B-32). */
export function isKeyUsable(key: JwsPublicKey, alg: string, nowMs: number): boolean {
  const wanted = algorithms[alg]
  const seconds = nowMs / 1_000
  const { exp, nbf, revoked, n } = key
  return (
    wanted !== undefined &&
    key.kty === wanted.kty &&
    (wanted.crv === undefined || key.crv === wanted.crv) &&
    (key.alg === undefined || algorithms[key.alg] === wanted) &&
    (key.use === undefined || key.use === 'sig') &&
    (key.key_ops === undefined || key.key_ops.includes('verify')) &&
    revoked === undefined &&
    (typeof exp !== 'number' || exp > seconds) &&
    (typeof nbf !== 'number' || nbf <= seconds) &&
    // 2048 bits, in base64url.
    (wanted.kty !== 'RSA' || (typeof n === 'string' && n.length >= 342))
  )
}

export async function verifyJws(
  signature: { readonly protected: string; readonly signature: string },
  text: string,
  key: JwsPublicKey,
  alg: string,
): Promise<boolean> {
  const { subtle } = crypto as Partial<typeof crypto>
  if (subtle === undefined) throw new Error('Web Crypto is unavailable on pages served without https')
  const encoder = new TextEncoder()
  const { key: how, verify } = algorithms[alg] as Algorithm
  // Only the public members: some publishers include more than they should, and the other members were checked above.
  const { kty, crv, x, y, n, e } = key as { readonly [member: string]: string }
  const imported = await subtle.importKey('jwk', omitUndefined({ kty, crv, x, y, n, e }), how, false, ['verify'])
  const input = encoder.encode(`${signature.protected}.${toBase64Url(encoder.encode(text))}`)
  return subtle.verify(verify, imported, bytesOf(signature.signature), input)
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  const bytes = fromBase64Url(text)
  if (bytes === undefined) throw new Error('it is not valid base64url')
  return bytes
}
