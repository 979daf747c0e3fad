/**
 * Bearer tokens (RFC 6750): JWTs of an issuer, verified with its published keys; or tokens of any kind, verified by your function.
 * The caller id is `issuer|subject`, so that a new token keeps the owner. The signed token decides it, never the rest of the
 * request.
 */
import type { JSONWebKeySet, JWTPayload } from 'jose'
import type { Caller } from '../../model/caller.ts'
import type { SecurityScheme } from '../../model/card.ts'
import { A2AError } from '../../model/error.ts'
import { ConfigError } from '../config-error.ts'
import type { FetchHandler } from '../http/fetch-adapter.ts'
import type { Authenticate } from '../options.ts'
import { asymmetricAlgorithms } from '../keys/verifying-keys.ts'
import { authorizationOf, challenge, createScheme } from './scheme.ts'
import { createIssuer } from './issuer.ts'

const defaultToleranceSeconds = 10
/** The last time of a `Date`. */
const maxTimeSeconds = 8.64e12

interface BearerSchemeOptions {
  /** Scopes that every caller must have. Default: none. */
  readonly scopes?: readonly string[]
  /** The name of the scheme in the card. Default `bearer`. */
  readonly name?: string
  /** The scheme in the card. Default: the issuer's token endpoints if its metadata lists them, else a plain bearer scheme. */
  readonly scheme?: SecurityScheme
  /** The realm in the `WWW-Authenticate` challenge. Default: none. */
  readonly realm?: string
}

/** Options of `bearer` for JWTs, which are verified with the published keys of their issuer. */
export interface JwtBearerOptions extends BearerSchemeOptions {
  /** As in the `iss` claim of tokens. */
  readonly issuer: string
  /** One of these must be in `aud`. */
  readonly audience: string | readonly string[]
  /** The issuer's keys, or their URL. Default: from its metadata (OpenID Connect Discovery, RFC 8414). */
  readonly jwks?: string | URL | JSONWebKeySet
  /** Accepted signature algorithms. Default: all public-key algorithms; never `none`, never a shared secret. */
  readonly algorithms?: readonly string[]
  /** Tolerated clock difference in `exp`, `nbf` and `iat`, in seconds. Default 10. */
  readonly clockToleranceSeconds?: number
  /**
   * The claim that holds scopes, or a path to a nested one (`realm_access.roles`); several claims are merged. Default: `scope`, or
   * `scp`.
   */
  readonly scopeClaim?: string | readonly string[]
  /** The claim that holds the tenant; a token without it is refused. Default: callers have no tenant. */
  readonly tenantClaim?: string
  /** Minimum interval between key requests to the issuer for unknown key ids. Default 30 s. */
  readonly cooldownMs?: number
  /** For the issuer's metadata and keys. Default: the platform's. */
  readonly fetch?: FetchHandler
}

/** Options of `bearer` for tokens that a function of yours verifies, such as opaque tokens. */
export interface OpaqueBearerOptions extends BearerSchemeOptions {
  /** Returns the caller of a token, or `undefined` for an invalid one. */
  readonly verify: (token: string) => Caller | undefined | null | Promise<Caller | undefined | null>
}

/** Options of `bearer`: an `issuer` of JWTs, or a `verify` function. */
export type BearerOptions = JwtBearerOptions | OpaqueBearerOptions

/**
 * Authenticates callers by bearer token (RFC 6750). The caller id of a JWT is `issuer|subject`. An invalid token gets
 * 401, a missing scope 403, and an unavailable issuer 503. Throws ConfigError for invalid options.
 *
 * @example
 * ```ts
 * import { serve } from '@parley/a2a/node'
 * import { bearer } from '@parley/a2a/server'
 *
 * await serve({
 *   agent: ({ caller }) => `Hello, ${caller.id}`,
 *   authenticate: bearer({ issuer: 'https://id.example.com', audience: 'analyst', scopes: ['use'] }),
 * })
 * ```
 */
