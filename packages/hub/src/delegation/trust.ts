/** The hubs whose tokens count, and the keys by which to know them. */
import { createLocalJWKSet, createRemoteJWKSet, customFetch } from 'jose'
import type { JSONWebKeySet, JWTVerifyGetKey } from 'jose'

export interface TrustedHub {
  /** As it calls itself in tokens. */
  readonly issuer: string
  /** Where its keys are published, or the keys. */
  readonly jwks: string | { readonly keys: readonly object[] }
}

export interface Trust {
  keysOf(issuer: string): JWTVerifyGetKey | undefined
  has(issuer: string): boolean
}

export interface TrustParts {
  readonly hubs: readonly TrustedHub[]
  /** This one: what goes out may come back. */
  readonly own: { readonly issuer: string; jwks(): Promise<{ readonly keys: readonly object[] }> }
  readonly fetch: typeof fetch
}

const timeoutMs = 5_000
/** A hub publishes a key for an hour before it signs with it. */
const keptMs = 600_000
const pauseMs = 10_000

export function createTrust({ hubs, own, fetch }: TrustParts): Trust {
  const keys = new Map<string, JWTVerifyGetKey>(hubs.map((hub) => [hub.issuer, keysOf(hub, fetch)]))
  keys.set(own.issuer, async (header, token) => createLocalJWKSet((await own.jwks()) as JSONWebKeySet)(header, token))
  return { keysOf: (issuer) => keys.get(issuer), has: (issuer) => keys.has(issuer) }
}

function keysOf({ jwks }: TrustedHub, fetch: typeof globalThis.fetch): JWTVerifyGetKey {
  if (typeof jwks !== 'string') return createLocalJWKSet(jwks as JSONWebKeySet)
  return createRemoteJWKSet(new URL(jwks), {
    timeoutDuration: timeoutMs,
    cacheMaxAge: keptMs,
    cooldownDuration: pauseMs,
    [customFetch]: fetch,
  })
}
