/** `/admin/session`: signs in at the console, with the admin key or a token, and out. */
import { z } from 'zod'
import type { ConsoleSessions } from '../../auth/console-session.ts'
import { clientAddress } from '../../limits/rate-limiter.ts'
import { RouteError, isoTime } from '../../http/json-response.ts'
import { timestamp, limitField, type AdminRoute, jsonRoute, RouteResult, taggedRoutes } from '../route.ts'
import { bearerTokenOf } from '../admin-guard.ts'
import type { RouteRequest } from '../../http/route-request.ts'

export interface SessionRoutesDeps {
  readonly sessions: ConsoleSessions
  /** Whether the browser came over TLS. */
  isSecure(request: RouteRequest): boolean
  /** Whether X-Forwarded-For is trusted. */
  trustsProxy(): boolean
}

const sessionSchema = z
  .strictObject({
    subject: z.string().describe('`admin`, or the caller that a token named.'),
    by: z.enum(['key', 'token', 'session']).describe('The credentials of this request.'),
    csrf: z.string().optional().describe('Send it in X-CSRF-Token, with the cookie.'),
    expiresAt: timestamp.optional(),
  })
  .meta({ id: 'Session' })

const listedSessionSchema = z
  .strictObject({
    id: z.string(),
    subject: z.string().describe('`admin`, or the caller that a token named.'),
    by: z
      .enum(['key', 'token', 'oidc'])
      .describe('The kind of credentials that opened it. They are checked at every request.'),
    createdAt: timestamp,
    lastUsedAt: timestamp.describe('The last request with it; up to ten seconds late if other replicas served it.'),
    expiresAt: timestamp.describe('The latest end, even if it is renewed.'),
    from: z.string().optional().describe('The network address that created it.'),
    isCurrent: z.boolean().describe('Whether this request was sent with this session.'),
  })
  .meta({ id: 'ListedSession' })

const path = '/admin/session'

export function sessionRoutes({ sessions, isSecure, trustsProxy }: SessionRoutesDeps): readonly AdminRoute[] {
  return taggedRoutes('Session', [
    jsonRoute(`POST ${path}`, {
      name: 'signIn',
      summary: 'Signs in with the admin key or a token, and sets a cookie.',
      description:
        'The cookie permits all reads. Changes and calls of agents also require X-CSRF-Token; the caller of those calls is `console|<subject>`, who may use every agent.',
      access: 'key',
      status: 201,
      response: sessionSchema,
      event: 'session.opened',
      async handle({ who, request }) {
        const by = who.isAdmin ? who.by : 'token'
        const token = bearerTokenOf(request) ?? ''
        const grant = by === 'key' ? sessions.adminGrant(token) : { by: 'token' as const, token }
        const order = { subject: who.subject, grant, from: clientAddress(request, trustsProxy()) }
        const { cookie, csrf, expiresAt, subject } = await sessions.open(order, isSecure(request))
        return new RouteResult(
          { subject, by, csrf, expiresAt: isoTime(expiresAt) },
          { headers: { 'set-cookie': cookie } },
        )
      },
    }),
    jsonRoute(`GET ${path}`, {
      name: 'getSession',
      summary: 'Shows who is signed in.',
      response: sessionSchema,
      async handle({ who, request }) {
        const by = who.isAdmin ? who.by : 'token'
        const session = by === 'session' ? await sessions.read(request.header('cookie')) : undefined
        if (session === undefined) return { subject: who.subject, by }
        const csrf = await sessions.csrfOf(session)
        return { subject: session.subject, by, csrf, expiresAt: isoTime(session.expiresAt) }
      },
    }),
    jsonRoute(`DELETE ${path}`, {
      name: 'signOut',
      summary: 'Signs out: the cookie becomes invalid.',
      response: z.strictObject({}),
      event: 'session.ended',
      async handle({ request }) {
        const session = await sessions.read(request.header('cookie'))
        if (session === undefined) throw new RouteError('NOT_FOUND', 'No session')
        await sessions.end(session.id)
        return new RouteResult({}, { headers: { 'set-cookie': sessions.emptyCookie(isSecure(request)) } })
      },
    }),
    jsonRoute('GET /admin/sessions', {
      name: 'listSessions',
      summary: 'Lists the sessions of the console, the oldest first.',
      query: z.strictObject({ limit: limitField(100, 1_000), after: z.string().max(64).optional() }),
      response: z.strictObject({
        sessions: z.array(listedSessionSchema),
        after: z.string().optional().describe('Pass it as `after` to get the next page; absent on the last.'),
      }),
      async handle({ query, request }) {
        const page = await sessions.list({ ...query, limit: query.limit + 1 })
        const current = await sessions.read(request.header('cookie'))
        const visible = page.slice(0, query.limit)
        const last = page.length > query.limit ? visible.at(-1)?.id : undefined
        return {
          sessions: visible.map(({ id, subject, by, createdAt, lastUsedAt, expiresAt, from }) => ({
            id,
            subject,
            by,
            createdAt: isoTime(createdAt),
            lastUsedAt: isoTime(lastUsedAt),
            expiresAt: isoTime(expiresAt),
            ...(from !== undefined ? { from } : {}),
            isCurrent: id === current?.id,
          })),
          ...(last !== undefined ? { after: last } : {}),
        }
      },
    }),
    jsonRoute('DELETE /admin/sessions/{id}', {
      name: 'endSession',
      summary: 'Ends a session of the console and its open streams.',
      params: z.object({ id: z.string().max(64) }),
      response: z.strictObject({}),
      event: 'session.ended',
      async handle({ params: { id } }) {
        if (!(await sessions.end(id))) throw new RouteError('NOT_FOUND', `Unknown session ${id}`)
        return {}
      },
    }),
  ])
}
