/**
 * The hub's own routes, served: who asks is found out before anything is said of what there is, what comes is checked by the
 * route's schemas, what goes out is JSON in one shape, and who did what is in the audit.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AgentLog } from '@parley/a2a'
import { z } from 'zod'
import type { Audit } from '../audit/audit.ts'
import { type AuditEntry, text } from '../audit/entry.ts'
import { endWithGrant, type GrantStreams } from '../auth/grant-streams.ts'
import { addressOf } from '../limits/address.ts'
import { type Answer, notFound, type Refusal, refusal, RouteError } from './answer.ts'
import { check } from './check.ts'
import type { Guard } from './guard.ts'
import { createMatch, type Found } from './match.ts'
import { createRepeatedReads } from './repeated-reads.ts'
import { type About, type Given, type Route, Told, type Who } from './route.ts'
import { pathOf, type RouteRequest, routeRequest, sendAnswer } from './route-request.ts'

export interface RouterParts {
  readonly routes: readonly Route[]
  readonly guard: Guard
  readonly audit: Pick<Audit, 'record'>
  readonly log: AgentLog
  readonly now: () => number
  trustsProxy(): boolean
  /** In one body (`limits.jsonNodes`). Default 100,000. */
  jsonNodes?(): number | undefined
  /** Streams end with the grant that opened them. */
  readonly streams: Pick<GrantStreams, 'add'>
  /** Whether the agent that a path names is there. */
  hasAgent(name: string): boolean
}

/** Says whether it took the request. */
export type AdminFront = (request: IncomingMessage, response: ServerResponse) => boolean

/** How it went, for the audit. */
interface Course {
  readonly subject?: string
  readonly outcome: Refusal | 'OK'
  readonly status: number
  readonly about: About
}

/** As agents may be called, and nothing else: the name is part of what is answered. */
const agentName = /^[A-Za-z0-9][A-Za-z0-9._~-]{0,63}$/
const none: Found = { routes: [], params: {} }
const empty = z.object({})

