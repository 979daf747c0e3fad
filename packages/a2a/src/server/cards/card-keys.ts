/**
 * The keys that sign cards: a key from the operator, as PEM or as a JWK, or key pairs of the keyring, which all processes share.
 * After a rotation the previous key signs too, until the next rotation: a client that knows only the older key can still verify the
 * card.
 */
import { omitUndefined } from '../../model/struct.ts'
import type { CryptoKey, JWK } from 'jose'
import type { Keyring } from '../../engine/keys/keyring.ts'
import { ConfigError } from '../config-error.ts'

/** Options for signing cards. */
export interface CardSigning {
  /** A private key, as PEM (PKCS #8) or a JWK. Default: an ES256 key, created on first use and kept in the store. */
  readonly key?: string | JWK
  /** Default: the key's `alg`; RS256 for an RSA key without one. */
  readonly alg?: string
  /** Default: the key's `kid`, or its thumbprint (RFC 7638). */
  readonly kid?: string
  /** Keys that were used before: still published, and the first of them still signs beside the new one. */
  readonly previous?: readonly (string | JWK)[]
  /** The URL of the public keys. Default: /.well-known/jwks.json of this server; `false` omits it. */
  readonly jku?: string | false
  /** Rotates the server's own key at this age. Default: never. */
  readonly rotateAfterMs?: number
}

export interface CardKey {
  readonly kid: string
  readonly alg: string
  readonly privateKey: CryptoKey
  readonly publicJwk: object
}

export interface CardKeys {
  /** Newest first, at least one. */
  signing(): Promise<readonly CardKey[]>
  /** The public keys of all signatures on cards that clients may still hold. */
  published(): Promise<readonly object[]>
  /** Absent for keys from the operator. */
  rotate?(): Promise<void>
}

/** A signature vouches for the addresses in the card, so the operator must set them and not the client (B-34). */
export function checkSigning(options: {
  readonly signing?: boolean | CardSigning
  readonly publicUrl?: string
  readonly hosts?: readonly string[]
  readonly trustProxy?: boolean
}): CardSigning | undefined {
  const { signing, publicUrl, hosts, trustProxy } = options
  if (signing === undefined || signing === false) return undefined
  if (publicUrl === undefined && (hosts === undefined || trustProxy === true)) {
    throw new ConfigError('signing', 'requires publicUrl: a signed card must not contain a URL taken from a request')
  }
  return signing === true ? {} : signing
}

/** Algorithms that can sign: those with a public key. A PEM is tried in this order. */
const algorithms = ['ES256', 'ES384', 'ES512', 'EdDSA', 'RS256', 'PS256', 'RS384', 'RS512', 'PS384', 'PS512']
const purpose = 'card'
/** Every process publishes a key within this time: it reads the keys again every minute. */
const publishedMs = 120_000

export function createCardKeys(options: CardSigning, keyring: () => Promise<Keyring>, now = Date.now): CardKeys {
  const { key, rotateAfterMs } = options
  if (key !== undefined) {
    if (rotateAfterMs !== undefined)
      throw new ConfigError('signing.rotateAfterMs', 'must be omitted if signing.key is set')
    return givenKeys(options, key)
  }
  if (options.alg !== undefined || options.kid !== undefined || options.previous !== undefined) {
    throw new ConfigError('signing.key', 'is required with alg, kid or previous')
  }
  return keyringKeys(keyring, rotateAfterMs ?? Infinity, now)
}

