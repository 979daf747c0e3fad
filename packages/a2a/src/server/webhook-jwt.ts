/**
 * Is this the JWT of a sender that we trust, fresh, and meant for us (B-133, B-134)? A key that we do not know yet is
 * looked for again, but not more often than the cooldown allows: whoever makes up key ids must not make us call.
 */
import type { JSONWebKeySet, JWTPayload, JWTVerifyGetKey, RemoteJWKSet } from 'jose'
import { A2AError } from '../model/error.ts'
import { pushClaims } from '../model/push.ts'
import type { FetchHandler } from './fetch.ts'

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

/** With a shared secret, whoever can verify could also have signed. */
const algorithms = ['ES256', 'ES384', 'ES512', 'Ed25519', 'EdDSA', 'PS256', 'PS384', 'PS512', 'RS256', 'RS384', 'RS512']
/** Clocks differ by as much. */
const toleranceSeconds = 10
/** How long a key server that did not answer is left alone. */
const pauseMs = 1_000

export function createJwtCheck(options: JwtOptions): (jwt: string) => Promise<ShownJwt> {
  let opened: Promise<Keys> | undefined

  return async (jwt) => {
    const keys = await (opened ??= openKeys(options))
    const { jwtVerify } = await import('jose')
    const { issuer, audience, maxAgeMs, requiredClaims } = options
    const { payload } = await keys.ask((key) =>
      jwtVerify(jwt, key, {
        algorithms,
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

interface Keys {
  /** Rejects with UNAVAILABLE where it was not the JWT that failed, but our look for its key. */
  ask<T>(verify: (key: JWTVerifyGetKey) => Promise<T>): Promise<T>
}

async function openKeys({ jwks, cooldownMs, fetch }: JwtOptions): Promise<Keys> {
  const { createLocalJWKSet, createRemoteJWKSet, customFetch, errors } = await import('jose')
  if (typeof jwks === 'object' && 'keys' in jwks) {
    const local = createLocalJWKSet(jwks)
    return { ask: (verify) => verify(local) }
  }
  const remote: RemoteJWKSet = createRemoteJWKSet(new URL(jwks), {
    cooldownDuration: cooldownMs,
    [customFetch]: patiently(fetch ?? globalThis.fetch),
  })
  return {
    async ask(verify) {
      const wasCooling = remote.coolingDown
      let failed: unknown
      const getKey: JWTVerifyGetKey = async (header, token) => {
        try {
          return await remote(header, token)
        } catch (reason) {
          failed = reason
          throw reason
        }
      }
      try {
        return await verify(getKey)
      } catch (reason) {
        // Nobody looked for a key, or there are keys and none of them is it.
        const isTheirs = failed === undefined || failed instanceof errors.JWKSMultipleMatchingKeys
        if (isTheirs || failed instanceof errors.JOSENotSupported) throw reason
        // The key may be newer than what we have; in a moment we may ask for it.
        if (failed instanceof errors.JWKSNoMatchingKey && !wasCooling) throw reason
        throw new A2AError('UNAVAILABLE', 'The keys of the sender are not to be had now', {}, { cause: reason })
      }
    },
  }
}

/** Leaves a key server alone for a moment that did not answer well: the cooldown counts from good answers only. */
function patiently(fetch: FetchHandler): (url: string, init: RequestInit) => Promise<Response> {
  let pausedUntil = 0
  return async (url, init) => {
    if (Date.now() < pausedUntil) throw new Error(`${url} did not answer a moment ago`)
    try {
      const response = await fetch(new Request(url, init))
      if (response.status !== 200) pausedUntil = Date.now() + pauseMs
      return response
    } catch (reason) {
      pausedUntil = Date.now() + pauseMs
      throw reason
    }
  }
}
