/** `/admin/session`: signing in at the console, with the admin key or a token, and out. */
import { z } from 'zod'
import type { Sessions } from '../../auth/session.ts'
import { addressOf } from '../../limits/address.ts'
import { RouteError, time } from '../answer.ts'
import { instant, limit } from '../fields.ts'
import { bearerOf } from '../guard.ts'
import { type Route, route, Told } from '../route.ts'
import type { RouteRequest } from '../route-request.ts'

export interface SessionRouteParts {
  readonly sessions: Sessions
  /** Whether a browser that sent this has come by TLS. */
  isSecure(request: RouteRequest): boolean
  /** Whether X-Forwarded-For is believed. */
  trustsProxy(): boolean
}

const shown = z
  .strictObject({
    subject: z.string().meta({ description: '`admin`, or the caller that a token named.' }),
    by: z.enum(['key', 'token', 'session']).meta({ description: 'What was shown with this request.' }),
    csrf: z.string().optional().meta({ description: 'To be shown in X-CSRF-Token, with the cookie.' }),
    expiresAt: instant.optional(),
  })
  .meta({ id: 'Session' })

const listed = z
  .strictObject({
    id: z.string(),
    subject: z.string().meta({ description: '`admin`, or the caller that a token named.' }),
    by: z
      .enum(['key', 'token', 'oidc'])
      .meta({ description: 'The kind of credentials that opened it. They are checked at every request.' }),
    createdAt: instant,
    lastUsedAt: instant.meta({ description: 'The last request with it; of other replicas up to ten seconds late.' }),
    expiresAt: instant.meta({ description: 'The latest end, whatever is renewed.' }),
    from: z.string().optional().meta({ description: 'The address that it was opened from.' }),
    isCurrent: z.boolean().meta({ description: 'Whether this request was sent with this session.' }),
  })
  .meta({ id: 'ListedSession' })

const path = '/admin/session'
const tag = 'Session'

export function sessionRoutes({ sessions, isSecure, trustsProxy }: SessionRouteParts): readonly Route[] {
  return [
    route({
      method: 'POST',
      path,
      name: 'signIn',
      summary: 'Signs in: shown the admin key or a token, it sets a cookie.',
      description:
        'With the cookie everything here may be read. What changes something, and calls of agents, need X-CSRF-Token as well; those calls are then made by the caller `console|<subject>`, who may use every agent.',
      tag,
      right: 'key',
      status: 201,
      answer: shown,
      event: 'session.opened',
      async handle({ who, request }) {
        const by = who.isAdmin ? who.by : 'token'
        const grant = by === 'key' ? sessions.adminGrant : { by: 'token' as const, token: bearerOf(request) ?? '' }
        const order = { subject: who.subject, grant, from: addressOf(request, trustsProxy()) }
        const { cookie, csrf, expiresAt, subject } = await sessions.open(order, isSecure(request))
        return new Told({ subject, by, csrf, expiresAt: time(expiresAt) }, { headers: { 'set-cookie': cookie } })
      },
    }),
    route({
      method: 'GET',
      path,
      name: 'getSession',
      summary: 'Says who is signed in.',
      tag,
      answer: shown,
      async handle({ who, request }) {
        const by = who.isAdmin ? who.by : 'token'
        const session = by === 'session' ? await sessions.read(request.header('cookie')) : undefined
        if (session === undefined) return { subject: who.subject, by }
        const csrf = await sessions.csrfOf(session)
        return { subject: session.subject, by, csrf, expiresAt: time(session.expiresAt) }
      },
    }),
    route({
      method: 'DELETE',
      path,
      name: 'signOut',
      summary: 'Signs out: the cookie opens nothing any more.',
      tag,
      answer: z.strictObject({}),
      event: 'session.ended',
      async handle({ request }) {
        const session = await sessions.read(request.header('cookie'))
        if (session === undefined) throw new RouteError('NOT_FOUND', 'There is no session')
        await sessions.end(session.id)
        return new Told({}, { headers: { 'set-cookie': sessions.emptyCookie(isSecure(request)) } })
      },
    }),
    route({
      method: 'GET',
      path: '/admin/sessions',
      name: 'listSessions',
      summary: 'Lists the sessions of the console, the oldest first.',
      tag,
      query: z.strictObject({ limit: limit(100, 1_000), after: z.string().max(64).optional() }),
      answer: z.strictObject({
        sessions: z.array(listed),
        after: z
          .string()
          .optional()
          .meta({ description: 'Pass it as `after` to get the next page; absent on the last.' }),
      }),
      async handle({ query, request }) {
        const page = await sessions.list({ ...query, limit: query.limit + 1 })
        const current = await sessions.read(request.header('cookie'))
        const shownOnes = page.slice(0, query.limit)
        const last = page.length > query.limit ? shownOnes.at(-1)?.id : undefined
        return {
          sessions: shownOnes.map(({ id, subject, by, createdAt, lastUsedAt, expiresAt, from }) => ({
            id,
            subject,
            by,
            createdAt: time(createdAt),
            lastUsedAt: time(lastUsedAt),
            expiresAt: time(expiresAt),
            ...(from !== undefined ? { from } : {}),
            isCurrent: id === current?.id,
          })),
          ...(last !== undefined ? { after: last } : {}),
        }
      },
    }),
    route({
      method: 'DELETE',
      path: '/admin/sessions/{id}',
      name: 'endSession',
      summary: 'Ends a session of the console, and the streams that it has open.',
      tag,
      params: z.object({ id: z.string().max(64) }),
      answer: z.strictObject({}),
      event: 'session.ended',
      async handle({ params: { id } }) {
        if (!(await sessions.end(id))) throw new RouteError('NOT_FOUND', `There is no session ${id}`)
        return {}
      },
    }),
  ]
}
