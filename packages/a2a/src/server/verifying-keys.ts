/**
 * Keys of others that we verify JWTs with: a list that was given, or one that is fetched and kept. A key that we do not
 * know yet is looked for again, but not more often than the cooldown allows.
 */
import type { JSONWebKeySet, JWTVerifyGetKey, RemoteJWKSet } from 'jose'
import { A2AError } from '../model/error.ts'
import type { FetchHandler } from './fetch.ts'
import { readJsonText } from './remote-json.ts'

export interface KeySource {
  readonly jwks: string | URL | JSONWebKeySet
  readonly cooldownMs: number
  readonly fetch?: FetchHandler | undefined
  /** Whether an unknown key is UNAVAILABLE during the cooldown, for senders that try again later. Default false. */
  readonly unknownIsUnavailable?: boolean
}

/** With a shared secret, whoever can verify could also have signed. */
export const asymmetric: readonly string[] = [
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
/** How long a key server that did not answer is left alone. */
const pauseMs = 1_000
/** Less is the clock being adjusted slowly. */
const smallestStepMs = 1_000

export interface VerifyingKeys {
  /** Rejects with UNAVAILABLE where it was not the JWT that failed, but our look for its key. */
  ask<T>(verify: (key: JWTVerifyGetKey) => Promise<T>): Promise<T>
}

export async function openKeys({
  jwks,
  cooldownMs,
  fetch,
  unknownIsUnavailable = false,
}: KeySource): Promise<VerifyingKeys> {
  const { createLocalJWKSet, createRemoteJWKSet, customFetch, errors } = await import('jose')
  if (typeof jwks === 'object' && 'keys' in jwks) {
    const local = createLocalJWKSet(jwks)
    return { ask: (verify) => verify(local) }
  }
  const remote: RemoteJWKSet = createRemoteJWKSet(new URL(jwks), {
    cooldownDuration: cooldownMs,
    [customFetch]: patiently(fetch ?? globalThis.fetch),
  })
  let lastUsedAt = Date.now()

  /**
   * jose measures the age of its keys by the wall clock: after a step back it would not fetch a new key for as long as the
   * step was.
   */
  async function reloadAfterStepBack(): Promise<void> {
    const at = Date.now()
    if (at < lastUsedAt - smallestStepMs) await remote.reload()
    lastUsedAt = at
  }

  return {
    async ask(verify) {
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
        // No key was looked up, or none of the keys fits: the JWT is not good. A key that is newer than
        // what we have is found after the cooldown; until then a made-up key id must not look like an outage of ours.
        const isTheirs =
          failed === undefined ||
          failed instanceof errors.JWKSMultipleMatchingKeys ||
          (failed instanceof errors.JWKSNoMatchingKey && !mayBeNewer)
        if (isTheirs || failed instanceof errors.JOSENotSupported) throw reason
        throw new A2AError('UNAVAILABLE', 'The keys to verify this with are not to be had now', {}, { cause: reason })
      }
    },
  }
}

/** Leaves a key server alone for a moment that did not answer well: the cooldown counts from good answers only. */
function patiently(fetch: FetchHandler): (url: string, init: RequestInit) => Promise<Response> {
  let pausedUntil = -Infinity
  return async (url, init) => {
    if (performance.now() < pausedUntil) throw new Error(`${url} did not answer a moment ago`)
    try {
      const response = await fetch(new Request(url, init))
      if (response.status !== 200) {
        pausedUntil = performance.now() + pauseMs
        return response
      }
      // jose parses whatever comes, of any size.
      return new Response(await readJsonText(response), { status: 200, headers: response.headers })
    } catch (reason) {
      pausedUntil = performance.now() + pauseMs
      throw reason
    }
  }
}
