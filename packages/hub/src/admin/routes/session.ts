/** `/admin/session`: signing in at the console, with the admin key or a token, and out. */
import { z } from 'zod'
import type { Sessions } from '../../auth/session.ts'
import { RouteError, time } from '../answer.ts'
import { instant } from '../fields.ts'
import { type Route, route, Told } from '../route.ts'
import type { RouteRequest } from '../route-request.ts'

export interface SessionRouteParts {
  readonly sessions: Sessions
  /** Whether a browser that sent this has come by TLS. */
  isSecure(request: RouteRequest): boolean
}

const shown = z
  .strictObject({
    subject: z.string().meta({ description: '`admin`, or the caller that a token named.' }),
    by: z.enum(['key', 'token', 'session']).meta({ description: 'What was shown with this request.' }),
    csrf: z.string().optional().meta({ description: 'To be shown in X-CSRF-Token, with the cookie.' }),
    expiresAt: instant.optional(),
  })
  .meta({ id: 'Session' })

const path = '/admin/session'
const tag = 'Session'

export function sessionRoutes({ sessions, isSecure }: SessionRouteParts): readonly Route[] {
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
        const { cookie, csrf, expiresAt, subject } = await sessions.open(who.subject, isSecure(request))
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
        return new Told({}, { headers: { 'set-cookie': await sessions.end(session, isSecure(request)) } })
      },
    }),
  ]
}