function keyringKeys(open: () => Promise<Keyring>, rotateAfterMs: number, now: () => number): CardKeys {
  async function rotate(): Promise<void> {
    const keyring = await open()
    const known = await keyring.keyPairs(purpose)
    await keyring.addKeyPair(purpose, known.length)
    const pairs = await keyring.keyPairs(purpose)
    // Two rotations in a row must not remove a key that clients, or the lists of other processes, still have.
    const before = pairs.slice(0, -1).findLast(({ createdAt }) => now() - createdAt >= publishedMs)
    if (before !== undefined) await keyring.retire(purpose, before.createdAt)
  }

  /** Checked on use, so that no timer has to live for months. */
  async function pairs(): Promise<readonly (CardKey & { readonly createdAt: number })[]> {
    const keyring = await open()
    let known = await keyring.keyPairs(purpose)
    if (now() - (known.at(-1)?.createdAt ?? now()) >= rotateAfterMs) {
      await rotate()
      known = await keyring.keyPairs(purpose)
    }
    return known
      .map(({ kid, privateKey, publicJwk, createdAt }) => ({
        kid,
        alg: publicJwk.alg,
        privateKey,
        publicJwk,
        createdAt,
      }))
      .reverse()
  }

  return {
    async signing() {
      const [newest, ...previous] = await pairs()
      // Beside the newest, the latest one that all processes publish.
      const published = previous.find(({ createdAt }) => now() - createdAt >= publishedMs) ?? previous.at(-1)
      return [newest, published].filter((key) => key !== undefined)
    },
    published: async () => (await pairs()).map(({ publicJwk }) => publicJwk),
    rotate,
  }
}

function givenKeys(options: CardSigning, key: string | JWK): CardKeys {
  let opened: Promise<readonly CardKey[]> | undefined
  const open = (): Promise<readonly CardKey[]> =>
    (opened ??= Promise.all([
      openKey(key, 'signing.key', options),
      ...(options.previous ?? []).map((one, index) => openKey(one, `signing.previous[${index}]`, {})),
    ]))
  return {
    // One of the former keys signs too, as after a rotation of the server's own keys.
    signing: async () => (await open()).slice(0, 2),
    published: async () => (await open()).map(({ publicJwk }) => publicJwk),
  }
}

async function openKey(given: string | JWK, path: string, about: Pick<CardSigning, 'alg' | 'kid'>): Promise<CardKey> {
  const { calculateJwkThumbprint } = await import('jose')
  const jwk = await readKey(given, path, about.alg)
  const { alg = '' } = jwk
  const { importJWK } = await import('jose')
  // Only symmetric keys are bytes, and those were refused.
  const privateKey = (await importJWK(jwk, alg)) as CryptoKey
  const { kty, crv, x, y, n, e } = jwk
  const kid = about.kid ?? jwk.kid ?? (await calculateJwkThumbprint(jwk))
  return { kid, alg, privateKey, publicJwk: { ...omitUndefined({ kty, crv, x, y, n, e }), kid, alg, use: 'sig' } }
}

/** Returns a private JWK with its algorithm. */
async function readKey(given: string | JWK, path: string, alg: string | undefined): Promise<JWK> {
  const jwk = typeof given === 'string' ? await readText(given, path, alg) : given
  const named = alg ?? jwk.alg ?? usualAlgorithm(jwk)
  if (named === undefined || !algorithms.includes(named)) {
    throw new ConfigError(path, `must be a key for one of ${algorithms.join(', ')}`)
  }
  if (jwk.d === undefined) throw new ConfigError(path, 'is a public key: set the private key')
  return { ...jwk, alg: named }
}

async function readText(given: string, path: string, alg: string | undefined): Promise<JWK> {
  // Environment variables cannot hold line ends everywhere; they hold this escape instead.
  const text = given.trim().replaceAll('\\n', '\n')
  if (text.startsWith('{')) {
    try {
      return JSON.parse(given) as JWK
    } catch {
      throw new ConfigError(path, 'looks like a JWK but is not valid JSON')
    }
  }
  const { exportJWK, importPKCS8 } = await import('jose')
  for (const candidate of alg === undefined ? algorithms : [alg]) {
    try {
      return { ...(await exportJWK(await importPKCS8(text, candidate, { extractable: true }))), alg: candidate }
    } catch {
      // The key is of another type; the next algorithm may match.
    }
  }
  throw new ConfigError(path, 'must be a private key as PEM (PKCS #8, "BEGIN PRIVATE KEY") or JWK')
}

function usualAlgorithm({ kty, crv }: JWK): string | undefined {
  if (kty === 'RSA') return 'RS256'
  if (kty === 'OKP') return crv === 'Ed25519' ? 'EdDSA' : undefined
  return kty === 'EC' ? { 'P-256': 'ES256', 'P-384': 'ES384', 'P-521': 'ES512' }[crv ?? ''] : undefined
}
