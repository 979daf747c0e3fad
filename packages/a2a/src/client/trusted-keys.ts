/**
 * Whose keys count (B-31, A-9): those that we were given, and those that a place publishes which we were told to trust.
 * A signature may say where its key is, but then it chooses who vouches for it; that is followed only to the card's own
 * origin, or to one that was listed, and not at all where keys were given. Keys come over TLS and as nobody in particular.
 */
import { A2AError } from '../model/error.ts'
import type { CardTrust, ClientLimits, Fetch } from './contract.ts'
import { createHttp, originOf, readText } from './http.ts'
import { checkLongText } from './read-text.ts'
import type { JwsHeader, PublicKey } from './jws.ts'

export interface TrustedKey {
  readonly key: PublicKey
  /** `given`, or the address of the list it is in. */
  readonly from: string
}

export interface KeyRing {
  /** Those that go by the name the header has. Throws, with the reason, where there can be none. */
  find(header: JwsHeader, cardFrom: URL | undefined, signal: AbortSignal): Promise<readonly TrustedKey[]>
}

export interface KeyRingParts {
  readonly trust: CardTrust
  readonly fetch: Fetch
  readonly limits: Pick<ClientLimits, 'cardTimeoutMs' | 'maxCardBytes'> & Partial<Pick<ClientLimits, 'maxJsonNodes'>>
  readonly monotonicNow: () => number
}

interface FetchedKeys {
  readonly keys: readonly PublicKey[]
  readonly at: number
}

/** How long a list counts, and how soon it is fetched again for a key that it does not have. */
const freshMs = 300_000
const againMs = 30_000
/** By `fetch`, like the cards. */
const lists = new WeakMap<Fetch, Map<string, FetchedKeys>>()
const maxLists = 64

export function createKeyRing({ trust, fetch, limits, monotonicNow }: KeyRingParts): KeyRing {
  const given = [trust.keys ?? []].flat().flatMap((one) => ('keys' in one ? (one.keys as readonly PublicKey[]) : one))
  const places = [trust.jwks ?? []].flat().map(String)
  const isPinned = trust.keys !== undefined || trust.jwks !== undefined
  const http = createHttp({ fetch, limits: { timeoutMs: limits.cardTimeoutMs, maxRedirects: 0 } })
  const kept = lists.get(fetch) ?? new Map<string, FetchedKeys>()
  lists.set(fetch, kept)

  return {
    async find({ kid, jku }, cardFrom, signal) {
      const named = (keys: readonly PublicKey[]): readonly PublicKey[] => keys.filter((key) => key.kid === kid)
      const found: TrustedKey[] = named(given).map((key) => ({ key, from: 'given' }))
      const follow = jku !== undefined && !places.includes(jku) && mayFollow(jku, cardFrom)
      for (const place of follow ? [...places, jku] : places) {
        for (const key of await listed(place, named, signal)) found.push({ key, from: place })
      }
      if (found.length > 0) return found
      if (isPinned || follow) throw new Error(`no key that is trusted is called ${kid.slice(0, 100)}`)
      throw new Error(
        jku === undefined ? 'it does not say where its key is' : 'its key is where no key is trusted to come from',
      )
    },
  }

  function mayFollow(jku: string, cardFrom: URL | undefined): boolean {
    if (!URL.canParse(jku)) return false
    const { origin, protocol, hostname } = new URL(jku)
    if (protocol !== 'https:' && !(protocol === 'http:' && isLoopback(hostname))) return false
    if (trust.origins?.some((one) => URL.canParse(one) && new URL(one).origin === origin) === true) return true
    return !isPinned && origin === cardFrom?.origin
  }

  async function listed(
    place: string,
    named: (keys: readonly PublicKey[]) => readonly PublicKey[],
    signal: AbortSignal,
  ): Promise<readonly PublicKey[]> {
    const known = kept.get(place)
    const age = known === undefined ? Infinity : monotonicNow() - known.at
    if (known !== undefined && age < freshMs && (named(known.keys).length > 0 || age < againMs))
      return named(known.keys)
    const keys = await load(place, signal)
    kept.delete(place)
    kept.set(place, { keys, at: monotonicNow() })
    for (const oldest of kept.keys()) if (kept.size > maxLists) kept.delete(oldest)
    return named(keys)
  }

  async function load(place: string, signal: AbortSignal): Promise<readonly PublicKey[]> {
    const headers = { accept: 'application/jwk-set+json, application/json' }
    const response = await http.send({ method: 'GET', url: place, headers, signal })
    const text = await readText(response, limits.maxCardBytes, signal, limits.cardTimeoutMs)
    await checkLongText(text, limits)
    // A browser follows by itself, and tells afterwards.
    const cameFrom = originOf(response)?.url.origin
    const document = response.ok && cameFrom === new URL(place).origin ? parse(text) : undefined
    if (!Array.isArray(document?.keys)) {
      throw new A2AError('UNAVAILABLE', `${place} answers with no list of keys (HTTP ${response.status})`)
    }
    return document.keys.filter((key): key is PublicKey => typeof key === 'object' && key !== null)
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
