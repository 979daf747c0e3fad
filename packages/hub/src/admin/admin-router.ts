/**
 * Serves the hub's own routes: it authenticates before it reveals what exists, validates input by the route's schemas, responds
 * with JSON in one format, and writes the audit.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { A2AError, type AgentLog } from '@parley/a2a'
import { omitUndefined, type HandlerReaders } from '@parley/a2a/internal'
import { z } from 'zod'
import { type AuditLog, type AuditEntry, truncateField } from '../audit/audit-log.ts'
import { endWithGrant, type GrantStreams } from '../auth/grant-streams.ts'
import { notFoundError, errorResponse, RouteError } from '../http/json-response.ts'
import type { RouteErrorCode } from '../http/json-response.ts'
import { validateInput, RouteResult } from './route.ts'
import type { AuditTarget, RouteInput, AdminRoute, AdminCaller } from './route.ts'
import type { AdminGuard } from './admin-guard.ts'
import {
  requestPath,
  type RouteRequest,
  createRouteRequest,
  sendEncoded,
  sendJson,
  decodeSegment,
} from '../http/route-request.ts'

export interface AdminRouterDeps {
  readonly routes: readonly AdminRoute[]
  readonly guard: AdminGuard
  readonly audit: Pick<AuditLog, 'record'>
  readonly log: AgentLog
  readonly now: () => number
  trustsProxy(): boolean
  /** JSON values in one body (`limits.jsonNodes`). Default 100,000. */
  jsonNodes?(): number | undefined
  /** Streams end with the grant that opened them. */
  readonly streams: Pick<GrantStreams, 'add'>
  readers(): Promise<Pick<HandlerReaders, 'openMemory'>>
  /** Whether the agent of a path is registered. */
  hasAgent(name: string): boolean
}

/** Returns whether it handled the request. */
export type AdminMiddleware = (request: IncomingMessage, response: ServerResponse) => boolean

/** The outcome, for the audit. */
interface AuditedOutcome {
  readonly subject?: string
  readonly outcome: RouteErrorCode | 'OK'
  readonly status: number
  readonly auditTarget: AuditTarget
}

/** The pattern of agent names, and nothing else: the name is part of the response. */
const agentNamePattern = /^[A-Za-z0-9][A-Za-z0-9._~-]{0,63}$/
const noMatch: RouteMatch = { routes: [], params: {} }
const emptyObject = z.object({})

