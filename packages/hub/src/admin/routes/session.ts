/** `/admin/session`: signs in at the console, with the admin key, a token or a one-time code, and out. */
import { omitUndefined } from '@parley/a2a/internal'
import { z } from 'zod'
import type { AccessControl } from '../../auth/access-control.ts'
import type { ConsoleSession } from '../../auth/console-session.ts'
import type { SessionGrant } from '../../auth/session-check.ts'
import { signInPath } from '../../auth/sign-in-codes.ts'
import { RouteError, isoTime } from '../../http/json-response.ts'
import { timestamp, limitField, jsonRoute, RouteResult, taggedRoutes } from '../route.ts'
import type { AdminCaller, AdminRoute } from '../route.ts'
import { bearerTokenOf, wrongSecretError } from '../admin-guard.ts'
import type { RouteRequest } from '../../http/route-request.ts'

export interface SessionRoutesDeps {
  readonly access: Pick<AccessControl, 'adminKey' | 'sessions' | 'signInCodes' | 'limiter'>
  /** Whether the browser came over TLS. */
  isSecure(request: RouteRequest): boolean
  hasConsole(): boolean
  publicUrl(): string | undefined
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

export function sessionRoutes(parts: SessionRoutesDeps): readonly AdminRoute[] {
  const { access, isSecure, hasConsole, publicUrl } = parts
  const { sessions, signInCodes } = access

  /** For a request that the admin key or a token authenticates. */
  function grantOf(request: RouteRequest, by: 'key' | 'token'): SessionGrant {
    const token = bearerTokenOf(request) ?? ''
    return by === 'key' ? sessions.adminGrant(token) : { by, token }
  }

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
        const by = keyOrToken(who)
        const order = { subject: who.subject, grant: grantOf(request, by), from: request.clientAddress }
        const { cookie, csrf, expiresAt, subject } = await sessions.open(order, isSecure(request))
        return new RouteResult(
          { subject, by, csrf, expiresAt: isoTime(expiresAt) },
          { headers: { 'set-cookie': cookie } },
        )
      },
    }),
    jsonRoute(`POST ${path}/code`, {
      name: 'createSignInCode',
      summary: 'Creates a one-time code that signs a browser in at the console.',
      description: 'It is valid once, and for a minute. The session is that of the credentials that created it.',
      access: 'key',
      status: 201,
      response: z.strictObject({
        path: z.string().describe('Open it in a browser, below the URL of the hub. It contains the code.'),
        publicUrl: z.string().optional().describe('`publicUrl` of the configuration.'),
        expiresAt: timestamp,
      }),
      async handle({ who, request }) {
        if (!hasConsole()) throw new RouteError('CONFLICT', 'The console is disabled: set admin.console to true')
        const grant = grantOf(request, keyOrToken(who))
        const made = await signInCodes.create({ subject: who.subject, grant })
        return omitUndefined({ path: signInPath(made), publicUrl: publicUrl(), expiresAt: isoTime(made.expiresAt) })
      },
    }),
    jsonRoute('POST /admin/sign-in/code', {
      name: 'redeemSignInCode',
      summary: 'Signs in with a one-time code, and sets a cookie.',
      description: 'A browser that is signed in keeps its session; the code ends all the same.',
      access: 'anybody',
      status: 201,
      body: z.strictObject({ code: z.string().min(1).max(200) }),
      response: sessionSchema,
      event: 'session.opened',
      async handle({ body: { code }, request }) {
        const granted = await signInCodes.redeem(code)
        if (granted === undefined)
          throw wrongSecretError(request, access, 'The sign-in link was used, or its minute has passed')
        // Otherwise a link of another person would replace the session without notice.
        const current = await sessions.read(request.header('cookie'))
        const { clientAddress: from } = request
        const opened = current === undefined ? await sessions.open({ ...granted, from }, isSecure(request)) : undefined
        const session = opened ?? (current as ConsoleSession)
        const { subject, expiresAt } = session
        const csrf = await sessions.csrfOf(session)
        return new RouteResult(
          { subject, by: 'session' as const, csrf, expiresAt: isoTime(expiresAt) },
          { subject, headers: opened === undefined ? {} : { 'set-cookie': opened.cookie } },
        )
      },
    }),
    jsonRoute('POST /admin/sign-in/proof', {
      name: 'proveAdminKey',
      summary: 'Proves to a client that this hub knows the admin key, before the client sends it.',
      description:
        'Both values are HMAC-SHA256, in base64url, with the SHA-256 of the admin key (64 lower-case hex digits) as the key: that of the client over `parley admin key client <nonce>`, that of the hub over `parley admin key hub <client> <hub> <nonce>`, where `<client>` and `<hub>` are the ends of the connection as the hub sees them, such as `127.0.0.1:50000` and `127.0.0.1:3000`. If yours differ, another program is in between. The hub answers only a client that knows the key. Wrong values count as wrong keys.',
      access: 'anybody',
      isPreflight: true,
      body: z.strictObject({
        nonce: z.string().regex(/^[\w-]{22,86}$/, 'must be 16 to 64 random bytes in base64url'),
        proof: z.string().max(64).describe('The value of the client.'),
      }),
      response: z.strictObject({ proof: z.string().describe('The value of the hub. Compare it with your own.') }),
      async handle({ body: { nonce, proof }, request }) {
        const answer = await access.adminKey.prove(proof, nonce, request.connection)
        if (answer === undefined) throw wrongSecretError(request, access, 'The admin key is wrong')
        return { proof: answer }
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

/** Of a route that accepts no session. */
function keyOrToken(who: AdminCaller): 'key' | 'token' {
  return who.isAdmin && who.by === 'key' ? 'key' : 'token'
}
