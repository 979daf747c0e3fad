/**
 * Tokens of issuers (JWT, OpenID Connect). What a token proves is checked by the SDK; here is said which issuer is asked,
 * and what the words in a token's claims mean for this hub.
 */
import { A2AError, type Caller } from '@parley/a2a'
import { anyOf, bearer, type Authenticate, type Credentials, type FetchHandler } from '@parley/a2a/server'
import type { JwtAccess } from '../config/access.ts'
import { adminScope, isOurs } from './scopes.ts'

/** Whose token this is. Throws UNAUTHENTICATED, or UNAVAILABLE while the issuer does not answer. */
export type CheckToken = (token: string, credentials: Credentials) => Promise<Caller>

/** Where issuers put what a caller may do. */
const usualClaims = ['scope', 'scp', 'roles', 'groups']
/** Stands for every token of an issuer. */
const everybody = '*'

export function createTokenCheck(issuers: readonly JwtAccess[], fetch?: FetchHandler): CheckToken | undefined {
  if (issuers.length === 0) return undefined
  const byIssuer = Map.groupBy(issuers, ({ issuer }) => bare(issuer))
  const checks = new Map([...byIssuer].map(([name, own]) => [name, anyOf(...own.map((one) => checkOf(one, fetch)))]))
  return async (token, credentials) => {
    // Only to know whom to ask: the signature has the last word. Each token to each issuer would make them all be asked for keys.
    const caller = await checks.get(bare(issuerIn(token) ?? ''))?.(credentials)
    if (caller === undefined || caller === null) throw invalidToken('The token is not valid')
    return caller
  }
}

/** Two dots, as a signed token has and a key has not. */
export function looksLikeToken(text: string): boolean {
  return /^[\w-]+\.[\w-]+\.[\w-]*$/.test(text)
}

export function invalidToken(description: string): A2AError {
  return new A2AError('UNAUTHENTICATED', description, {
    challenge: `Bearer error="invalid_token", error_description="${description}"`,
  })
}

function checkOf(settings: JwtAccess, fetch: FetchHandler | undefined): Authenticate {
  const { issuer, audience, jwks, algorithms, clockTolerance, claim, tenantClaim, scopes } = settings
  const check = bearer({
    issuer,
    audience,
    scopeClaim: claim ?? usualClaims,
    ...(jwks !== undefined ? { jwks } : {}),
    ...(algorithms !== undefined ? { algorithms } : {}),
    ...(clockTolerance !== undefined ? { clockToleranceSeconds: clockTolerance / 1_000 } : {}),
    ...(tenantClaim !== undefined ? { tenantClaim } : {}),
    ...(fetch !== undefined ? { fetch } : {}),
  })
  return async (credentials) => {
    const caller = await check(credentials)
    return caller === undefined || caller === null
      ? caller
      : { ...caller, scopes: translate(caller.scopes ?? [], scopes) }
  }
}

/**
 * What the words of a token permit here. Where the configuration says what they mean, it alone does: a group that somebody
 * called `agent:*` is then a group like any other.
 */
export function translate(words: readonly string[], meanings: JwtAccess['scopes']): readonly string[] {
  if (meanings === undefined) return words.includes(adminScope) ? words.filter((word) => word !== adminScope) : words
  const meant = [everybody, ...words].flatMap((word) => (Object.hasOwn(meanings, word) ? (meanings[word] ?? []) : []))
  return [...new Set([...words.filter((word) => !isOurs(word)), ...meant])]
}

function issuerIn(token: string): string | undefined {
  try {
    const payload = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as {
      iss?: unknown
    } | null
    return typeof payload?.iss === 'string' ? payload.iss : undefined
  } catch {
    return undefined
  }
}

/** A slash at the end makes no other issuer of it. */
function bare(url: string): string {
  return url.replace(/\/$/, '')
}