export function createAdminRouter(parts: AdminRouterDeps): AdminMiddleware {
  const { routes, guard, audit, log, now } = parts
  const match = createRouteMatcher(routes)
  const isRepeated = createRepeatedReadFilter()

  /** Everything below `/admin` belongs to the hub, whether a route exists or not. */
  function find(path: string): RouteMatch | undefined {
    const found = match(path)
    if (found !== undefined && (found.params['agent'] === undefined || path.startsWith('/admin/'))) return found
    if (path === '/admin' || path.startsWith('/admin/')) return noMatch
    return found !== undefined && agentNamePattern.test(found.params['agent'] ?? '') ? found : undefined
  }

  async function serve(incoming: IncomingMessage, response: ServerResponse, found: RouteMatch): Promise<void> {
    const startedAt = performance.now()
    const request = createRouteRequest(incoming, { trustProxy: parts.trustsProxy(), jsonNodes: parts.jsonNodes?.() })
    const method = request.method === 'HEAD' ? 'GET' : request.method
    const route = found.routes.find((one) => one.method === method)
    let who: AdminCaller | undefined
    let audited: AuditedOutcome
    try {
      who = await guard.admit(request, (route ?? found.routes[0])?.access ?? 'admin', found.params['agent'])
      if (route === undefined) throw found.routes.length === 0 ? notFoundError() : methodNotAllowed(found.routes)
      const { agent } = found.params
      if (route.access === 'maker' && !parts.hasAgent(agent ?? '')) throw notFoundError()
      const given = await parseInput(route, found, request, who, response)
      // A body may take minutes to arrive: the permissions are checked again afterwards.
      if (route.body !== undefined) who = await guard.admit(request, route.access ?? 'admin', agent)
      audited = await run(route, { ...given, who }, response)
    } catch (reason) {
      const error = asRouteError(reason)
      if (error.code === 'INTERNAL') log.error('an admin request failed', { path: request.path, cause: reason })
      logUnavailable(error, request)
      const answer = errorResponse(error)
      if (response.headersSent) response.destroy()
      else sendJson(response, request.method === 'HEAD', answer)
      audited = { ...subjectOf(who), outcome: error.code, status: answer.status, auditTarget: auditTargetOf(found) }
    }
    const entry = entryOf(request, route, found, audited, Math.round(performance.now() - startedAt))
    if (!(route?.isPreflight && entry.outcome === 'OK') && !isRepeated(entry)) audit.record(entry)
  }

  function logUnavailable({ code, cause }: RouteError, { path }: RouteRequest): void {
    if (code === 'UNAVAILABLE' && cause !== undefined)
      log.warn('an admin request could not be answered', { path, cause })
  }

  async function parseInput(
    route: AdminRoute,
    found: RouteMatch,
    request: RouteRequest,
    who: AdminCaller,
    response: ServerResponse,
  ): Promise<RouteInput<never, never, never>> {
    const gone = new AbortController()
    response.once('close', () => gone.abort())
    const params = validateInput(route.params ?? emptyObject, found.params, 'path')
    const query = validateInput(route.query ?? emptyObject.strict(), queryOf(request.query), 'query')
    const body = route.body === undefined ? undefined : validateInput(route.body, await request.json(route.maxBytes))
    const memory = (await parts.readers()).openMemory(`admin ${who.subject}`, gone.signal)
    if (response.closed) memory.release()
    else response.once('close', memory.release)
    return { params, query, body, who, request, memory, signal: gone.signal } as unknown as RouteInput<
      never,
      never,
      never
    >
  }

  async function run(
    route: AdminRoute,
    given: RouteInput<never, never, never>,
    response: ServerResponse,
  ): Promise<AuditedOutcome> {
    if ('redirect' in route) {
      const { location, cookies, subject, error } = await route.redirect(given)
      if (error !== undefined) logUnavailable(error, given.request)
      response.writeHead(303, { location, 'cache-control': 'no-store', 'set-cookie': [...cookies] }).end()
      return {
        ...(subject !== undefined ? { subject } : {}),
        outcome: error?.code ?? 'OK',
        status: 303,
        auditTarget: {},
      }
    }
    if ('stream' in route) {
      const { who } = given
      const grant = who.isAdmin ? who.grant : undefined
      if (grant !== undefined) endWithGrant(parts.streams, grant, response)
      await route.stream(given, response)
      return { ...subjectOf(given.who), outcome: 'OK', status: 200, auditTarget: {} }
    }
    const reply: unknown = await route.handle(given)
    const result = reply instanceof RouteResult ? (reply as RouteResult<unknown>) : new RouteResult(reply, {})
    const { status = 200 } = route
    const json = await given.memory.encode(result.body)
    sendEncoded(response, given.request.method === 'HEAD', { status, headers: result.headers }, json)
    const { auditTarget, subject } = result
    return { ...subjectOf(given.who), ...omitUndefined({ subject }), outcome: 'OK', status, auditTarget }
  }

  function entryOf(
    request: RouteRequest,
    route: AdminRoute | undefined,
    found: RouteMatch,
    { subject, outcome, status, auditTarget }: AuditedOutcome,
    durationMs: number,
  ): AuditEntry {
    const { clientAddress: from } = request
    const { key, agent, task } = { ...auditTargetOf(found), ...auditTarget }
    return {
      at: now(),
      event: outcome === 'OK' ? (route?.event ?? 'admin') : 'admin',
      ...(subject !== undefined ? { who: truncateField(subject) } : {}),
      ...(key !== undefined ? { key: truncateField(key) } : {}),
      ...(agent !== undefined ? { agent: truncateField(agent) } : {}),
      ...(task !== undefined ? { task: truncateField(task) } : {}),
      operation: `${truncateField(request.method)} ${(route ?? found.routes[0])?.path ?? '/admin'}`,
      outcome,
      status,
      ...(from !== undefined ? { from: truncateField(from) } : {}),
      durationMs,
    }
  }

  return (request, response) => {
    const found = find(requestPath(request))
    if (found === undefined) return false
    void serve(request, response, found).catch(() => response.destroy())
    return true
  }
}

