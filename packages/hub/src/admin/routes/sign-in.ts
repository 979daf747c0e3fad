/** `/admin/sign-in`: in which ways one may sign in, and the way by an issuer and back. */
import type { Caller } from '@parley/a2a'
import type { Credentials } from '@parley/a2a/server'
import { z } from 'zod'
import { adminScope } from '../../auth/scopes.ts'
import type { NewSession, Sessions } from '../../auth/session.ts'
import { RouteError } from '../answer.ts'
import { type Oidc, type OidcAnswer, type OidcSettings, patienceMs } from '../oidc.ts'
import { redirectRoute, type Route, route } from '../route.ts'
import type { RouteRequest } from '../route-request.ts'

export interface SignInRouteParts {
  readonly oidc: Oidc
  settings(): OidcSettings | undefined
  readonly sessions: Pick<Sessions, 'open'>
  /** Who shows this token. Throws UNAUTHENTICATED. */
  identify(credentials: Omit<Credentials, 'agent'>): Promise<Caller>
  isSecure(request: RouteRequest): boolean
  /** Where the request comes from, as far as proxies are believed. */
  addressOf(request: RouteRequest): string | undefined
  /** Where the browser that sent this reaches the hub. */
  baseOf(request: RouteRequest): string
}

interface OidcSignIn extends NewSession {
  readonly to: string
}

const tag = 'Session'
const right = 'anybody'
const cookieName = 'parley-sign-in'
const path = '/admin/sign-in/oidc'
const callbackPath = `${path}/callback`

export function signInRoutes(parts: SignInRouteParts): readonly Route[] {
  const { oidc, settings, sessions, isSecure, baseOf } = parts
  return [
    route({
      method: 'GET',
      path: '/admin/sign-in',
      name: 'getSignIn',
      summary: 'In which ways one may sign in.',
      tag,
      right,
      answer: z.strictObject({
        key: z.literal(true).meta({ description: 'With the admin key: POST /admin/session.' }),
        oidc: z
          .strictObject({ issuer: z.string(), start: z.string() })
          .optional()
          .meta({ description: 'By the issuer: lead the browser to `start`.' }),
      }),
      handle() {
        const found = settings()
        return { key: true as const, ...(found === undefined ? {} : { oidc: { issuer: found.issuer, start: path } }) }
      },
    }),
    redirectRoute({
      method: 'GET',
      path,
      name: 'startSignIn',
      summary: 'Sends the browser to the issuer.',
      tag,
      right,
      query: z.strictObject({
        to: z
          .string()
          .regex(/^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/, 'give a path of this hub')
          .default('/')
          .meta({ description: 'Where to go afterwards.' }),
      }),
      async redirect({ query: { to }, request }) {
        const { location, kept } = await oidc.begin(baseOf(request) + callbackPath, to)
        return { location, cookies: [cookieOf(kept, patienceMs / 1_000, isSecure(request))] }
      },
    }),
    redirectRoute({
      method: 'GET',
      path: callbackPath,
      name: 'finishSignIn',
      summary: 'Where the issuer sends the browser back to.',
      tag,
      right,
      event: 'session.opened',
      query: z.object({
        code: z.string().max(4_096).optional(),
        state: z.string().max(200).optional(),
        error: z.string().max(200).optional(),
      }),
      async redirect({ query, request }) {
        const secure = isSecure(request)
        const over = cookieOf('', 0, secure)
        try {
          const { subject, grant, to } = await finish(query, request)
          const { cookie } = await sessions.open({ subject, grant, from: parts.addressOf(request) }, secure)
          return { location: to, cookies: [cookie, over], subject }
        } catch (reason) {
          // A person looks at this: the page that they began at says it in words.
          if (!(reason instanceof RouteError)) throw reason
          const { code, message } = reason
          return { location: `/?signInError=${encodeURIComponent(message)}`, cookies: [over], refused: code }
        }
      },
    }),
  ]

  async function finish(query: OidcAnswer, request: RouteRequest): Promise<OidcSignIn> {
    const { to, ...tokens } = await oidc.finish(query, keptIn(request), baseOf(request) + callbackPath)
    const { id, scopes } = await callerOf(tokens.token, request)
    if (scopes?.includes(adminScope) === true) return { subject: id, grant: { by: 'oidc', ...tokens }, to }
    throw new RouteError('PERMISSION_DENIED', 'You are known, but may not run this hub')
  }

  async function callerOf(token: string, request: RouteRequest): Promise<Caller> {
    const { agent: _, ...shown } = request.credentials('')
    const header = (name: string): string | undefined => (name === 'authorization' ? `Bearer ${token}` : undefined)
    try {
      return await parts.identify({ ...shown, header })
    } catch {
      throw new RouteError('PERMISSION_DENIED', 'The token of the issuer is none that this hub believes')
    }
  }
}

function keptIn(request: RouteRequest): string | undefined {
  const pairs = (request.header('cookie') ?? '').split(';').map((pair) => pair.trim())
  return pairs.find((pair) => pair.startsWith(`${cookieName}=`))?.slice(cookieName.length + 1)
}

/** Lax and not Strict: it has to come along when the issuer sends the browser back. It opens nothing. */
function cookieOf(value: string, seconds: number, isSecure: boolean): string {
  return `${cookieName}=${value}; Path=${path}; HttpOnly; SameSite=Lax; Max-Age=${seconds}${isSecure ? '; Secure' : ''}`
}
