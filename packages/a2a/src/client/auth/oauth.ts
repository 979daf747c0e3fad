/**
 * OAuth 2 access tokens, for machines (client credentials) and for people (device code). Loaded when a token is first
 * needed. A token is kept until shortly before it expires. When it expires, or when the agent refuses it, it is renewed
 * once for all waiting calls: with its refresh token if it has one, otherwise from the start.
 */
import type { SecurityScheme } from '../../model/card.ts'
import { A2AError } from '../../model/error.ts'
import type { AuthRequest, OAuthOptions, StoredToken, TokenOrigin } from '../contract.ts'
import { type AuthorizationServer, createAuthorizationServerFinder, type OAuthFlow } from './authorization-server.ts'
import { parseSeconds, signInWithDeviceCode } from './device-code.ts'
import { singleFlight } from '../../model/signals.ts'
import { usableToken, tokenCacheKey, memoryTokenCache, renewalTime } from './token-cache.ts'
import type { OAuthResponse, OAuthForm, OAuthClock, TokenDeps } from './token-request.ts'
import { createOAuthPost, oauthErrorOf } from './token-request.ts'

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
      (await singleFlight(cache, key, signal, (signal) => renew(key, server, scopes, refused, signal)))
    return token?.accessToken
  }

  async function renew(
    key: string,
    server: AuthorizationServer,
    scopes: readonly string[],
    refused: string | undefined,
    signal: AbortSignal,
  ): Promise<StoredToken | undefined> {
    // Another call, or another process that shares the cache, may have renewed the token already.
    const kept = await cache.get(key)
    const { tokenUrl, refreshUrl } = server
    const source: TokenOrigin = { tokenUrl, refreshUrl, clientId, flow, scopes }
    const renewed =
      usableToken(kept, refused, time.now()) ?? (await refresh(key, server, source, kept?.refreshToken, signal))
    if (renewed !== undefined) return renewed
    await cache.set(key, undefined, source)
    if (
      flow === 'device-code' &&
      refused !== undefined &&
      refused === lastSignIn?.accessToken &&
      time.now() - lastSignIn.at < recentSignInMs
    )
      return undefined
    return keep(key, await begin(server, scopes, signal), source)
  }

  async function begin(
    server: AuthorizationServer,
    scopes: readonly string[],
    signal: AbortSignal,
  ): Promise<StoredToken> {
    const form: OAuthForm = { scope: scopes.length > 0 ? scopes.join(' ') : undefined, audience, resource }
    const askedAt = time.now()
    if (flow === 'client-credentials')
      return tokenOf(
        await post(server.tokenUrl, { grant_type: 'client_credentials', ...form }, server.methods, signal),
        askedAt,
      )
    const answer = await signInWithDeviceCode(options, server, form, post, time, signal)
    const token = tokenOf(answer, time.now())
    lastSignIn = { accessToken: token.accessToken, at: time.now() }
    return token
  }

  /** `undefined`: there is no refresh token, or it is no longer valid. */
  async function refresh(
    key: string,
    server: AuthorizationServer,
    source: TokenOrigin,
    refreshToken: string | undefined,
    signal: AbortSignal,
  ): Promise<StoredToken | undefined> {
    if (refreshToken === undefined) return undefined
    const askedAt = time.now()
    try {
      const form = { grant_type: 'refresh_token', refresh_token: refreshToken, resource }
      const answer = await post(server.refreshUrl, form, server.methods, signal)
      // If the response has no new refresh token, the old one stays valid (RFC 6749 §6).
      return await keep(key, { refreshToken, ...tokenOf(answer, askedAt) }, source)
    } catch (reason) {
      if (oauthErrorOf(reason) !== 'invalid_grant') throw reason
    }
    // The refresh token was used already, perhaps by another process that has put its successor into the cache.
    const kept = await cache.get(key)
    return kept?.refreshToken === refreshToken ? undefined : usableToken(kept, undefined, time.now())
  }

  async function keep(key: string, token: StoredToken, source: TokenOrigin): Promise<StoredToken> {
    await cache.set(key, token, source)
    return token
  }
}

function tokenOf(answer: OAuthResponse, askedAt: number): StoredToken {
  const { access_token: accessToken, refresh_token: refreshToken, token_type: type = 'bearer' } = answer
  if (typeof accessToken !== 'string' || accessToken === '')
    throw new A2AError('UNAUTHENTICATED', 'The authorization server returned no access_token')
  if (typeof type !== 'string' || type.toLowerCase() !== 'bearer')
    throw new A2AError('UNAUTHENTICATED', 'The authorization server returned a token whose type is not Bearer')
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
