/**
 * Proves to a webhook who calls it (B-134): a JWT for this webhook, this task and these very bytes. The keys are in the
 * keyring, so that all processes sign alike; the public halves are at /.well-known/jwks.json. A new key is published for
 * a while before it signs, and an old one after it did: receivers that keep a copy of the list are never surprised.
 */
import type { Keyring } from '../engine/keyring.ts'
import type { KeyPair, PublicJwk } from '../engine/key-pair.ts'
import { newId } from '../model/id.ts'
import { pushClaims } from '../model/push.ts'
import { sha256Hex } from './webhook-secret.ts'

export interface PushSignerParts {
  keyring(): Promise<Keyring>
  readonly issuer: string
  readonly lifetimeMs: number
  readonly rotateAfterMs: number
  readonly overlapMs: number
  now(): number
}

export interface PushSigner {
  sign(audience: string, taskId: string, body: string): Promise<string>
  jwks(): Promise<{ readonly keys: readonly PublicJwk[] }>
  /** Makes another key now, which signs after the overlap. */
  rotate(): Promise<void>
}

const purpose = 'push-jwt'

export function createPushSigner(parts: PushSignerParts): PushSigner {
  const { issuer, lifetimeMs, rotateAfterMs, overlapMs, now } = parts

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
    async sign(audience, taskId, body) {
      const { kid, privateKey } = signer(await published())
      const { SignJWT } = await import('jose')
      const iat = Math.floor(now() / 1_000)
      const claims = { [pushClaims.taskId]: taskId, [pushClaims.bodyHash]: await sha256Hex(body) }
      return new SignJWT(claims)
        .setProtectedHeader({ alg: 'ES256', typ: 'JWT', kid })
        .setIssuer(issuer)
        .setAudience(audience)
        .setIssuedAt(iat)
        .setExpirationTime(iat + Math.ceil(lifetimeMs / 1_000))
        .setJti(newId())
        .sign(privateKey)
    },
    async jwks() {
      return { keys: (await published()).map(({ publicJwk }) => publicJwk) }
    },
    async rotate() {
      const keyring = await parts.keyring()
      await keyring.addKeyPair(purpose, (await keyring.keyPairs(purpose)).length)
    },
  }
}
