/**
 * Which keys count (B-31, A-9): keys from the options, and keys from key sets whose URLs the options trust. A signature
 * may say where its key is, but then it chooses what vouches for it. Such a URL is used only on the card's own origin
 * or on a listed origin, and never if keys were given. Keys are fetched over TLS and without credentials.
 */
import { A2AError } from '../../model/error.ts'
import type { CardTrust, ClientLimits, Fetch } from '../contract.ts'
import { createHttpClient, responseOriginOf, readText } from '../http/http-client.ts'
import { checkJsonNodesIfLong } from '../http/read-text.ts'
import type { JwsHeader, JwsPublicKey } from './jws.ts'

export interface TrustedKey {
  readonly key: JwsPublicKey
  /** `given`, or the URL of the key set. */
  readonly from: string
}

export interface TrustedKeys {
  /** Returns the keys with the id in the header. Throws, with the reason, if there can be none. */
  find(header: JwsHeader, cardFrom: URL | undefined, signal: AbortSignal): Promise<readonly TrustedKey[]>
}

export interface TrustedKeysDeps {
  readonly trust: CardTrust
  readonly fetch: Fetch
  readonly limits: Pick<ClientLimits, 'cardTimeoutMs' | 'maxCardBytes'> & Partial<Pick<ClientLimits, 'maxJsonNodes'>>
  readonly monotonicNow: () => number
}

interface CachedKeySet {
  readonly keys: readonly JwsPublicKey[]
  readonly at: number
}

/** How long a key set is fresh, and how soon it is fetched again for a key that it lacks. */
const freshMs = 300_000
const refetchMs = 30_000
/** One cache per `fetch`, as for cards. */
const keySetCaches = new WeakMap<Fetch, Map<string, CachedKeySet>>()
const maxKeySets = 64

export function createTrustedKeys({ trust, fetch, limits, monotonicNow }: TrustedKeysDeps): TrustedKeys {
  const given = [trust.keys ?? []]
    .flat()
    .flatMap((one) => ('keys' in one ? (one.keys as readonly JwsPublicKey[]) : one))
  const urls = [trust.jwks ?? []].flat().map(String)
  const isPinned = trust.keys !== undefined || trust.jwks !== undefined
  const http = createHttpClient({ fetch, limits: { timeoutMs: limits.cardTimeoutMs, maxRedirects: 0 } })
  const cache = keySetCaches.get(fetch) ?? new Map<string, CachedKeySet>()
  keySetCaches.set(fetch, cache)

  return {
    async find({ kid, jku }, cardFrom, signal) {
      const withKid = (keys: readonly JwsPublicKey[]): readonly JwsPublicKey[] => keys.filter((key) => key.kid === kid)
      const found: TrustedKey[] = withKid(given).map((key) => ({ key, from: 'given' }))
      const follow = jku !== undefined && !urls.includes(jku) && mayFollow(jku, cardFrom)
      for (const url of follow ? [...urls, jku] : urls) {
        for (const key of await keysAt(url, withKid, signal)) found.push({ key, from: url })
      }
      if (found.length > 0) return found
      if (isPinned || follow) throw new Error(`no trusted key has the id ${kid.slice(0, 100)}`)
      throw new Error(jku === undefined ? 'it does not name the URL of its key' : 'its key URL is not trusted')
    },
  }

  function mayFollow(jku: string, cardFrom: URL | undefined): boolean {
    if (!URL.canParse(jku)) return false
    const { origin, protocol, hostname } = new URL(jku)
    if (protocol !== 'https:' && !(protocol === 'http:' && isLoopback(hostname))) return false
    if (trust.origins?.some((one) => URL.canParse(one) && new URL(one).origin === origin) === true) return true
    return !isPinned && origin === cardFrom?.origin
  }

  async function keysAt(
    url: string,
    withKid: (keys: readonly JwsPublicKey[]) => readonly JwsPublicKey[],
    signal: AbortSignal,
  ): Promise<readonly JwsPublicKey[]> {
    const known = cache.get(url)
    const age = known === undefined ? Infinity : monotonicNow() - known.at
    if (known !== undefined && age < freshMs && (withKid(known.keys).length > 0 || age < refetchMs))
      return withKid(known.keys)
    const keys = await fetchKeySet(url, signal)
    cache.delete(url)
    cache.set(url, { keys, at: monotonicNow() })
    for (const oldest of cache.keys()) if (cache.size > maxKeySets) cache.delete(oldest)
    return withKid(keys)
  }

  async function fetchKeySet(url: string, signal: AbortSignal): Promise<readonly JwsPublicKey[]> {
    const headers = { accept: 'application/jwk-set+json, application/json' }
    const response = await http.send({ method: 'GET', url, headers, signal })
    const text = await readText(response, limits.maxCardBytes, signal, limits.cardTimeoutMs)
    await checkJsonNodesIfLong(text, limits)
    // A browser follows redirects by itself; the final origin is known only afterwards.
    const cameFrom = responseOriginOf(response)?.url.origin
    const document = response.ok && cameFrom === new URL(url).origin ? parse(text) : undefined
    if (!Array.isArray(document?.keys)) {
      throw new A2AError('UNAVAILABLE', `${url} returned no key set (HTTP ${response.status})`)
    }
    return document.keys.filter((key): key is JwsPublicKey => typeof key === 'object' && key !== null)
  }
}

function parse(text: string): { readonly keys?: unknown } | undefined {
  try {
    return JSON.parse(text) as { readonly keys?: unknown }
  } catch {
    return undefined
  }
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname)
}
