/**
 * Bearer tokens (RFC 6750): JWTs of an issuer, checked by its published keys; or tokens of any kind, checked by a given
 * function. The caller is `issuer|subject`, so that a new token is still the same owner (decided for all of us by what
 * the issuer signs, never by what a request says).
 */
import type { JSONWebKeySet, JWTPayload } from 'jose'
import type { Caller } from '../../model/caller.ts'
import type { SecurityScheme } from '../../model/card.ts'
import { A2AError } from '../../model/error.ts'
import { ConfigError } from '../config-error.ts'
import type { FetchHandler } from '../fetch.ts'
import type { Authenticate } from '../options.ts'
import { asymmetric } from '../verifying-keys.ts'
import { challenge } from './challenge.ts'
import { createIssuer } from './issuer.ts'
import { authorizationOf, createScheme } from './scheme.ts'

interface Declared {
  /** Needed by every request. */
  readonly scopes?: readonly string[]
  /** By which the card names the scheme. Default `bearer`. */
  readonly name?: string
  /** What the card says. Default: where tokens are to be had, if the issuer says so itself, else that a bearer is wanted. */
  readonly scheme?: SecurityScheme
  readonly realm?: string
}

export interface JwtBearerOptions extends Declared {
  /** As the tokens name it in `iss`. */
  readonly issuer: string
  /** One of these must be in `aud`. */
  readonly audience: string | readonly string[]
  /** Its keys, or where they are. Default: as its metadata say (OpenID Connect Discovery, RFC 8414). */
  readonly jwks?: string | URL | JSONWebKeySet
  /** Default: all with a public key; never `none`, never a shared secret. */
  readonly algorithms?: readonly string[]
  /** Default 10. */
  readonly clockToleranceSeconds?: number
  /**
   * Where scopes stand: a claim, or one inside another (`realm_access.roles`); of several, all that are there. Default:
   * `scope`, or `scp`.
   */
  readonly scopeClaim?: string | readonly string[]
  /** Which claim says whose data are meant. Default: none does. */
  readonly tenantClaim?: string
  /** How often a key that we do not know may make us ask the issuer. Default 30 s. */
  readonly cooldownMs?: number
  /** For the issuer's metadata and keys. Default: the platform's. */
  readonly fetch?: FetchHandler
}

export interface OpaqueBearerOptions extends Declared {
  /** Whose token it is; nothing for one that is not good. For tokens that only their issuer can read. */
  readonly verify: (token: string) => Caller | undefined | null | Promise<Caller | undefined | null>
}

export type BearerOptions = JwtBearerOptions | OpaqueBearerOptions

export function bearer(options: BearerOptions): Authenticate {
  const { name = 'bearer', realm, scopes } = options
  const verify = 'verify' in options ? options.verify : jwtCheck(options)
  return createScheme({
    name,
    scopes,
    scheme: options.scheme ?? declared(options),
    challenge: challenge('Bearer', { realm, scope: scopes?.join(' ') }),
    async check(credentials) {
      const token = authorizationOf(credentials, 'Bearer')
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
      try {
        const { payload } = await keys.ask((key) =>
          jwtVerify(token, key, {
            issuer: iss,
            audience: [about.audience].flat(),
            algorithms: [...(about.algorithms ?? asymmetric)],
            clockTolerance: about.clockToleranceSeconds ?? 10,
            requiredClaims: ['exp'],
          }),
        )
        return callerOf(payload, about)
      } catch (cause) {
        if (cause instanceof A2AError) throw cause
        const isOver = cause instanceof errors.JWTExpired
        // The library's error holds all claims of the token, which are somebody's and not for the log (B-170).
        const told = cause instanceof errors.JOSEError ? new Error(`${cause.code}: ${cause.message}`) : cause
        throw invalidToken(isOver ? 'The token has expired' : 'The token is not valid', realm, told)
      }
    }
  }
}

function callerOf(claims: JWTPayload, { scopeClaim, tenantClaim }: JwtBearerOptions): Caller {
  // Tokens of programs may name the program and nobody else.
  const subject = claims.sub ?? claims['client_id'] ?? claims['azp']
  if (typeof subject !== 'string' || subject === '') throw new Error('the token does not say whose it is')
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

/** Names of claims may be urls, dots and all; where none is called so, the dots lead inside. */
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

function declared(options: BearerOptions): SecurityScheme {
  if ('verify' in options) return { httpAuthSecurityScheme: { scheme: 'Bearer' } }
  const { issuer, jwks } = options
  // Only of an issuer that tells us where its keys are do we know that it tells others where its tokens are.
  if (jwks !== undefined) return { httpAuthSecurityScheme: { scheme: 'Bearer', bearerFormat: 'JWT' } }
  const openIdConnectUrl = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
  return { openIdConnectSecurityScheme: { openIdConnectUrl } }
}

function checkOptions({ issuer, audience, algorithms = [] }: JwtBearerOptions): void {
  if (!URL.canParse(issuer)) throw new ConfigError('bearer.issuer', 'give the url by which tokens name their issuer')
  // A token that somebody else was given to call another service must not open this one.
  if ([audience].flat().every((one) => one === '')) throw new ConfigError('bearer.audience', 'say whom tokens are for')
  const wrong = algorithms.find((one) => !asymmetric.includes(one))
  if (wrong !== undefined) throw new ConfigError('bearer.algorithms', `${wrong} is none with a public key`)
}
