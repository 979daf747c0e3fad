/**
 * Keys to sign with for others to verify. They are in the keyring, so that all processes sign alike; the public halves are
 * at /.well-known/jwks.json. A new key is published for a while before it signs, and an old one after it did: those who keep
 * a copy of the list are never surprised.
 */
import type { Keyring } from '../engine/keyring.ts'
import type { KeyPair, PublicJwk } from '../engine/key-pair.ts'

export interface SigningKeysParts {
  keyring(): Promise<Keyring>
  /** Keys of one purpose are never used for another. */
  readonly purpose: string
  /** Begins the name of each, so that verifiers can tell them from those of other purposes. */
  readonly kidPrefix?: string
  /** How long what is signed is good for. */
  readonly lifetimeMs: number
  readonly rotateAfterMs: number
  readonly overlapMs: number
  now(): number
}

/** ES256. */
export interface SigningKey {
  readonly kid: string
  readonly privateKey: KeyPair['privateKey']
}

export interface SigningKeys {
  /** The one to sign with now. */
  signer(): Promise<SigningKey>
  jwks(): Promise<{ readonly keys: readonly PublicJwk[] }>
  /** Makes another key now, which signs after the overlap. */
  rotate(): Promise<void>
}

export function createSigningKeys(parts: SigningKeysParts): SigningKeys {
  const { purpose, kidPrefix = '', lifetimeMs, rotateAfterMs, overlapMs, now } = parts

  /** All that are published. Looked after whenever somebody asks: no timer has to live for ninety days. */
  async function published(): Promise<readonly KeyPair[]> {
    const keyring = await parts.keyring()
    let pairs = await keyring.keyPairs(purpose)
    const newest = pairs.at(-1)
    if (newest !== undefined && now() - newest.createdAt >= rotateAfterMs) {
      await keyring.addKeyPair(purpose, pairs.length)
      pairs = await keyring.keyPairs(purpose)
    }
    const signing = signer(pairs)
    // What signed before is of use for as long as what it signed, and copies of the list.
    const isOver = now() - signing.createdAt > 2 * overlapMs + lifetimeMs && pairs[0] !== signing
    if (!isOver) return pairs
    await keyring.retire(purpose, signing.createdAt)
    return keyring.keyPairs(purpose)
  }

  /** The newest that has been published for long enough; the first ones have nobody who could know others. */
  function signer(pairs: readonly KeyPair[]): KeyPair {
    const known = pairs.filter(({ createdAt }) => now() - createdAt >= overlapMs).at(-1)
    const pair = known ?? pairs[0]
    if (pair === undefined) throw new Error('The keyring has no key to sign with')
    return pair
  }

  return {
    async signer() {
      const { kid, privateKey } = signer(await published())
      return { kid: kidPrefix + kid, privateKey }
    },
    async jwks() {
      return { keys: (await published()).map(({ publicJwk }) => ({ ...publicJwk, kid: kidPrefix + publicJwk.kid })) }
    },
    async rotate() {
      const keyring = await parts.keyring()
      await keyring.addKeyPair(purpose, (await keyring.keyPairs(purpose)).length)
    },
  }
}