export function bearer(options: BearerOptions): Authenticate {
  const { name = 'bearer', realm, scopes } = options
  const verify = 'verify' in options ? options.verify : jwtCheck(options)
  return createScheme({
    name,
    scopes,
    scheme: options.scheme ?? defaultScheme(options),
    challenge: challenge('Bearer', { realm, scope: scopes?.join(' ') }),
    async check(call) {
      const token = authorizationOf(call, 'Bearer')
      if (token === undefined) return undefined
      const caller = await verify(token)
      if (caller === undefined || caller === null) throw invalidToken('The token is not valid', realm)
      return caller
    },
  })

  function jwtCheck(about: JwtBearerOptions): (token: string) => Promise<Caller> {
    checkOptions(about)
    const issuer = createIssuer(about)
    return async (token) => {
      const { issuer: iss, keys } = await issuer()
      const { jwtVerify, errors } = await import('jose')
      const clockTolerance = about.clockToleranceSeconds ?? defaultToleranceSeconds
      try {
        const { payload } = await keys.verifyWith((key) =>
          jwtVerify(token, key, {
            issuer: iss,
            audience: [about.audience].flat(),
            algorithms: [...(about.algorithms ?? asymmetricAlgorithms)],
            clockTolerance,
            requiredClaims: ['exp'],
          }),
        )
        checkTimes(payload, clockTolerance)
        return callerOf(payload, about)
      } catch (cause) {
        if (cause instanceof A2AError) throw cause
        const isOver = cause instanceof errors.JWTExpired
        // The library's error holds all claims of the token, which are personal data and must not reach the log (B-170).
        const told = cause instanceof errors.JOSEError ? new Error(`${cause.code}: ${cause.message}`) : cause
        throw invalidToken(isOver ? 'The token has expired' : 'The token is not valid', realm, told)
      }
    }
  }
}

/** The library checks that `exp` and `nbf` are numbers on the right side of now: JSON has numbers that are no time, such as 1e999. */
function checkTimes({ exp = Infinity, iat }: JWTPayload, toleranceSeconds: number): void {
  if (exp > maxTimeSeconds) throw new Error('the expiry of the token (exp) is no time')
  if (iat !== undefined && !(iat <= Date.now() / 1_000 + toleranceSeconds))
    throw new Error(
      'the token was issued in the future (iat): compare the clock of the issuer with that of this machine',
    )
}

function callerOf(claims: JWTPayload, { scopeClaim, tenantClaim }: JwtBearerOptions): Caller {
  // Tokens of programs may name only the program.
  const subject = claims.sub ?? claims['client_id'] ?? claims['azp']
  if (typeof subject !== 'string' || subject === '') throw new Error('the token has no subject (sub)')
  const tenant = tenantClaim === undefined ? undefined : claims[tenantClaim]
  if (tenantClaim !== undefined && (typeof tenant !== 'string' || tenant === '')) {
    throw new Error(`the token has no tenant in ${tenantClaim}`)
  }
  return {
    id: `${claims.iss}|${subject}`,
    scopes:
      scopeClaim === undefined
        ? scopesIn(claims['scope'] ?? claims['scp'])
        : [...new Set([scopeClaim].flat().flatMap((name) => scopesIn(claimOf(claims, name))))],
    ...(typeof tenant === 'string' ? { tenant } : {}),
  }
}

/** Claim names may be urls with dots. If no claim has the whole name, the dots form a path. */
function claimOf(claims: JWTPayload, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name]
  const inside = (value: unknown, step: string): unknown =>
    typeof value === 'object' && value !== null && Object.hasOwn(value, step) ? Reflect.get(value, step) : undefined
  return name.split('.').reduce(inside, claims as unknown)
}

/** Words in one text (RFC 8693), or a list of them. */
function scopesIn(claim: unknown): readonly string[] {
  const words = typeof claim === 'string' ? claim.split(' ') : Array.isArray(claim) ? (claim as unknown[]) : []
  return words.filter((word): word is string => typeof word === 'string' && word !== '')
}

function invalidToken(description: string, realm: string | undefined, cause?: unknown): A2AError {
  const told = challenge('Bearer', { realm, error: 'invalid_token', error_description: description })
  return new A2AError('UNAUTHENTICATED', description, { challenge: told }, { cause })
}

function defaultScheme(options: BearerOptions): SecurityScheme {
  if ('verify' in options) return { httpAuthSecurityScheme: { scheme: 'Bearer' } }
  const { issuer, jwks } = options
  // Only an issuer whose metadata lists its keys is known to list its token endpoints.
  if (jwks !== undefined) return { httpAuthSecurityScheme: { scheme: 'Bearer', bearerFormat: 'JWT' } }
  const openIdConnectUrl = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
  return { openIdConnectSecurityScheme: { openIdConnectUrl } }
}

function checkOptions({ issuer, audience, algorithms = [] }: JwtBearerOptions): void {
  if (!URL.canParse(issuer)) throw new ConfigError('bearer.issuer', 'must be the URL in the iss claim of tokens')
  // A token that was issued for another service must not be valid here.
  if ([audience].flat().every((one) => one === ''))
    throw new ConfigError('bearer.audience', 'must name the audience of accepted tokens')
  const wrong = algorithms.find((one) => !asymmetricAlgorithms.includes(one))
  if (wrong !== undefined) throw new ConfigError('bearer.algorithms', `${wrong} is not an asymmetric algorithm`)
}
