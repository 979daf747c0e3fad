/** Access to the hub's own routes: by the admin key, a console session, or a token that the configuration maps to `admin`. */
import { A2AError } from '@parley/a2a'
import type { AccessControl } from '../auth/access-control.ts'
import { looksLikeJwt } from '../auth/token-check.ts'
import { adminScope } from '../auth/scopes.ts'
import { adminSubject, csrfHeader } from '../auth/console-session.ts'
import { clientNetwork } from '@parley/a2a/internal'
import { RouteError } from '../http/json-response.ts'
import type { RouteAccess, AdminCaller } from './route.ts'
import type { RouteRequest } from '../http/route-request.ts'

export type AdminGuardDeps = Pick<
  AccessControl,
  'adminKey' | 'sessions' | 'limiter' | 'identify' | 'identifyFor' | 'hasApiKey' | 'grantOf' | 'grantOfSession'
>

export interface AdminGuard {
  /** Throws RouteError. `agent` is the agent of the path, for key issuers. */
  admit(request: RouteRequest, right: RouteAccess, agent: string | undefined): Promise<AdminCaller>
}

/** Rate of wrong keys and codes from one address. */
const failedKeyRate = { count: 20, windowMs: 60_000 }
const bearerChallenge = { 'www-authenticate': 'Bearer realm="parley"' }
const readMethods: ReadonlySet<string> = new Set(['GET', 'HEAD'])

export function createAdminGuard(parts: AdminGuardDeps): AdminGuard {
  const { adminKey, sessions } = parts

  async function byToken(request: RouteRequest): Promise<AdminCaller> {
    const call = await withRouteErrors(() => parts.identify(request.call('')))
    const { id, scopes } = call.caller
    const isAdmin = scopes?.includes(adminScope) === true && !parts.hasApiKey(call)
    if (isAdmin) return { isAdmin: true, subject: id, by: 'token', grant: parts.grantOf(call) }
    const challenge = `Bearer error="insufficient_scope", scope="${adminScope}"`
    throw new RouteError('PERMISSION_DENIED', `Requires the scope ${adminScope}`, {
      headers: { 'www-authenticate': challenge },
    })
  }

  async function bySession(request: RouteRequest): Promise<AdminCaller | undefined> {
    const session = await withRouteErrors(() => sessions.read(request.header('cookie')))
    if (session === undefined) return undefined
    // Any page can make the browser send the cookie; only pages of the console know the token.
    if (!readMethods.has(request.method) && !(await sessions.verifyCsrf(session, request.header(csrfHeader)))) {
      throw new RouteError('PERMISSION_DENIED', "Send the session's CSRF token in X-CSRF-Token")
    }
    return { isAdmin: true, subject: session.subject, by: 'session', grant: parts.grantOfSession(session) }
  }

  async function admin(request: RouteRequest, acceptsSession: boolean): Promise<AdminCaller> {
    const token = bearerTokenOf(request)
    if (token !== undefined) {
      if (await adminKey.matches(token)) return { isAdmin: true, subject: adminSubject, by: 'key' }
      if (looksLikeJwt(token)) return byToken(request)
      throw wrongSecretError(request, parts, 'The admin key is wrong')
    }
    const who = acceptsSession ? await bySession(request) : undefined
    if (who !== undefined) return who
    throw new RouteError('UNAUTHENTICATED', 'The admin key is required', { headers: bearerChallenge })
  }

  /** A key cannot create another: a leaked key must not outlive its revocation. */
  async function keyIssuer(request: RouteRequest, agent: string): Promise<AdminCaller> {
    const token = bearerTokenOf(request)
    if (token !== undefined && (await adminKey.matches(token)))
      return { isAdmin: true, subject: adminSubject, by: 'key' }
    const session = token === undefined ? await bySession(request) : undefined
    if (session !== undefined) return session
    const call = await withRouteErrors(() => parts.identifyFor(request.call(agent)))
    const { caller } = call
    if (caller.anonymous === true)
      throw new RouteError('UNAUTHENTICATED', 'Sign in to create a key', { headers: bearerChallenge })
    if (parts.hasApiKey(call)) {
      throw new RouteError('PERMISSION_DENIED', 'Creating a key requires a token of an issuer, or the admin key')
    }
    return { isAdmin: false, subject: caller.id, caller }
  }

  return {
    async admit(request, right, agent) {
      if (right === 'anybody') return { isAdmin: false, subject: '' }
      return right === 'maker' && agent !== undefined ? keyIssuer(request, agent) : admin(request, right !== 'key')
    },
  }
}

/** The error for a wrong key or code: an address that has sent many gets 429. */
export function wrongSecretError(
  request: RouteRequest,
  { limiter }: Pick<AdminGuardDeps, 'limiter'>,
  message: string,
): RouteError {
  const who = `guess:${clientNetwork(request.clientAddress)}`
  const status = limiter.take([{ key: who, rate: failedKeyRate }])
  if (status?.isAllowed !== false) return new RouteError('UNAUTHENTICATED', message, { headers: bearerChallenge })
  const seconds = Math.max(1, Math.ceil(status.retryAfterMs / 1_000))
  return new RouteError('RATE_LIMITED', 'Too many wrong keys', { headers: { 'retry-after': String(seconds) } })
}

export function bearerTokenOf(request: RouteRequest): string | undefined {
  return /^Bearer (.*)$/i.exec(request.header('authorization') ?? '')?.[1]?.trim()
}

/** Maps SDK errors to route errors. Details that callers must not see go only to the log. */
async function withRouteErrors<T>(identify: () => Promise<T>): Promise<T> {
  try {
    return await identify()
  } catch (reason) {
    if (!(reason instanceof A2AError)) throw reason
    const { code, message, details } = reason
    const headers = typeof details.challenge === 'string' ? { 'www-authenticate': details.challenge } : bearerChallenge
    if (code === 'UNAUTHENTICATED' || code === 'PERMISSION_DENIED') throw new RouteError(code, message, { headers })
    throw code === 'UNAVAILABLE' ? Object.assign(new RouteError(code, message), { cause: reason.cause }) : reason
  }
}
