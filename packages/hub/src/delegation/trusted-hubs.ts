/** The hubs whose tokens are accepted, and their keys. */
import { createLocalJWKSet, createRemoteJWKSet, customFetch } from 'jose'
import type { JSONWebKeySet, JWTVerifyGetKey } from 'jose'

export interface TrustedHub {
  /** Its issuer name in tokens. */
  readonly issuer: string
  /** The URL of its keys, or the keys. */
  readonly jwks: string | { readonly keys: readonly object[] }
}

export interface TrustedHubs {
  keysOf(issuer: string): JWTVerifyGetKey | undefined
  has(issuer: string): boolean
}

export interface TrustedHubsDeps {
  readonly hubs: readonly TrustedHub[]
  /** This hub: its own tokens may come back. */
  readonly own: { readonly issuer: string; jwks(): Promise<{ readonly keys: readonly object[] }> }
  readonly fetch: typeof fetch
}

const timeoutMs = 5_000
/** A hub publishes a key for an hour before it signs with it. */
const cacheMs = 600_000
const cooldownMs = 10_000

export function createTrustedHubs({ hubs, own, fetch }: TrustedHubsDeps): TrustedHubs {
  const keys = new Map<string, JWTVerifyGetKey>(hubs.map((hub) => [hub.issuer, keysOf(hub, fetch)]))
  keys.set(own.issuer, async (header, token) => createLocalJWKSet((await own.jwks()) as JSONWebKeySet)(header, token))
  return { keysOf: (issuer) => keys.get(issuer), has: (issuer) => keys.has(issuer) }
}

function keysOf({ jwks }: TrustedHub, fetch: typeof globalThis.fetch): JWTVerifyGetKey {
  if (typeof jwks !== 'string') return createLocalJWKSet(jwks as JSONWebKeySet)
  return createRemoteJWKSet(new URL(jwks), {
    timeoutDuration: timeoutMs,
    cacheMaxAge: cacheMs,
    cooldownDuration: cooldownMs,
    [customFetch]: fetch,
  })
}
