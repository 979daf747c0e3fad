/**
 * Sign-in by OpenID Connect: the issuer sends the browser back with a code, which the hub itself exchanges for a token (PKCE), so
 * that no page ever holds one. The token is checked like all others, by `access.jwt`.
 */
import { createHash, randomBytes } from 'node:crypto'
import { A2AError } from '@parley/a2a'
import { omitUndefined, defaultJsonNodes, exceedsJsonNodes, type Sealer } from '@parley/a2a/internal'
import type { AdminConfig } from '../config/sections/access.ts'
import { RouteError } from '../http/json-response.ts'
import { unverifiedClaims } from '../auth/token-check.ts'

export type OidcSettings = NonNullable<AdminConfig['oidc']>

export interface OidcRedirect {
  /** The URL to send the browser to. */
  readonly location: string
  /** The state that the browser returns with the code. */
  readonly sealedState: string
}

export interface Oidc {
  begin(redirectUri: string, to: string): Promise<OidcRedirect>
  /** Returns the tokens, and the page that the browser asked for. Throws RouteError. */
  finish(answer: OidcCallback, kept: string | undefined, redirectUri: string): Promise<OidcTokens & { to: string }>
  /** Exchanges the refresh token; `undefined` if the issuer refuses. Throws A2AError UNAVAILABLE. */
  renew(refreshToken: string): Promise<OidcTokens | undefined>
}

export interface OidcTokens {
  readonly token: string
  /** If the issuer issues one. */
  readonly refreshToken?: string
}

/** The parameters with which the issuer sends the browser back. */
export interface OidcCallback {
  readonly code?: string | undefined
  readonly state?: string | undefined
  readonly error?: string | undefined
}

export interface OidcDeps {
  settings(): OidcSettings | undefined
  secrets(): Promise<Sealer>
  readonly fetch: typeof fetch
  readonly now: () => number
}

interface PendingSignIn {
  readonly state: string
  readonly verifier: string
  readonly nonce: string
  readonly to: string
  readonly until: number
}

interface Endpoints {
  readonly authorization_endpoint: string
  readonly token_endpoint: string
  /** Whether refresh tokens have to be requested by a scope. */
  readonly offersOfflineAccess: boolean
}

/** The issuer refused the request. */
class IssuerRefusedError extends Error {
  override readonly name = 'Declined'
}

export const signInPurpose = 'console-sign-in'
/** How long a person may take to sign in at the issuer. */
export const signInTimeoutMs = 600_000
const requestTimeoutMs = 10_000
/** Requests a refresh token at issuers that list this scope (OpenID Connect Core 11). */
const offlineAccess = 'offline_access'
/** The issuer refused the request (RFC 6749 5.2); any other failure may be temporary. */
const refusalStatuses: ReadonlySet<number> = new Set([400, 401, 403])
const maxBytes = 1_000_000

