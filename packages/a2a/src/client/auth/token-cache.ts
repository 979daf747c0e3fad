/** Where tokens are kept, under which key, and how long a token is usable. */
import type { StoredToken, TokenCache } from '../contract.ts'

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
export interface TokenIdentity {
  readonly tokenUrl: string
  readonly clientId: string
  readonly flow: string
  readonly scopes: readonly string[]
  readonly audience?: string | undefined
  readonly resource?: string | undefined
}

export function tokenCacheKey({
  tokenUrl,
  clientId,
  flow,
  scopes,
  audience = '',
  resource = '',
}: TokenIdentity): string {
  return JSON.stringify([tokenUrl, clientId, flow, scopes.toSorted().join(' '), audience, resource])
}

/**
 * A token is renewed at most this long before it expires: the request that carries it takes time, and clocks differ.
 */
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