/** The sign-in routes do not authenticate their callers. */
function subjectOf(who: AdminCaller | undefined): { readonly subject?: string } {
  return who === undefined || who.subject === '' ? {} : { subject: who.subject }
}

function auditTargetOf({ params: { agent, taskId } }: RouteMatch): AuditTarget {
  return { ...(agent !== undefined ? { agent } : {}), ...(taskId !== undefined ? { task: taskId } : {}) }
}

/** A repeated parameter becomes a list. */
function queryOf(query: URLSearchParams): Record<string, unknown> {
  return Object.fromEntries(
    [...new Set(query.keys())].map((name) => {
      const values = query.getAll(name)
      return [name, values.length === 1 ? values[0] : values]
    }),
  )
}

function methodNotAllowed(routes: readonly AdminRoute[]): RouteError {
  const allow = routes.map(({ method }) => method).join(', ')
  return new RouteError('METHOD_NOT_ALLOWED', `Method not allowed: use ${allow}`, { headers: { allow } })
}

function asRouteError(reason: unknown): RouteError {
  if (reason instanceof RouteError) return reason
  // Without a cause, the client has disconnected while its response waited for memory.
  if (reason instanceof A2AError && reason.code === 'UNAVAILABLE')
    return Object.assign(new RouteError('UNAVAILABLE', reason.message), { cause: reason.cause })
  return new RouteError('INTERNAL', 'Internal error')
}

const repeatWindowMs = 60_000
const maxRemembered = 10_000

/**
 * Returns whether the same read happened within the last minute. An open page of the console repeats its reads; without this, a
 * page left open overnight would fill the audit.
 */
export function createRepeatedReadFilter(): (entry: AuditEntry) => boolean {
  const seen = new Map<string, number>()
  return ({ at, who, operation, outcome, agent, task, key, from }) => {
    if (outcome !== 'OK' || !/^(GET|HEAD) /.test(operation ?? '')) return false
    const readKey = JSON.stringify([who, operation, agent, task, key, from])
    const before = seen.get(readKey)
    if (before !== undefined && at - before < repeatWindowMs) return true
    // Moved to the end, so that the oldest are evicted first.
    seen.delete(readKey)
    seen.set(readKey, at)
    for (const oldest of seen.keys()) {
      if (seen.size <= maxRemembered) break
      seen.delete(oldest)
    }
    return false
  }
}

interface RouteMatch {
  readonly routes: readonly AdminRoute[]
  /** Of the first route; all have the same parameter names. */
  readonly params: Readonly<Record<string, string>>
}

interface PathPattern {
  readonly form: RegExp
  readonly names: readonly string[]
  readonly routes: AdminRoute[]
}

/** Returns `undefined` for an unknown path. If several patterns match, the one with fewer parameters wins. */
type RouteMatcher = (path: string) => RouteMatch | undefined

/** Matches a path to its routes and path parameters. */
export function createRouteMatcher(routes: readonly AdminRoute[]): RouteMatcher {
  const patterns = new Map<string, PathPattern>()
  for (const route of routes) {
    const pattern = patterns.get(route.path) ?? compilePath(route.path)
    pattern.routes.push(route)
    patterns.set(route.path, pattern)
  }
  const ordered = [...patterns.values()].sort((a, b) => a.names.length - b.names.length)
  return (path) => {
    for (const { form, names, routes: matched } of ordered) {
      const values = form.exec(path)?.slice(1).map(decodeSegment)
      if (values === undefined || values.includes(undefined)) continue
      return { routes: matched, params: Object.fromEntries(names.map((name, at) => [name, values[at] as string])) }
    }
    return undefined
  }
}

function compilePath(path: string): PathPattern {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string)
  const form = path.replaceAll(/[.*+?^$()|[\]\\]/g, String.raw`\$&`).replaceAll(/\{\w+\}/g, '([^/]+)')
  return { form: new RegExp(`^${form}$`), names, routes: [] }
}