export function createOidc({ settings, secrets, fetch, now }: OidcDeps): Oidc {
  function configured(): OidcSettings {
    const found = settings()
    if (found === undefined) throw new RouteError('NOT_FOUND', 'OpenID Connect is not configured: set `admin.oidc`')
    return found
  }

  async function endpointsOf({ issuer }: OidcSettings): Promise<Endpoints> {
    const found = (await fetchJson(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`)) as Record<
      string,
      unknown
    >
    const { authorization_endpoint, token_endpoint, scopes_supported: scopes } = found
    if (!isUrl(authorization_endpoint) || !isUrl(token_endpoint)) throw issuerUnavailableError()
    const offersOfflineAccess = Array.isArray(scopes) && scopes.includes(offlineAccess)
    return { authorization_endpoint, token_endpoint, offersOfflineAccess }
  }

  async function fetchJson(url: string, init: RequestInit = {}): Promise<unknown> {
    // A redirect is not followed: it is an unexpected response.
    const request = { ...init, redirect: 'manual', signal: AbortSignal.timeout(requestTimeoutMs) } as const
    const response = await fetch(url, request).catch((cause: unknown) => {
      throw Object.assign(new RouteError('UNAVAILABLE', 'The issuer cannot be reached'), { cause })
    })
    try {
      const text = await response.text()
      if (refusalStatuses.has(response.status)) throw new IssuerRefusedError(`it returned ${response.status}`)
      if (!response.ok || text.length > maxBytes || exceedsJsonNodes(text, defaultJsonNodes))
        throw new Error(`it returned ${response.status}`)
      return JSON.parse(text) as unknown
    } catch (cause) {
      throw Object.assign(issuerUnavailableError(), { cause })
    }
  }

  async function tokensFor(oidc: OidcSettings, grant: Record<string, string>): Promise<Partial<OidcTokens>> {
    const { token_endpoint } = await endpointsOf(oidc)
    const form = new URLSearchParams({
      ...grant,
      client_id: oidc.clientId,
      ...omitUndefined({ client_secret: oidc.clientSecret }),
    })
    const answer = (await fetchJson(token_endpoint, { method: 'POST', body: form })) as Record<string, unknown>
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
      const [state, verifier, nonce] = [randomToken(), randomToken(), randomToken()]
      const kept: PendingSignIn = { state, verifier, nonce, to, until: now() + signInTimeoutMs }
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
      const sealed = await (await secrets()).seal(signInPurpose, JSON.stringify(kept), state)
      return { location: location.href, sealedState: `${sealed}.${state}` }
    },

    async finish({ code, state, error }, sealed, redirectUri) {
      const oidc = configured()
      const kept = await unseal(sealed)
      if (kept === undefined || state !== kept.state || kept.until < now()) {
        throw new RouteError(
          'PERMISSION_DENIED',
          'The sign-in was started in another browser or has expired: try again',
        )
      }
      if (error !== undefined || code === undefined) {
        throw new RouteError('PERMISSION_DENIED', 'The identity provider refused the sign-in')
      }
      const { token, refreshToken } = await tokensFor(oidc, {
        grant_type: 'authorization_code',
        code,
        redirect_uri: redirectUri,
        code_verifier: kept.verifier,
      })
      if (token === undefined || unverifiedClaims(token)['nonce'] !== kept.nonce) throw issuerUnavailableError()
      return { token, ...omitUndefined({ refreshToken }), to: kept.to }
    },

    async renew(refreshToken) {
      const oidc = settings()
      if (oidc === undefined) return undefined
      try {
        const { token, ...more } = await tokensFor(oidc, { grant_type: 'refresh_token', refresh_token: refreshToken })
        // Without a token the current permissions are unknown.
        return token === undefined ? undefined : { token, ...more }
      } catch (reason) {
        if ((reason as Error).cause instanceof IssuerRefusedError) return undefined
        throw new A2AError(
          'UNAVAILABLE',
          'The issuer does not respond: the session cannot be renewed now',
          {},
          {
            cause: reason,
          },
        )
      }
    },
  }

  async function unseal(sealed: string | undefined): Promise<PendingSignIn | undefined> {
    const dot = sealed?.lastIndexOf('.') ?? -1
    if (sealed === undefined || dot < 0) return undefined
    try {
      const text = await (await secrets()).unseal(signInPurpose, sealed.slice(0, dot), sealed.slice(dot + 1))
      return JSON.parse(text) as PendingSignIn
    } catch {
      return undefined
    }
  }
}

function scopeOf({ scope }: OidcSettings, offersOfflineAccess: boolean): string {
  return offersOfflineAccess && !scope.split(' ').includes(offlineAccess) ? `${scope} ${offlineAccess}` : scope
}

function isUrl(text: unknown): text is string {
  return typeof text === 'string' && /^https?:\/\//.test(text) && URL.canParse(text)
}

function randomToken(): string {
  return randomBytes(32).toString('base64url')
}

function issuerUnavailableError(): RouteError {
  return new RouteError('UNAVAILABLE', 'The issuer returned an unexpected response')
}
