/**
 * Signing keys whose signatures others verify. They are in the keyring, so that all processes sign with the same keys; the public
 * keys are at /.well-known/jwks.json. A new key is published for a while before it signs, and an old one for a while after, so that
 * verifiers with a cached list always know the key.
 */
import type { Keyring } from '../../engine/keys/keyring.ts'
import type { KeyPair, PublicJwk } from '../../engine/keys/key-pair.ts'

export interface SigningKeysDeps {
  keyring(): Promise<Keyring>
  /** Keys of one purpose are never used for another. */
  readonly purpose: string
  /** Prefix of each key id, so that verifiers can distinguish the keys of different purposes. */
  readonly kidPrefix?: string
  /** How long a signature is valid. */
  readonly lifetimeMs: number
  readonly rotateAfterMs: number
  readonly overlapMs: number
  now(): number
}

/** An ES256 private key and its key id. */
export interface SigningKey {
  readonly kid: string
  readonly privateKey: KeyPair['privateKey']
}

/** The signing keys of one purpose, kept in the store and rotated by age. */
export interface SigningKeys {
  /** The key that signs now. */
  signer(): Promise<SigningKey>
  /** All published keys, as a JWKS lists them. */
  jwks(): Promise<{ readonly keys: readonly PublicJwk[] }>
  /** Creates another key now, which signs after the overlap. */
  rotate(): Promise<void>
}

export function createSigningKeys(parts: SigningKeysDeps): SigningKeys {
  const { purpose, kidPrefix = '', lifetimeMs, rotateAfterMs, overlapMs, now } = parts

  /** All published keys. Rotation is checked on use: no timer has to live for ninety days. */
  async function published(): Promise<readonly KeyPair[]> {
    const keyring = await parts.keyring()
    let pairs = await keyring.keyPairs(purpose)
    const newest = pairs.at(-1)
    if (newest !== undefined && now() - newest.createdAt >= rotateAfterMs) {
      await keyring.addKeyPair(purpose, pairs.length)
      pairs = await keyring.keyPairs(purpose)
    }
    const signing = signer(pairs)
    // An old key is needed as long as its signatures are valid, and as long as copies of the list are cached.
    const isOver = now() - signing.createdAt > 2 * overlapMs + lifetimeMs && pairs[0] !== signing
    if (!isOver) return pairs
    await keyring.retire(purpose, signing.createdAt)
    return keyring.keyPairs(purpose)
  }

  /** The newest key that has been published for long enough; the first key signs at once, because no verifier has a cached list. */
  function signer(pairs: readonly KeyPair[]): KeyPair {
    const known = pairs.filter(({ createdAt }) => now() - createdAt >= overlapMs).at(-1)
    const pair = known ?? pairs[0]
    if (pair === undefined) throw new Error('The keyring has no signing key')
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
