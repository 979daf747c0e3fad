/**
 * Verifies that a JWT comes from a trusted sender, is fresh, and is meant for this receiver (B-133, B-134). An unknown key triggers
 * another fetch, but not more often than the cooldown allows: invented key ids must not cause requests.
 */
import type { JSONWebKeySet, JWTPayload } from 'jose'
import { A2AError } from '../../model/error.ts'
import { pushClaims } from '../../model/push-headers.ts'
import type { FetchHandler } from '../http/fetch-adapter.ts'
import { asymmetricAlgorithms as algorithms, openVerifyingKeys, type VerifyingKeys } from '../keys/verifying-keys.ts'

export interface WebhookJwtOptions {
  readonly jwks: string | URL | JSONWebKeySet
  readonly issuer?: string | readonly string[]
  readonly audience?: string | readonly string[]
  readonly maxAgeMs: number
  readonly requiredClaims: readonly string[]
  readonly cooldownMs: number
  readonly fetch?: FetchHandler
}

export interface VerifiedJwt {
  readonly claims: JWTPayload
  /** Seconds since 1970. */
  readonly iat: number
  readonly taskId: string | undefined
  readonly bodyHash: string | undefined
  /** Unique for this JWT, if the sender sets `jti`. */
  readonly replayKey: string | undefined
}

/** Allowed difference between clocks. */
const toleranceSeconds = 10

export function createJwtVerifier(options: WebhookJwtOptions): (jwt: string) => Promise<VerifiedJwt> {
  let opened: Promise<VerifyingKeys> | undefined

  return async (jwt) => {
    const keys = await (opened ??= openVerifyingKeys({ ...options, unknownIsUnavailable: true }))
    const { jwtVerify } = await import('jose')
    const { issuer, audience, maxAgeMs, requiredClaims } = options
    const { payload } = await keys.verifyWith((key) =>
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

/** When a JWT with the longest validity has expired. */
export function jwtExpiry(iat: number, maxAgeMs: number): number {
  return (iat + toleranceSeconds) * 1_000 + maxAgeMs
}

function textClaim(payload: JWTPayload, name: string): string | undefined {
  const value = payload[name]
  if (value === undefined || typeof value === 'string') return value
  throw new A2AError('UNAUTHENTICATED', `the claim ${name} is not a string`)
}
