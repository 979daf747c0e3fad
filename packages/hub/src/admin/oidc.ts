/**
 * Signing in by OpenID Connect: the browser is sent to the issuer and comes back with a code, which the hub itself exchanges
 * for a token (PKCE), so that no page ever holds one. What the token proves is decided where all tokens are: by `access.jwt`.
 */
import { createHash, randomBytes } from 'node:crypto'
import { A2AError } from '@parley/a2a'
import { defaultJsonNodes, exceedsJsonNodes } from '@parley/a2a/server'
import type { Sealer } from '@parley/a2a/server'
import type { Admin } from '../config/access.ts'
import { RouteError } from './answer.ts'

export type OidcSettings = NonNullable<Admin['oidc']>

export interface Beginning {
  /** Where the browser goes. */
  readonly location: string
  /** What it brings back beside the code. */
  readonly kept: string
}

export interface Oidc {
  begin(redirectUri: string, to: string): Promise<Beginning>
  /** Returns the tokens, and where the browser wanted to go. Throws RouteError. */
  finish(answer: OidcAnswer, kept: string | undefined, redirectUri: string): Promise<OidcTokens & { to: string }>
  /** Exchanges the refresh token; `undefined` if the issuer refuses. Throws A2AError UNAVAILABLE. */
  renew(refreshToken: string): Promise<OidcTokens | undefined>
}

export interface OidcTokens {
  readonly token: string
  /** Where the issuer gives one. */
  readonly refreshToken?: string
}

/** As the issuer sends the browser back. */
export interface OidcAnswer {
  readonly code?: string | undefined
  readonly state?: string | undefined
  readonly error?: string | undefined
}

export interface OidcParts {
  settings(): OidcSettings | undefined
  secrets(): Promise<Sealer>
  readonly fetch: typeof fetch
  readonly now: () => number
}

interface Kept {
  readonly state: string
  readonly verifier: string
  readonly nonce: string
  readonly to: string
  readonly until: number
}

interface Endpoints {
  readonly authorization_endpoint: string
  readonly token_endpoint: string
  /** Whether refresh tokens are to be asked for by a scope. */
  readonly offersOfflineAccess: boolean
}

/** The issuer refused the request. */
class Declined extends Error {
  override readonly name = 'Declined'
}

const purpose = 'console-sign-in'
/** How long a person may take to sign in at the issuer. */
export const patienceMs = 600_000
const timeoutMs = 10_000
/** Requests a refresh token at issuers that list this scope (OpenID Connect Core 11). */
const offlineAccess = 'offline_access'
/** The issuer refused the request (RFC 6749 5.2); any other failure may be temporary. */
const declines: ReadonlySet<number> = new Set([400, 401, 403])
const mostBytes = 1_000_000

