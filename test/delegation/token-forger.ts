/** Hubs that are trusted or untrusted, as another hub sees them: by their keys and tokens. */
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import type { JWTPayload } from 'jose'

export interface TokenForger {
  readonly issuer: string
  readonly jwks: { readonly keys: readonly object[] }
  /** A token that is valid except for the given claims. */
  token(claims?: object, header?: object): Promise<string>
}

export interface TokenForgerOptions {
  readonly issuer: string
  readonly audience: string
  readonly messageId: string
  readonly parent: string
}

export const unixSeconds = (): number => Math.floor(Date.now() / 1_000)

export async function createTokenForger({
  issuer,
  audience,
  messageId,
  parent,
}: TokenForgerOptions): Promise<TokenForger> {
  const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true })
  const kid = `hop.${issuer}`
  const right: JWTPayload = {
    iss: issuer,
    sub: 'someone',
    aud: audience,
    jti: messageId,
    par: parent,
    root: 'root',
    dep: 1,
    vis: [`${issuer}#front`],
    bud: { tasks: 10 },
    scp: { '': ['files:read'], [issuer]: ['agent:*'] },
  }
  return {
    issuer,
    jwks: { keys: [{ ...(await exportJWK(publicKey)), kid, alg: 'ES256', use: 'sig' }] },
    token(claims = {}, header = {}) {
      const payload = { ...right, iat: unixSeconds(), exp: unixSeconds() + 300, ...claims } as JWTPayload
      return new SignJWT(payload)
        .setProtectedHeader({ alg: 'ES256', typ: 'parley-hop+jwt', kid, ...header })
        .sign(privateKey)
    },
  }
}

/** The same with one bit of one part flipped. */
export function corruptToken(token: string, part: number, at: number): string {
  const parts = token.split('.')
  const index = part % parts.length
  const bytes = Buffer.from(parts[index] ?? '', 'base64url')
  const bit = at % (bytes.length * 8)
  bytes.writeUInt8((bytes.at(bit >> 3) ?? 0) ^ (1 << (bit & 7)), bit >> 3)
  parts[index] = bytes.toString('base64url')
  return parts.join('.')
}
