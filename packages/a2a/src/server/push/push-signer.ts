/** Authenticates the server to a webhook (B-134): a JWT for this webhook, this task and exactly these bytes. */
import type { PublicJwk } from '../../engine/keys/key-pair.ts'
import { newId } from '../../model/id.ts'
import { pushClaims } from '../../model/push-headers.ts'
import { createSigningKeys, type SigningKeysDeps } from '../keys/signing-keys.ts'
import { sha256Hex } from '../keys/compare-secrets.ts'

export interface PushSignerDeps extends Omit<SigningKeysDeps, 'purpose' | 'kidPrefix'> {
  readonly issuer: string
}

export interface PushSigner {
  sign(audience: string, taskId: string, body: string): Promise<string>
  jwks(): Promise<{ readonly keys: readonly PublicJwk[] }>
  /** Creates another key now, which signs after the overlap. */
  rotate(): Promise<void>
}

export function createPushSigner(parts: PushSignerDeps): PushSigner {
  const { issuer, lifetimeMs, now } = parts
  const { signer, jwks, rotate } = createSigningKeys({ ...parts, purpose: 'push-jwt' })
  return {
    async sign(audience, taskId, body) {
      const { kid, privateKey } = await signer()
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
    jwks,
    rotate,
  }
}
