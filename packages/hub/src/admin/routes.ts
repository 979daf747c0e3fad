/**
 * The hub's own routes: `/admin/…` for whoever has the admin key, and `/a2a/{agent}/api-key…` for callers who make keys of
 * their own. Each request is audited; whoever keeps guessing is slowed down.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { A2AError, type AgentLog, type Caller } from '@parley/a2a'
import type { Credentials } from '@parley/a2a/server'
import type { Audit } from '../audit/audit.ts'
import { type AuditEntry, type AuditEvent, text } from '../audit/entry.ts'
import type { AdminKey } from '../auth/admin-key.ts'
import type { Keys } from '../auth/keys.ts'
import { addressOf, senderOf } from '../limits/address.ts'
import type { Limiter } from '../limits/limiter.ts'
import { type Answer, notFound, type Refusal, refusal, RouteError } from './answer.ts'
import { listAudit } from './audit-route.ts'
import { createKey, listKeys, revokeKey, showKey } from './key-routes.ts'
import { generateKey, listOwnKeys, type Owner, revokeOwnKey } from './own-keys.ts'
import { pathOf, type RouteRequest, routeRequest, sendAnswer } from './route-request.ts'

export interface AdminParts {
  readonly keys: Keys
  readonly audit: Audit
  readonly adminKey: AdminKey
  readonly limiter: Limiter
  readonly log: AgentLog
  readonly now: () => number
  trustsProxy(): boolean
  /** For whoever runs the hub: name, kind, health, last error, urls. */
  agents(): readonly object[] | Promise<readonly object[]>
  hasAgent(name: string): boolean
  /** As for a call of the agent. Throws UNAUTHENTICATED or PERMISSION_DENIED. */
  identify(credentials: Credentials): Promise<Identified>
}

export interface Identified {
  readonly caller: Caller
  /** Whether it is known by an API key. */
  readonly isByKey: boolean
}

export interface AdminRoutes {
  /** Answers the request if it is for one of these paths; says whether it is. */
  front(request: IncomingMessage, response: ServerResponse): boolean
}

/** What a route says for the audit beside its answer. */
type Done = Answer & { readonly id?: string }

interface Route {
  readonly method: string
  /** For the audit: the path without what is different each time. */
  readonly name: string
  readonly event: AuditEvent
  readonly agent?: string
  readonly isOwn?: boolean
  answer(request: RouteRequest, owner: Owner): Promise<Done>
}

/** Wrong keys from one address. */
const guesses = { count: 20, windowMs: 60_000 }
/** As agents may be called, and nothing else: the name is part of what is answered. */
const ownKeys = /^\/a2a\/([A-Za-z0-9][A-Za-z0-9._~-]{0,63})\/api-key(?:\/([^/]+))?$/

