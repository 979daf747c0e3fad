/** Who may use the hub's own routes: the admin key, a session of the console, a token that the configuration makes an admin's. */
import { A2AError } from '@parley/a2a'
import type { Access } from '../auth/access.ts'
import { looksLikeToken } from '../auth/jwt.ts'
import { adminScope } from '../auth/scopes.ts'
import { adminSubject, csrfHeader } from '../auth/session.ts'
import { addressOf, senderOf } from '../limits/address.ts'
import { RouteError } from './answer.ts'
import type { Right, Who } from './route.ts'
import type { RouteRequest } from './route-request.ts'

export type GuardParts = Pick<
  Access,
  | 'adminKey'
  | 'sessions'
  | 'limiter'
  | 'trustsProxy'
  | 'identify'
  | 'identifyFor'
  | 'isByKey'
  | 'grantOf'
  | 'grantOfSession'
>

export interface Guard {
  /** Throws RouteError. `agent` is what the path names, for who makes keys. */
  admit(request: RouteRequest, right: Right, agent: string | undefined): Promise<Who>
}

/** Wrong keys from one address. */
const guesses = { count: 20, windowMs: 60_000 }
const bearer = { 'www-authenticate': 'Bearer realm="parley"' }
const reading: ReadonlySet<string> = new Set(['GET', 'HEAD'])

export function createGuard(parts: GuardParts): Guard {
  const { adminKey, sessions, limiter } = parts

  async function byToken(request: RouteRequest): Promise<Who> {
    const caller = await known(() => parts.identify(request.credentials('')))
    const isAdmin = caller.scopes?.includes(adminScope) === true && !parts.isByKey(caller)
    if (isAdmin) return { isAdmin: true, subject: caller.id, by: 'token', grant: parts.grantOf(caller) }
    const challenge = `Bearer error="insufficient_scope", scope="${adminScope}"`
    throw new RouteError('PERMISSION_DENIED', `This needs the scope ${adminScope}`, {
      headers: { 'www-authenticate': challenge },
    })
  }

  async function bySession(request: RouteRequest): Promise<Who | undefined> {
    const session = await known(() => sessions.read(request.header('cookie')))
    if (session === undefined) return undefined
    // The cookie is sent by any page that makes the browser ask; the token is known to ours alone.
    if (!reading.has(request.method) && !(await sessions.isMeant(session, request.header(csrfHeader)))) {
      throw new RouteError('PERMISSION_DENIED', 'Show the token of the session in X-CSRF-Token')
    }
    return { isAdmin: true, subject: session.subject, by: 'session', grant: parts.grantOfSession(session) }
  }

  async function admin(request: RouteRequest, mayBeSession: boolean): Promise<Who> {
    const token = bearerOf(request)
    if (token !== undefined) {
      if (adminKey.isGood(token)) return { isAdmin: true, subject: adminSubject, by: 'key' }
      if (looksLikeToken(token)) return byToken(request)
      throw wrongKey(request)
    }
    const who = mayBeSession ? await bySession(request) : undefined
    if (who !== undefined) return who
    throw new RouteError('UNAUTHENTICATED', 'The admin key is needed', { headers: bearer })
  }

  function wrongKey(request: RouteRequest): RouteError {
    const who = `guess:${senderOf(addressOf(request, parts.trustsProxy()))}`
    const standing = limiter.take([{ who, rate: guesses }])
    if (standing?.isAllowed !== false) {
      return new RouteError('UNAUTHENTICATED', 'This is not the admin key', { headers: bearer })
    }
    const seconds = Math.max(1, Math.ceil(standing.retryAfterMs / 1_000))
    return new RouteError('RATE_LIMITED', 'Too many wrong keys', { headers: { 'retry-after': String(seconds) } })
  }

  /** A key cannot make another: one that leaked must not outlive its revocation. */
  async function maker(request: RouteRequest, agent: string): Promise<Who> {
    const token = bearerOf(request)
    if (token !== undefined && adminKey.isGood(token)) return { isAdmin: true, subject: adminSubject, by: 'key' }
    const session = token === undefined ? await bySession(request) : undefined
    if (session !== undefined) return session
    const caller = await known(() => parts.identifyFor(request.credentials(agent)))
    if (caller.anonymous === true) throw new RouteError('UNAUTHENTICATED', 'Sign in to make a key', { headers: bearer })
    if (parts.isByKey(caller)) {
      throw new RouteError('PERMISSION_DENIED', 'Keys are made with a token of an issuer, or by the admin')
    }
    return { isAdmin: false, subject: caller.id, caller }
  }

  return {
    async admit(request, right, agent) {
      if (right === 'anybody') return { isAdmin: false, subject: '' }
      return right === 'maker' && agent !== undefined ? maker(request, agent) : admin(request, right !== 'key')
    },
  }
}

export function bearerOf(request: RouteRequest): string | undefined {
  return /^Bearer (.*)$/i.exec(request.header('authorization') ?? '')?.[1]?.trim()
}

/** What the SDK's words for it are here. What is not for the caller to know stays with the log. */
async function known<T>(identify: () => Promise<T>): Promise<T> {
  try {
    return await identify()
  } catch (reason) {
    if (!(reason instanceof A2AError)) throw reason
    const { code, message, details } = reason
    const headers = typeof details.challenge === 'string' ? { 'www-authenticate': details.challenge } : bearer
    if (code === 'UNAUTHENTICATED' || code === 'PERMISSION_DENIED') throw new RouteError(code, message, { headers })
    throw code === 'UNAVAILABLE' ? Object.assign(new RouteError(code, message), { cause: reason.cause }) : reason
  }
}
