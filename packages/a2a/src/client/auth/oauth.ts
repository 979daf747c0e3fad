/**
 * Access tokens by OAuth 2, for machines (client credentials) and for people (device code). Loaded when a token is first
 * needed. A token is kept until shortly before it ends; then, or when the agent refuses it, it is renewed once for all
 * who wait: by its refresh token if it has one, else from the start.
 */
import type { SecurityScheme } from '../../model/card.ts'
import { A2AError } from '../../model/error.ts'
import type { AuthRequest, OAuthOptions, StoredToken } from '../contract.ts'
import { type AuthorizationServer, createServerFinder, type Flow } from './authorization-server.ts'
import { numberOf, signIn } from './device-code.ts'
import { jointly } from './joint.ts'
import { usable, keyOf, memoryTokens, renewalTime } from './token-cache.ts'
import { type Answer, createTokenClient, type Form, oauthErrorOf, type Time, type TokenParts } from './token-request.ts'

/** A token for this request, or none after a refusal that another one would not change. */
export type Tokens = (
  request: AuthRequest,
  /** Of the card, if it has one for us; and the scopes its requirement lists. */
  scheme: SecurityScheme | undefined,
  scopes: readonly string[],
) => Promise<string | undefined>

/** A person who has just signed in is not asked again because the agent refuses what came of it. */
const justNowMs = 60_000

export function createTokens(options: OAuthOptions, flow: Flow, parts: TokenParts): Tokens {
  const { clientId, audience, resource, cache = memoryTokens() } = options
  const time = parts.time ?? realTime
  const findServer = createServerFinder(options, flow, parts)
  const post = createTokenClient(options, parts)
  let lastSignIn: { readonly accessToken: string; readonly at: number } | undefined

  return async (request, scheme, required) => {
    const { signal } = request
    const server = await findServer(scheme, request.url, signal)
    const scopes = options.scopes ?? required
    const key = keyOf({ tokenUrl: server.tokenUrl, clientId, flow, scopes, audience, resource })
    const refused = bearerOf(request.refused?.sent?.headers)
    const token =
      usable(await cache.get(key), refused, time.now()) ??
      (await jointly(cache, key, signal, (signal) => renew(key, server, scopes, refused, signal)))
    return token?.accessToken
  }

  async function renew(
    key: string,
    server: AuthorizationServer,
    scopes: readonly string[],
    refused: string | undefined,
    signal: AbortSignal,
  ): Promise<StoredToken | undefined> {
    // Somebody may have been quicker: another call, or another process that shares the cache.
    const kept = await cache.get(key)
    const renewed = usable(kept, refused, time.now()) ?? (await refresh(key, server, kept?.refreshToken, signal))
    if (renewed !== undefined) return renewed
    await cache.set(key, undefined)
    if (
      flow === 'device-code' &&
      refused !== undefined &&
      refused === lastSignIn?.accessToken &&
      time.now() - lastSignIn.at < justNowMs
    )
      return undefined
    return keep(key, await begin(server, scopes, signal))
  }

  async function begin(
    server: AuthorizationServer,
    scopes: readonly string[],
    signal: AbortSignal,
  ): Promise<StoredToken> {
    const form: Form = { scope: scopes.length > 0 ? scopes.join(' ') : undefined, audience, resource }
    const askedAt = time.now()
    if (flow === 'client-credentials')
      return tokenOf(
        await post(server.tokenUrl, { grant_type: 'client_credentials', ...form }, server.methods, signal),
        askedAt,
      )
    const answer = await signIn(options, server, form, post, time, signal)
    const token = tokenOf(answer, time.now())
    lastSignIn = { accessToken: token.accessToken, at: time.now() }
    return token
  }

  /** `undefined`: there is no refresh token, or it is no good any more. */
  async function refresh(
    key: string,
    server: AuthorizationServer,
    refreshToken: string | undefined,
    signal: AbortSignal,
  ): Promise<StoredToken | undefined> {
    if (refreshToken === undefined) return undefined
    const askedAt = time.now()
    try {
      const form = { grant_type: 'refresh_token', refresh_token: refreshToken, resource }
      const answer = await post(server.refreshUrl, form, server.methods, signal)
      // Without a new one the old stays good (RFC 6749 §6).
      return await keep(key, { refreshToken, ...tokenOf(answer, askedAt) })
    } catch (reason) {
      if (oauthErrorOf(reason) !== 'invalid_grant') throw reason
    }
    // Used up, perhaps by another process that has put its successor into the cache.
    const kept = await cache.get(key)
    return kept?.refreshToken === refreshToken ? undefined : usable(kept, undefined, time.now())
  }

  async function keep(key: string, token: StoredToken): Promise<StoredToken> {
    await cache.set(key, token)
    return token
  }
}

function tokenOf(answer: Answer, askedAt: number): StoredToken {
  const { access_token: accessToken, refresh_token: refreshToken, token_type: type = 'bearer' } = answer
  if (typeof accessToken !== 'string' || accessToken === '')
    throw new A2AError('UNAUTHENTICATED', 'The authorization server gave no access_token')
  if (typeof type !== 'string' || type.toLowerCase() !== 'bearer')
    throw new A2AError('UNAUTHENTICATED', 'The authorization server gave a token that is not of the type Bearer')
  const lifetime = numberOf(answer['expires_in'])
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

const realTime: Time = {
  now: Date.now,
  wait: (ms, signal) =>
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
      // Whoever waits for the token keeps the process alive, and nobody else.
      if (typeof timer === 'object') (timer as { unref?(): void }).unref?.()
    }),
}