export function createAdminRoutes(parts: AdminParts): AdminRoutes {
  const { keys, audit, adminKey, limiter, log, now } = parts

  function routesAt(path: string): readonly Route[] | undefined {
    if (path === '/admin/keys') {
      return [
        { method: 'GET', name: path, event: 'admin', answer: (request) => listKeys(request, keys) },
        { method: 'POST', name: path, event: 'key.created', answer: (request) => createKey(request, keys, now()) },
      ]
    }
    if (path === '/admin/agents') {
      const answer = async (): Promise<Done> => ({ status: 200, body: { agents: await parts.agents() } })
      return [{ method: 'GET', name: path, event: 'admin', answer }]
    }
    if (path === '/admin/audit') {
      return [{ method: 'GET', name: path, event: 'admin', answer: (request) => listAudit(request, audit) }]
    }
    const [, id] = /^\/admin\/keys\/([^/]+)$/.exec(path) ?? []
    if (id !== undefined) {
      const name = '/admin/keys/{id}'
      return [
        { method: 'GET', name, event: 'admin', answer: () => showKey(id, keys) },
        { method: 'DELETE', name, event: 'key.revoked', answer: async () => ({ ...(await revokeKey(id, keys)), id }) },
      ]
    }
    // Nothing else below it is a page of somebody else's.
    if (path === '/admin' || path.startsWith('/admin/')) return []
    return ownRoutes(path)
  }

  function ownRoutes(path: string): readonly Route[] | undefined {
    const [, agent, id] = ownKeys.exec(path) ?? []
    if (agent === undefined) return undefined
    const own = { agent, isOwn: true, name: `/a2a/{agent}/api-key${id === undefined ? '' : '/{id}'}` }
    if (id === undefined) {
      return [{ ...own, method: 'GET', event: 'admin', answer: (_, owner) => listOwnKeys(agent, owner, keys) }]
    }
    if (id === 'generate') {
      const name = '/a2a/{agent}/api-key/generate'
      const answer: Route['answer'] = (request, owner) => generateKey(request, agent, owner, keys, now())
      return [{ ...own, name, method: 'POST', event: 'key.created', answer }]
    }
    const answer: Route['answer'] = async (_, owner) => ({ ...(await revokeOwnKey(id, owner, keys)), id })
    return [{ ...own, method: 'DELETE', event: 'key.revoked', answer }]
  }

  /** Throws RouteError. */
  async function ownerOf(request: RouteRequest, route: Route | undefined): Promise<Owner> {
    const token = /^Bearer (.*)$/i.exec(request.header('authorization') ?? '')?.[1]?.trim()
    if (token !== undefined && adminKey.isGood(token)) return { isAdmin: true }
    if (route?.isOwn !== true || route.agent === undefined) throw notAdmin(request, token !== undefined)
    try {
      const { caller, isByKey } = await parts.identify(request.credentials(route.agent))
      if (caller.anonymous === true)
        throw new RouteError('UNAUTHENTICATED', 'Sign in to make a key', { headers: bearer })
      if (isByKey) throw new RouteError('PERMISSION_DENIED', 'Keys are made with a token of an issuer, or by the admin')
      return { isAdmin: false, caller }
    } catch (reason) {
      throw refusalOf(reason)
    }
  }

  function notAdmin(request: RouteRequest, isWrong: boolean): RouteError {
    if (!isWrong) return new RouteError('UNAUTHENTICATED', 'The admin key is needed', { headers: bearer })
    const who = `guess:${senderOf(addressOf(request, parts.trustsProxy()))}`
    const standing = limiter.take([{ who, rate: guesses }])
    if (standing?.isAllowed !== false) {
      return new RouteError('UNAUTHENTICATED', 'This is not the admin key', { headers: bearer })
    }
    const seconds = Math.max(1, Math.ceil(standing.retryAfterMs / 1_000))
    return new RouteError('RATE_LIMITED', 'Too many wrong keys', { headers: { 'retry-after': String(seconds) } })
  }

  async function respond(request: RouteRequest, routes: readonly Route[]): Promise<Answer> {
    const began = performance.now()
    const method = request.method === 'HEAD' ? 'GET' : request.method
    const route = routes.find((one) => one.method === method)
    let owner: Owner | undefined
    let done: Done
    let outcome: Refusal | 'OK' = 'OK'
    try {
      // Before anything is said about what there is.
      owner = await ownerOf(request, route ?? routes[0])
      if (route === undefined) throw routes.length === 0 ? notFound() : wrongVerb(routes)
      if (route.agent !== undefined && !parts.hasAgent(route.agent)) throw notFound()
      done = await route.answer(request, owner)
    } catch (reason) {
      const error = reason instanceof RouteError ? reason : new RouteError('INTERNAL', 'Internal error')
      if (error !== reason) log.error('a request of the admin failed', { cause: reason })
      outcome = error.code
      done = refusal(error)
    }
    const from = addressOf(request, parts.trustsProxy())
    const entry: AuditEntry = {
      at: now(),
      event: outcome === 'OK' && route !== undefined ? route.event : 'admin',
      ...(owner === undefined ? {} : { who: owner.isAdmin ? 'admin' : text(owner.caller.id) }),
      ...(done.id !== undefined ? { key: text(done.id) } : {}),
      ...(route?.agent !== undefined ? { agent: text(route.agent) } : {}),
      operation: `${text(method)} ${route?.name ?? routes[0]?.name ?? '/admin'}`,
      outcome,
      status: done.status,
      ...(from !== undefined ? { from: text(from) } : {}),
      durationMs: Math.round(performance.now() - began),
    }
    audit.record(entry)
    return done
  }

  return {
    front(request, response) {
      const path = pathOf(request)
      // Looked at for every request: the most of them are told apart by a few characters.
      if (!path.startsWith('/admin') && !path.includes('/api-key')) return false
      const routes = routesAt(path)
      if (routes === undefined) return false
      void respond(routeRequest(request), routes).then(
        (answer) => sendAnswer(response, request.method === 'HEAD', answer),
        () => response.destroy(),
      )
      return true
    },
  }
}

const bearer = { 'www-authenticate': 'Bearer realm="parley"' }

function wrongVerb(routes: readonly Route[]): RouteError {
  const allow = routes.map(({ method }) => method).join(', ')
  return new RouteError('METHOD_NOT_ALLOWED', `This path takes ${allow}`, { headers: { allow } })
}

/** What the SDK's words for it are here. What is not for the caller to know stays with the log. */
function refusalOf(reason: unknown): unknown {
  if (!(reason instanceof A2AError)) return reason
  const { code, message, details } = reason
  const headers = typeof details.challenge === 'string' ? { 'www-authenticate': details.challenge } : bearer
  if (code === 'UNAUTHENTICATED' || code === 'PERMISSION_DENIED') return new RouteError(code, message, { headers })
  return code === 'UNAVAILABLE' ? new RouteError(code, message) : reason
}
