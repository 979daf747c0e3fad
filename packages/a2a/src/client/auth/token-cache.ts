/** Where tokens are kept, under which name, and for how long one is good. */
import type { StoredToken, TokenCache } from '../contract.ts'

export function memoryTokens(): TokenCache {
  const kept = new Map<string, StoredToken>()
  return {
    get: (key) => kept.get(key),
    set(key, token) {
      if (token === undefined) kept.delete(key)
      else kept.set(key, token)
    },
  }
}

/** What makes one token another: who gives it, to whom, and for what. */
export interface TokenName {
  readonly tokenUrl: string
  readonly clientId: string
  readonly flow: string
  readonly scopes: readonly string[]
  readonly audience?: string | undefined
  readonly resource?: string | undefined
}

export function keyOf({ tokenUrl, clientId, flow, scopes, audience = '', resource = '' }: TokenName): string {
  return JSON.stringify([tokenUrl, clientId, flow, scopes.toSorted().join(' '), audience, resource])
}

/** The request that carries a token needs time, and clocks differ: at most this much before its end it is renewed. */
const mostEarlyMs = 30_000

export function renewalTime(askedAt: number, lifetimeSeconds: number): number {
  const lifetimeMs = lifetimeSeconds * 1000
  return askedAt + lifetimeMs - Math.min(mostEarlyMs, lifetimeMs / 10)
}

/** The token, if it can be shown now and is not the one that was refused. */
export function usable(
  token: StoredToken | undefined,
  refused: string | undefined,
  now: number,
): StoredToken | undefined {
  if (token === undefined || token.accessToken === '' || token.accessToken === refused) return undefined
  return (token.expiresAt ?? Infinity) > now ? token : undefined
}
