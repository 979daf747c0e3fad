/**
 * Tokens of issuers (JWT, OpenID Connect). The SDK verifies the token; this module selects the issuer and maps the claims of the
 * token to scopes of this hub.
 */
import { A2AError, type Caller, type Struct } from '@parley/a2a'
import { isStruct } from '@parley/a2a/internal'
import { anyOf, bearer, type Authenticate, type Call, type FetchHandler } from '@parley/a2a/server'
import type { JwtIssuerConfig } from '../config/sections/access.ts'
import { adminScope, isHubScope } from './scopes.ts'
import { parseJsonOrUndefined } from '../json/embedded-json.ts'

/** The caller of the token. Throws UNAUTHENTICATED, or UNAVAILABLE while the issuer does not answer. */
export type CheckToken = (token: string, call: Call) => Promise<Caller>

/** Claims in which issuers put permissions. */
const defaultClaims = ['scope', 'scp', 'roles', 'groups']
/** Matches every token of an issuer. */
const anyToken = '*'

export function createTokenCheck(issuers: readonly JwtIssuerConfig[], fetch?: FetchHandler): CheckToken | undefined {
  if (issuers.length === 0) return undefined
  const byIssuer = Map.groupBy(issuers, ({ issuer }) => withoutTrailingSlash(issuer))
  const checks = new Map(
    [...byIssuer].map(([name, own]) => [name, anyOf(...own.map((one) => createIssuerCheck(one, fetch)))]),
  )
  return async (token, call) => {
    // Only selects the issuer; the signature decides. Trying every issuer would request the keys of all of them.
    const caller = await checks.get(withoutTrailingSlash(issuerIn(token) ?? ''))?.(call)
    if (caller === undefined || caller === null) throw invalidTokenError('The token is not valid')
    return caller
  }
}

/** A signed token has two dots, a key has none. */
export function looksLikeJwt(text: string): boolean {
  return /^[\w-]+\.[\w-]+\.[\w-]*$/.test(text)
}

export function invalidTokenError(description: string): A2AError {
  return new A2AError('UNAUTHENTICATED', description, {
    challenge: `Bearer error="invalid_token", error_description="${description}"`,
  })
}

function createIssuerCheck(settings: JwtIssuerConfig, fetch: FetchHandler | undefined): Authenticate {
  const { issuer, audience, jwks, algorithms, clockTolerance, claim, tenantClaim, scopes } = settings
  const check = bearer({
    issuer,
    audience,
    scopeClaim: claim ?? defaultClaims,
    ...(jwks !== undefined ? { jwks } : {}),
    ...(algorithms !== undefined ? { algorithms } : {}),
    ...(clockTolerance !== undefined ? { clockToleranceSeconds: clockTolerance / 1_000 } : {}),
    ...(tenantClaim !== undefined ? { tenantClaim } : {}),
    ...(fetch !== undefined ? { fetch } : {}),
  })
  return async (call) => {
    const caller = await check(call)
    return caller === undefined || caller === null
      ? caller
      : { ...caller, scopes: mapScopes(caller.scopes ?? [], scopes) }
  }
}

/**
 * Maps the claim values of a token to scopes. If the configuration defines a mapping, only that applies: a group named `agent:*` is
 * then a group like any other.
 */
export function mapScopes(claimValues: readonly string[], scopesByClaim: JwtIssuerConfig['scopes']): readonly string[] {
  if (scopesByClaim === undefined)
    return claimValues.includes(adminScope) ? claimValues.filter((word) => word !== adminScope) : claimValues
  const mapped = [anyToken, ...claimValues].flatMap((word) =>
    Object.hasOwn(scopesByClaim, word) ? (scopesByClaim[word] ?? []) : [],
  )
  return [...new Set([...claimValues.filter((word) => !isHubScope(word)), ...mapped])]
}

function issuerIn(token: string): string | undefined {
  const { iss } = unverifiedClaims(token)
  return typeof iss === 'string' ? iss : undefined
}

/** The claims of a JWT before it is verified; empty for any other text. */
export function unverifiedClaims(token: string): Struct {
  const claims = parseJsonOrUndefined(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
  return isStruct(claims) ? claims : {}
}

/** Milliseconds since the epoch; 0 if the text is not a JWT with an expiry. */
export function tokenExpiry(token: string): number {
  const { exp } = unverifiedClaims(token)
  return typeof exp === 'number' ? exp * 1_000 : 0
}

/** A trailing slash does not make a different issuer. */
function withoutTrailingSlash(url: string): string {
  return url.replace(/\/$/, '')
}
