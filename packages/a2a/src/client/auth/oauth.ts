/**
 * OAuth 2 access tokens, for machines (client credentials) and for people (device code). Loaded when a token is first
 * needed. A token is kept until shortly before it expires. When it expires, or when the agent refuses it, it is renewed
 * once for all waiting calls: with its refresh token if it has one, otherwise from the start.
 */
import type { SecurityScheme } from '../../model/card.ts'
import { A2AError } from '../../model/error.ts'
import { singleFlight } from '../../model/signals.ts'
import type { AuthRequest, DeviceCodePrompt, OAuthOptions, StoredToken, TokenCache, TokenOrigin } from '../contract.ts'
import {
  type AuthorizationServer,
  createAuthorizationServerFinder,
  createOAuthPost,
  type OAuthClock,
  oauthError,
  oauthErrorOf,
  type OAuthFlow,
  type OAuthForm,
  type OAuthPost,
  type OAuthResponse,
  type TokenDeps,
} from './authorization-server.ts'

/** Returns a token for this request, or nothing after a refusal that another token would not change. */
export type TokenSource = (
  request: AuthRequest,
  /** The matching scheme of the card, if there is one, and the scopes that its requirement lists. */
  scheme: SecurityScheme | undefined,
  scopes: readonly string[],
) => Promise<string | undefined>

/** A person who has just signed in is not asked again because the agent refuses the resulting token. */
const recentSignInMs = 60_000

export function createTokenSource(options: OAuthOptions, flow: OAuthFlow, parts: TokenDeps): TokenSource {
  const { clientId, audience, resource, cache = memoryTokenCache() } = options
  const time = parts.time ?? systemClock
  const findServer = createAuthorizationServerFinder(options, flow, parts)
  const post = createOAuthPost(options, parts)
  let lastSignIn: { readonly accessToken: string; readonly at: number } | undefined

  return async (request, scheme, required) => {
    const { signal } = request
    const server = await findServer(scheme, request.url, signal)
    const scopes = options.scopes ?? required
    const key = tokenCacheKey({ tokenUrl: server.tokenUrl, clientId, flow, scopes, audience, resource })
    const refused = bearerOf(request.refused?.sent?.headers)
    const token =
      usableToken(await cache.get(key), refused, time.now()) ??
      (await singleFlight(cache, key, signal, (shared) => renew(key, server, scopes, refused, shared), true))
    return token?.accessToken
  }

  async function renew(
    key: string,
    server: AuthorizationServer,
    scopes: readonly string[],
    refused: string | undefined,
    signal: AbortSignal,
  ): Promise<StoredToken | undefined> {
    const { tokenUrl, refreshUrl } = server
    const source: TokenOrigin = { tokenUrl, refreshUrl, clientId, flow, scopes }
    // Another call, or another process that shares the cache, may have renewed the token already.
    const kept = await cache.get(key)
    const token = usableToken(kept, refused, time.now()) ?? (await refresh(kept?.refreshToken))
    if (token !== undefined) return token
    await cache.set(key, undefined, source)
    if (
      flow === 'device-code' &&
      refused !== undefined &&
      refused === lastSignIn?.accessToken &&
      time.now() - lastSignIn.at < recentSignInMs
    )
      return undefined
    return keep(await begin())

    /** `undefined`: there is no refresh token, or it is no longer valid. */
    async function refresh(refreshToken: string | undefined): Promise<StoredToken | undefined> {
      if (refreshToken === undefined) return undefined
      const askedAt = time.now()
      try {
        const form = { grant_type: 'refresh_token', refresh_token: refreshToken, resource }
        const answer = await post(server, refreshUrl, form, signal)
        // If the response has no new refresh token, the old one stays valid (RFC 6749 §6).
        return await keep({ refreshToken, ...tokenOf(answer, askedAt) })
      } catch (reason) {
        if (oauthErrorOf(reason) !== 'invalid_grant') throw reason
      }
      // The refresh token was used already, perhaps by another process that has put its successor into the cache.
      const successor = await cache.get(key)
      return successor?.refreshToken === refreshToken ? undefined : usableToken(successor, undefined, time.now())
    }

    async function begin(): Promise<StoredToken> {
      const form: OAuthForm = { scope: scopes.length > 0 ? scopes.join(' ') : undefined, audience, resource }
      const askedAt = time.now()
      if (flow === 'client-credentials')
        return tokenOf(await post(server, tokenUrl, { grant_type: 'client_credentials', ...form }, signal), askedAt)
      const answer = await signInWithDeviceCode(options, server, form, post, time, signal)
      const signedIn = tokenOf(answer, time.now())
      lastSignIn = { accessToken: signedIn.accessToken, at: time.now() }
      return signedIn
    }

    async function keep(newToken: StoredToken): Promise<StoredToken> {
      await cache.set(key, newToken, source)
      return newToken
    }
  }
}

function tokenOf(answer: OAuthResponse, askedAt: number): StoredToken {
  const { access_token: accessToken, refresh_token: refreshToken, token_type: type = 'bearer' } = answer
  if (typeof accessToken !== 'string' || accessToken === '')
    throw oauthError('The authorization server returned no access_token')
  if (typeof type !== 'string' || type.toLowerCase() !== 'bearer')
    throw oauthError('The authorization server returned a token whose type is not Bearer')
  const lifetime = parseSeconds(answer['expires_in'])
  return {
    accessToken,
    ...(typeof refreshToken === 'string' && refreshToken !== '' && { refreshToken }),
    ...(lifetime !== undefined && { expiresAt: renewalTime(askedAt, lifetime) }),
  }
}

