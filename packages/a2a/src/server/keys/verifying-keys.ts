/**
 * Keys for verifying JWTs of other servers: a configured list, or one that is fetched and cached. An unknown key triggers another
 * fetch, but not more often than the cooldown allows.
 */
import type { JSONWebKeySet, JWTVerifyGetKey, RemoteJWKSet } from 'jose'
import { A2AError } from '../../model/error.ts'
import type { FetchHandler } from '../http/fetch-adapter.ts'
import { readJsonText } from './json-response.ts'

export interface KeySource {
  readonly jwks: string | URL | JSONWebKeySet
  readonly cooldownMs: number
  readonly fetch?: FetchHandler | undefined
  /** Whether an unknown key is UNAVAILABLE during the cooldown, for senders that retry. Default false. */
  readonly unknownIsUnavailable?: boolean
}

/** With a shared secret, every verifier could also sign. */
export const asymmetricAlgorithms: readonly string[] = [
  'ES256',
  'ES384',
  'ES512',
  'Ed25519',
  'EdDSA',
  'PS256',
  'PS384',
  'PS512',
  'RS256',
  'RS384',
  'RS512',
]
/** Pause after a failed request to a key server. */
const pauseMs = 1_000
/** A smaller step is the clock being adjusted slowly. */
const smallestStepMs = 1_000

export interface VerifyingKeys {
  /** Rejects with UNAVAILABLE if fetching the key failed, and not the JWT. */
  verifyWith<T>(verify: (key: JWTVerifyGetKey) => Promise<T>): Promise<T>
}

export async function openVerifyingKeys({
  jwks,
  cooldownMs,
  fetch,
  unknownIsUnavailable = false,
}: KeySource): Promise<VerifyingKeys> {
  const { createLocalJWKSet, createRemoteJWKSet, customFetch, errors } = await import('jose')
  if (typeof jwks === 'object' && 'keys' in jwks) {
    const local = createLocalJWKSet(jwks)
    return { verifyWith: (verify) => verify(local) }
  }
  const remote: RemoteJWKSet = createRemoteJWKSet(new URL(jwks), {
    cooldownDuration: cooldownMs,
    [customFetch]: withCooldown(fetch ?? globalThis.fetch),
  })
  let lastUsedAt = Date.now()

  /**
   * jose measures the age of its keys by the wall clock: after a step back it would not fetch a new key until the clock has caught
   * up.
   */
  async function reloadAfterStepBack(): Promise<void> {
    const at = Date.now()
    if (at < lastUsedAt - smallestStepMs) await remote.reload()
    lastUsedAt = at
  }

  return {
    async verifyWith(verify) {
      await reloadAfterStepBack().catch(() => {})
      const mayBeNewer = unknownIsUnavailable && remote.coolingDown
      let failed: unknown
      const getKey: JWTVerifyGetKey = async (header, token) => {
        try {
          return await remote(header, token)
        } catch (reason) {
          failed = reason
          throw reason
        }
      }
      try {
        return await verify(getKey)
      } catch (reason) {
        // No key was looked up, or none of the keys matches: the JWT is invalid. A newer key is found after the cooldown; until
        // then an invented key id must not look like an outage of this server.
        const isTheirs =
          failed === undefined ||
          failed instanceof errors.JWKSMultipleMatchingKeys ||
          (failed instanceof errors.JWKSNoMatchingKey && !mayBeNewer)
        if (isTheirs || failed instanceof errors.JOSENotSupported) throw reason
        throw new A2AError('UNAVAILABLE', 'The keys for verification are unavailable', {}, { cause: reason })
      }
    },
  }
}

/** Pauses requests to a key server after a bad response: the cooldown counts from good responses only. */
function withCooldown(fetch: FetchHandler): (url: string, init: RequestInit) => Promise<Response> {
  let pausedUntil = -Infinity
  return async (url, init) => {
    if (performance.now() < pausedUntil) throw new Error(`${url} failed a moment ago`)
    try {
      const response = await fetch(new Request(url, init))
      if (response.status !== 200) {
        pausedUntil = performance.now() + pauseMs
        return response
      }
      // jose parses a response of any size.
      return new Response(await readJsonText(response), { status: 200, headers: response.headers })
    } catch (reason) {
      pausedUntil = performance.now() + pauseMs
      throw reason
    }
  }
}
