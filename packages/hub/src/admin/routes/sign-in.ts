/** `/admin/sign-in`: the available ways to sign in, and the redirects to an issuer and back. */
import type { Caller } from '@parley/a2a'
import type { AuthenticatedCall, Call } from '@parley/a2a/server'
import { existsSync } from 'node:fs'
import { z } from 'zod'
import { adminScope } from '../../auth/scopes.ts'
import type { NewSessionOptions, ConsoleSessions } from '../../auth/console-session.ts'
import type { HubConfig } from '../../config/hub-config.ts'
import { RouteError } from '../../http/json-response.ts'
import { isLoopback } from '../../http/serve-options.ts'
import { adminKeyFile, adminKeyFileName } from '../../store/data-directory.ts'
import { type Oidc, type OidcCallback, signInTimeoutMs } from '../oidc.ts'
import { redirectRoute, type AdminRoute, type RedirectResult, jsonRoute, taggedRoutes } from '../route.ts'
import type { RouteRequest } from '../../http/route-request.ts'

export interface SignInRoutesDeps {
  readonly oidc: Oidc
  config(): SignInConfig
  readonly sessions: Pick<ConsoleSessions, 'open'>
  /** The caller of this token. Throws UNAUTHENTICATED. */
  identify(call: Call): Promise<AuthenticatedCall>
  isSecure(request: RouteRequest): boolean
  /** The base URL under which the browser reaches the hub. */
  baseOf(request: RouteRequest): string
}

type SignInConfig = Pick<HubConfig, 'admin' | 'dataDir' | 'listen' | 'publicUrl' | 'trustProxy'>

interface OidcSignIn extends NewSessionOptions {
  readonly to: string
}

const right = 'anybody'
const cookieName = 'parley-sign-in'
const path = '/admin/sign-in/oidc'
const callbackPath = `${path}/callback` as const

export function signInRoutes(parts: SignInRoutesDeps): readonly AdminRoute[] {
  const { oidc, config, sessions, isSecure, baseOf } = parts
  return taggedRoutes('Session', [
    jsonRoute('GET /admin/sign-in', {
      name: 'getSignIn',
      summary: 'The available sign-in methods.',
      access: right,
      response: z.strictObject({
        key: z.literal(true).describe('With the admin key: POST /admin/session.'),
        keyFrom: z
          .enum(['configuration', 'file', 'elsewhere'])
          .describe('Where the admin key is: in the configuration, in `keyFile`, or where an operator keeps it.'),
        keyFile: z
          .string()
          .optional()
          .describe('The file of a created admin key: its path if only this machine can call the hub, else its name.'),
        oidc: z
          .strictObject({ issuer: z.string(), start: z.string() })
          .optional()
          .describe('With the issuer: send the browser to `start`.'),
      }),
      handle() {
        const found = config().admin.oidc
        return {
          key: true as const,
          ...adminKeyPlace(config()),
          ...(found === undefined ? {} : { oidc: { issuer: found.issuer, start: path } }),
        }
      },
    }),
    redirectRoute(`GET ${path}`, {
      name: 'startSignIn',
      summary: 'Sends the browser to the issuer.',
      access: right,
      query: z.strictObject({
        to: z
          .string()
          .regex(/^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/, 'must be a path of this hub')
          .default('/')
          .describe('The path to open after sign-in.'),
      }),
      async redirect({ query: { to }, request }) {
        try {
          const { location, sealedState } = await oidc.begin(baseOf(request) + callbackPath, to)
          return { location, cookies: [cookieOf(sealedState, signInTimeoutMs / 1_000, isSecure(request))] }
        } catch (reason) {
          if (!(reason instanceof RouteError && reason.code === 'UNAVAILABLE')) throw reason
          return { ...refusal(reason), cookies: [] }
        }
      },
    }),
    redirectRoute(`GET ${callbackPath}`, {
      name: 'finishSignIn',
      summary: 'The redirect URI for the issuer.',
      access: right,
      event: 'session.opened',
      query: z.object({
        code: z.string().max(4_096).optional(),
        state: z.string().max(200).optional(),
        error: z.string().max(200).optional(),
      }),
      async redirect({ query, request }) {
        const secure = isSecure(request)
        const expiredCookie = cookieOf('', 0, secure)
        try {
          const { subject, grant, to } = await finish(query, request)
          const { cookie } = await sessions.open({ subject, grant, from: request.clientAddress }, secure)
          return { location: to, cookies: [cookie, expiredCookie], subject }
        } catch (reason) {
          if (!(reason instanceof RouteError)) throw reason
          return { ...refusal(reason), cookies: [expiredCookie] }
        }
      },
    }),
  ])

  async function finish(query: OidcCallback, request: RouteRequest): Promise<OidcSignIn> {
    const { to, ...tokens } = await oidc.finish(query, sealedStateOf(request), baseOf(request) + callbackPath)
    const { id, scopes } = await callerOf(tokens.token, request)
    if (scopes?.includes(adminScope) === true) return { subject: id, grant: { by: 'oidc', ...tokens }, to }
    throw new RouteError('PERMISSION_DENIED', 'You are signed in, but you are not an admin of this hub')
  }

  async function callerOf(token: string, request: RouteRequest): Promise<Caller> {
    const header = (name: string): string | undefined => (name === 'authorization' ? `Bearer ${token}` : undefined)
    try {
      const { caller } = await parts.identify({ ...request.call(''), header })
      return caller
    } catch {
      throw new RouteError('PERMISSION_DENIED', 'The token of the issuer is not valid for this hub')
    }
  }
}

/** A person sees this response: the page that started the sign-in shows the error. */
function refusal(error: RouteError): Pick<RedirectResult, 'location' | 'error'> {
  return { location: `/?signInError=${encodeURIComponent(error.message)}`, error }
}

function adminKeyPlace({ admin, dataDir, listen, publicUrl, trustProxy }: SignInConfig) {
  if (admin.key !== undefined) return { keyFrom: 'configuration' } as const
  const file = adminKeyFile(dataDir)
  const keyFrom = existsSync(file) ? 'file' : 'elsewhere'
  // Callers from elsewhere need not know the folders of this machine.
  const isLocal = isLoopback(listen.host) && publicUrl === undefined && !trustProxy
  return { keyFrom, keyFile: isLocal ? file : adminKeyFileName } as const
}

function sealedStateOf(request: RouteRequest): string | undefined {
  const pairs = (request.header('cookie') ?? '').split(';').map((pair) => pair.trim())
  return pairs.find((pair) => pair.startsWith(`${cookieName}=`))?.slice(cookieName.length + 1)
}

/** Lax and not Strict: the browser has to send it when the issuer redirects back. It grants nothing. */
function cookieOf(value: string, seconds: number, isSecure: boolean): string {
  return `${cookieName}=${value}; Path=${path}; HttpOnly; SameSite=Lax; Max-Age=${seconds}${isSecure ? '; Secure' : ''}`
}