function bearerOf(headers: Readonly<Record<string, string>> | undefined): string | undefined {
  const value = headers?.['authorization']
  return value?.startsWith('Bearer ') ? value.slice('Bearer '.length) : undefined
}

const systemClock: OAuthClock = {
  now: Date.now,
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      const stop = (): void => {
        clearTimeout(timer)
        reject(signal.reason as Error)
      }
      const timer = setTimeout(() => {
        signal.removeEventListener('abort', stop)
        resolve()
      }, ms)
      signal.addEventListener('abort', stop)
      if (signal.aborted) stop()
      // Callers that wait for the token keep the process alive; this timer must not.
      if (typeof timer === 'object') (timer as { unref?(): void }).unref?.()
    }),
}

// Where tokens are kept, under which key, and how long a token is usable.

export function memoryTokenCache(): TokenCache {
  const kept = new Map<string, StoredToken>()
  return {
    get: (key) => kept.get(key),
    set(key, token) {
      if (token === undefined) kept.delete(key)
      else kept.set(key, token)
    },
  }
}

/** What distinguishes tokens: their issuer, their client and their purpose. */
interface TokenIdentity {
  readonly tokenUrl: string
  readonly clientId: string
  readonly flow: string
  readonly scopes: readonly string[]
  readonly audience?: string | undefined
  readonly resource?: string | undefined
}

export function tokenCacheKey(identity: TokenIdentity): string {
  const { tokenUrl, clientId, flow, scopes, audience = '', resource = '' } = identity
  return JSON.stringify([tokenUrl, clientId, flow, scopes.toSorted().join(' '), audience, resource])
}

/** A token is renewed at most this long before it expires: the request that carries it takes time, and clocks differ. */
const maxEarlyMs = 30_000

export function renewalTime(askedAt: number, lifetimeSeconds: number): number {
  const lifetimeMs = lifetimeSeconds * 1000
  return askedAt + lifetimeMs - Math.min(maxEarlyMs, lifetimeMs / 10)
}

/** The token, if it is valid now and is not the one that was refused. */
export function usableToken(
  token: StoredToken | undefined,
  refused: string | undefined,
  now: number,
): StoredToken | undefined {
  if (token === undefined || token.accessToken === '' || token.accessToken === refused) return undefined
  return (token.expiresAt ?? Infinity) > now ? token : undefined
}

// The device code flow (RFC 8628): the client shows a code to a person and polls until the person has entered it.

const deviceCodeGrant = 'urn:ietf:params:oauth:grant-type:device_code'
/** Upper limit for the lifetime that a server grants; otherwise the client could poll for ever. */
const maxLifetimeSeconds = 3600
/** Used if the server names no interval; also what `slow_down` adds (RFC 8628 §3.5). */
const intervalSeconds = 5

async function signInWithDeviceCode(
  { onDeviceCode }: OAuthOptions,
  server: AuthorizationServer,
  form: OAuthForm,
  post: OAuthPost,
  time: OAuthClock,
  signal: AbortSignal,
): Promise<OAuthResponse> {
  if (onDeviceCode === undefined) throw oauthError('The device code flow requires oauth.onDeviceCode')
  if (server.deviceAuthorizationUrl === undefined)
    throw oauthError('No device authorization endpoint is known: set oauth.deviceAuthorizationUrl or oauth.metadataUrl')
  const askedAt = time.now()
  const grant = await post(server, server.deviceAuthorizationUrl, form, signal)
  const code = grant['device_code']
  if (typeof code !== 'string') throw oauthError('The authorization server returned no device_code')
  const prompt = promptOf(grant, askedAt)
  onDeviceCode(prompt)

  let interval = parseSeconds(grant['interval']) ?? intervalSeconds
  for (;;) {
    await time.sleep(interval * 1000, signal)
    // The server knows the exact end, but might never report it.
    if (time.now() > prompt.expiresAt.getTime())
      throw oauthError('The device code expired before it was used', { oauthError: 'expired_token' })
    try {
      return await post(server, server.tokenUrl, { grant_type: deviceCodeGrant, device_code: code }, signal)
    } catch (reason) {
      const error = oauthErrorOf(reason)
      if (error === 'slow_down') interval += intervalSeconds
      // The polling interval grows while the server is unreachable (RFC 8628 §3.5).
      else if (reason instanceof A2AError && reason.retryable) interval = Math.max(interval, 1) * 2
      else if (error !== 'authorization_pending') throw reason
    }
  }
}

function promptOf(grant: OAuthResponse, askedAt: number): DeviceCodePrompt {
  const userCode = grant['user_code']
  // Some servers still send `url`, as the drafts did.
  const uri = httpLink(grant['verification_uri'] ?? grant['verification_url'])
  if (typeof userCode !== 'string' || uri === undefined)
    throw oauthError('The authorization server returned no user_code or no verification_uri')
  const complete = httpLink(grant['verification_uri_complete'])
  const lifetime = Math.min(parseSeconds(grant['expires_in']) ?? maxLifetimeSeconds, maxLifetimeSeconds)
  return {
    userCode,
    verificationUri: uri,
    ...(complete !== undefined && { verificationUriComplete: complete }),
    expiresAt: new Date(askedAt + lifetime * 1000),
  }
}

/** A user interface may show this as a link, so only http and https pass. */
function httpLink(value: unknown): string | undefined {
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined
  return url?.protocol === 'https:' || url?.protocol === 'http:' ? (value as string) : undefined
}

/** Seconds; some servers write numbers as strings. */
function parseSeconds(value: unknown): number | undefined {
  const number = typeof value === 'string' && value !== '' ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) && number >= 0 ? number : undefined
}