export function createRouter(parts: RouterParts): AdminFront {
  const { routes, guard, audit, log, now } = parts
  const match = createMatch(routes)
  const isRepeated = createRepeatedReads()

  /** Everything below `/admin` is ours, whether there is something or not. */
  function find(path: string): Found | undefined {
    const found = match(path)
    if (found !== undefined && (found.params['agent'] === undefined || path.startsWith('/admin/'))) return found
    if (path === '/admin' || path.startsWith('/admin/')) return none
    return found !== undefined && agentName.test(found.params['agent'] ?? '') ? found : undefined
  }

  async function serve(incoming: IncomingMessage, response: ServerResponse, found: Found): Promise<void> {
    const began = performance.now()
    const request = routeRequest(incoming, parts.jsonNodes?.())
    const method = request.method === 'HEAD' ? 'GET' : request.method
    const route = found.routes.find((one) => one.method === method)
    let who: Who | undefined
    let course: Course
    try {
      who = await guard.admit(request, (route ?? found.routes[0])?.right ?? 'admin', found.params['agent'])
      if (route === undefined) throw found.routes.length === 0 ? notFound() : wrongVerb(found.routes)
      const { agent } = found.params
      if (route.right === 'maker' && !parts.hasAgent(agent ?? '')) throw notFound()
      const given = await givenTo(route, found, request, who, response)
      // A body may take minutes to arrive: the rights are checked again afterwards.
      if (route.body !== undefined) who = await guard.admit(request, route.right ?? 'admin', agent)
      course = await run(route, { ...given, who }, response)
    } catch (reason) {
      const error = asRouteError(reason)
      if (error.code === 'INTERNAL') log.error('a request of the admin failed', { path: request.path, cause: reason })
      if (error.code === 'UNAVAILABLE' && error.cause !== undefined) {
        log.warn('a request of the admin could not be answered', { path: request.path, cause: error.cause })
      }
      const answer = refusal(error)
      if (response.headersSent) response.destroy()
      else sendAnswer(response, request.method === 'HEAD', answer)
      course = { ...subjectOf(who), outcome: error.code, status: answer.status, about: aboutOf(found) }
    }
    const entry = entryOf(request, route, found, course, Math.round(performance.now() - began))
    if (!isRepeated(entry)) audit.record(entry)
  }

  async function givenTo(
    route: Route,
    found: Found,
    request: RouteRequest,
    who: Who,
    response: ServerResponse,
  ): Promise<Given<never, never, never>> {
    const gone = new AbortController()
    response.once('close', () => gone.abort())
    const params = check(route.params ?? empty, found.params, 'path')
    const query = check(route.query ?? empty.strict(), queryOf(request.query), 'query')
    const body = route.body === undefined ? undefined : check(route.body, await request.json(route.mostBytes))
    return { params, query, body, who, request, signal: gone.signal } as unknown as Given<never, never, never>
  }

  async function run(route: Route, given: Given<never, never, never>, response: ServerResponse): Promise<Course> {
    if ('redirect' in route) {
      const { location, cookies, subject, refused } = await route.redirect(given)
      response.writeHead(303, { location, 'cache-control': 'no-store', 'set-cookie': [...cookies] }).end()
      return { ...(subject !== undefined ? { subject } : {}), outcome: refused ?? 'OK', status: 303, about: {} }
    }
    if ('stream' in route) {
      const { who } = given
      const grant = who.isAdmin ? who.grant : undefined
      if (grant !== undefined) endWithGrant(parts.streams, grant, response)
      await route.stream(given, response)
      return { ...subjectOf(given.who), outcome: 'OK', status: 200, about: {} }
    }
    const reply: unknown = await route.handle(given)
    const told = reply instanceof Told ? (reply as Told<unknown>) : new Told(reply, {})
    const { status = 200 } = route
    const answer: Answer = { status, body: told.body, headers: told.headers }
    sendAnswer(response, given.request.method === 'HEAD', answer)
    return { ...subjectOf(given.who), outcome: 'OK', status, about: told.about }
  }

  function entryOf(
    request: RouteRequest,
    route: Route | undefined,
    found: Found,
    { subject, outcome, status, about }: Course,
    durationMs: number,
  ): AuditEntry {
    const from = addressOf(request, parts.trustsProxy())
    const { key, agent, task } = { ...aboutOf(found), ...about }
    return {
      at: now(),
      event: outcome === 'OK' ? (route?.event ?? 'admin') : 'admin',
      ...(subject !== undefined ? { who: text(subject) } : {}),
      ...(key !== undefined ? { key: text(key) } : {}),
      ...(agent !== undefined ? { agent: text(agent) } : {}),
      ...(task !== undefined ? { task: text(task) } : {}),
      operation: `${text(request.method)} ${(route ?? found.routes[0])?.path ?? '/admin'}`,
      outcome,
      status,
      ...(from !== undefined ? { from: text(from) } : {}),
      durationMs,
    }
  }

  return (request, response) => {
    const path = pathOf(request)
    // Looked at for every request: the most of them are told apart by a few characters.
    if (!path.startsWith('/admin') && !path.includes('/api-key')) return false
    const found = find(path)
    if (found === undefined) return false
    void serve(request, response, found).catch(() => response.destroy())
    return true
  }
}

/** Nobody looked at who comes to sign in. */
function subjectOf(who: Who | undefined): { readonly subject?: string } {
  return who === undefined || who.subject === '' ? {} : { subject: who.subject }
}

function aboutOf({ params: { agent, taskId } }: Found): About {
  return { ...(agent !== undefined ? { agent } : {}), ...(taskId !== undefined ? { task: taskId } : {}) }
}

/** One that is named twice is a list. */
function queryOf(query: URLSearchParams): Record<string, unknown> {
  return Object.fromEntries(
    [...new Set(query.keys())].map((name) => {
      const values = query.getAll(name)
      return [name, values.length === 1 ? values[0] : values]
    }),
  )
}

function wrongVerb(routes: readonly Route[]): RouteError {
  const allow = routes.map(({ method }) => method).join(', ')
  return new RouteError('METHOD_NOT_ALLOWED', `This path takes ${allow}`, { headers: { allow } })
}

function asRouteError(reason: unknown): RouteError {
  return reason instanceof RouteError ? reason : new RouteError('INTERNAL', 'Internal error')
}