export function createOidc({ settings, secrets, fetch, now }: OidcParts): Oidc {
  function configured(): OidcSettings {
    const found = settings()
    if (found === undefined) throw new RouteError('NOT_FOUND', 'This hub has no OpenID Connect: see `admin.oidc`')
    return found
  }

  async function endpointsOf({ issuer }: OidcSettings): Promise<Endpoints> {
    const found = (await ask(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`)) as Record<
      string,
      unknown
    >
    const { authorization_endpoint, token_endpoint, scopes_supported: scopes } = found
    if (!isUrl(authorization_endpoint) || !isUrl(token_endpoint)) throw unavailable()
    const offersOfflineAccess = Array.isArray(scopes) && scopes.includes(offlineAccess)
    return { authorization_endpoint, token_endpoint, offersOfflineAccess }
  }

  async function ask(url: string, init: RequestInit = {}): Promise<unknown> {
    try {
      const response = await fetch(url, { ...init, redirect: 'error', signal: AbortSignal.timeout(timeoutMs) })
      const text = await response.text()
      if (declines.has(response.status)) throw new Declined(`it answered ${response.status}`)
      if (!response.ok || text.length > mostBytes || exceedsJsonNodes(text, defaultJsonNodes))
        throw new Error(`it answered ${response.status}`)
      return JSON.parse(text) as unknown
    } catch (cause) {
      throw Object.assign(unavailable(), { cause })
    }
  }

  async function tokensFor(oidc: OidcSettings, grant: Record<string, string>): Promise<Partial<OidcTokens>> {
    const { token_endpoint } = await endpointsOf(oidc)
    const form = new URLSearchParams({
      ...grant,
      client_id: oidc.clientId,
      ...(oidc.clientSecret !== undefined ? { client_secret: oidc.clientSecret } : {}),
    })
    const answer = (await ask(token_endpoint, { method: 'POST', body: form })) as Record<string, unknown>
    const { id_token: token, refresh_token: refreshToken } = answer
    return {
      ...(typeof token === 'string' ? { token } : {}),
      ...(typeof refreshToken === 'string' ? { refreshToken } : {}),
    }
  }

  return {
    async begin(redirectUri, to) {
      const oidc = configured()
      const { authorization_endpoint, offersOfflineAccess } = await endpointsOf(oidc)
      const [state, verifier, nonce] = [random(), random(), random()]
      const kept: Kept = { state, verifier, nonce, to, until: now() + patienceMs }
      const location = new URL(authorization_endpoint)
      const challenge = createHash('sha256').update(verifier).digest('base64url')
      const query = {
        response_type: 'code',
        client_id: oidc.clientId,
        redirect_uri: redirectUri,
        scope: scopeOf(oidc, offersOfflineAccess),
        state,
        nonce,
        code_challenge: challenge,
        code_challenge_method: 'S256',
      }
      for (const [name, value] of Object.entries(query)) location.searchParams.set(name, value)
      const sealed = await (await secrets()).seal(purpose, JSON.stringify(kept), state)
      return { location: location.href, kept: `${sealed}.${state}` }
    },

    async finish({ code, state, error }, sealed, redirectUri) {
      const oidc = configured()
      const kept = await open(sealed)
      if (kept === undefined || state !== kept.state || kept.until < now()) {
        throw new RouteError(
          'PERMISSION_DENIED',
          'This is not the browser that began to sign in, or it took too long: try again',
        )
      }
      if (error !== undefined || code === undefined) {
        throw new RouteError('PERMISSION_DENIED', 'The issuer did not let you in')
      }
      const { token, refreshToken } = await tokensFor(oidc, {
        grant_type: 'authorization_code',
        code,
        redirect_uri: redirectUri,
        code_verifier: kept.verifier,
      })
      if (token === undefined || claimsOf(token)['nonce'] !== kept.nonce) throw unavailable()
      return { token, ...(refreshToken !== undefined ? { refreshToken } : {}), to: kept.to }
    },

    async renew(refreshToken) {
      const oidc = settings()
      if (oidc === undefined) return undefined
      try {
        const { token, ...more } = await tokensFor(oidc, { grant_type: 'refresh_token', refresh_token: refreshToken })
        // Without a token nothing says who it is and what they may do now.
        return token === undefined ? undefined : { token, ...more }
      } catch (reason) {
        if ((reason as Error).cause instanceof Declined) return undefined
        throw new A2AError(
          'UNAVAILABLE',
          'The issuer does not answer: the session cannot be renewed now',
          {},
          {
            cause: reason,
          },
        )
      }
    },
  }

  async function open(sealed: string | undefined): Promise<Kept | undefined> {
    const dot = sealed?.lastIndexOf('.') ?? -1
    if (sealed === undefined || dot < 0) return undefined
    try {
      const text = await (await secrets()).unseal(purpose, sealed.slice(0, dot), sealed.slice(dot + 1))
      return JSON.parse(text) as Kept
    } catch {
      return undefined
    }
  }
}

/** Only to compare what it says with what we asked for: whether it is good is decided elsewhere. */
function claimsOf(token: string): Record<string, unknown> {
  try {
    return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Record<string, unknown>
  } catch {
    return {}
  }
}

function scopeOf({ scope }: OidcSettings, offersOfflineAccess: boolean): string {
  return offersOfflineAccess && !scope.split(' ').includes(offlineAccess) ? `${scope} ${offlineAccess}` : scope
}

function isUrl(text: unknown): text is string {
  return typeof text === 'string' && /^https?:\/\//.test(text) && URL.canParse(text)
}

function random(): string {
  return randomBytes(32).toString('base64url')
}

function unavailable(): RouteError {
  return new RouteError('UNAVAILABLE', 'The issuer does not answer as it should')
}
