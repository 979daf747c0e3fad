/**
 * Is this the JWT of a sender that we trust, fresh, and meant for us (B-133, B-134)? A key that we do not know yet is
 * looked for again, but not more often than the cooldown allows: whoever makes up key ids must not make us call.
 */
import type { JSONWebKeySet, JWTPayload } from 'jose'
import { A2AError } from '../model/error.ts'
import { pushClaims } from '../model/push.ts'
import type { FetchHandler } from './fetch.ts'
import { asymmetric as algorithms, openKeys, type VerifyingKeys } from './verifying-keys.ts'

export interface JwtOptions {
  readonly jwks: string | URL | JSONWebKeySet
  readonly issuer?: string | readonly string[]
  readonly audience?: string | readonly string[]
  readonly maxAgeMs: number
  readonly requiredClaims: readonly string[]
  readonly cooldownMs: number
  readonly fetch?: FetchHandler
}

export interface ShownJwt {
  readonly claims: JWTPayload
  /** Seconds since 1970. */
  readonly iat: number
  readonly taskId: string | undefined
  readonly bodyHash: string | undefined
  /** Of this JWT and no other, where the sender numbers them. */
  readonly replayKey: string | undefined
}

/** Clocks differ by as much. */
const toleranceSeconds = 10

export function createJwtCheck(options: JwtOptions): (jwt: string) => Promise<ShownJwt> {
  let opened: Promise<VerifyingKeys> | undefined

  return async (jwt) => {
    const keys = await (opened ??= openKeys({ ...options, unknownIsUnavailable: true }))
    const { jwtVerify } = await import('jose')
    const { issuer, audience, maxAgeMs, requiredClaims } = options
    const { payload } = await keys.ask((key) =>
      jwtVerify(jwt, key, {
        algorithms: [...algorithms],
        clockTolerance: toleranceSeconds,
        maxTokenAge: maxAgeMs / 1_000,
        requiredClaims: ['iat', ...requiredClaims],
        ...(issuer !== undefined ? { issuer: [issuer].flat() } : {}),
        ...(audience !== undefined ? { audience: [audience].flat() } : {}),
      }),
    )
    return {
      claims: payload,
      iat: payload.iat ?? 0,
      taskId: textClaim(payload, pushClaims.taskId),
      bodyHash: textClaim(payload, pushClaims.bodyHash),
      replayKey: payload.jti === undefined ? undefined : JSON.stringify([payload.iss, payload.jti]),
    }
  }
}

/** When even a JWT that was valid for longest is past its age. */
export function expiryOf(iat: number, maxAgeMs: number): number {
  return (iat + toleranceSeconds) * 1_000 + maxAgeMs
}

function textClaim(payload: JWTPayload, name: string): string | undefined {
  const value = payload[name]
  if (value === undefined || typeof value === 'string') return value
  throw new A2AError('UNAUTHENTICATED', `the claim ${name} is no string`)
}
