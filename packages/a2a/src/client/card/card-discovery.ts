/**
 * Finds the card of an agent. The target is the base URL of the agent, the URL of the card, or the card itself. This
 * file handles the common case; the other cases are loaded when they are needed.
 */
import type { AgentCard } from '../../model/card.ts'
import { A2AError } from '../../model/error.ts'
import type { VersionId } from '../../versions/index.ts'
import { newestVersion } from '../../versions/version-loaders.ts'
import { parseHttpUrl, urlWithoutQuery } from '../http/http-url.ts'
import { authenticatorFromOptions } from '../auth/authenticator.ts'
import { cardCacheOf, type CachedCard } from './card-cache.ts'
import type { CardSearchDeps } from './card-search.ts'
import type { CardVerifier } from './card-signature.ts'
import type { CardSignature, ClientLimits, ConnectOptions } from '../contract.ts'
import { createHttpClient, responseOriginOf, platformFetch, type AuthenticatedHttpClient } from '../http/http-client.ts'
import { defaultClientLimits } from '../call-options.ts'
import { singleFlight } from '../../model/signals.ts'

export { clearCardCache } from './card-cache.ts'

export interface FetchCardDeps extends CardSearchDeps {
  readonly http: AuthenticatedHttpClient
  /**
   * The version to request from a peer that has one card per version. Default: the newest, which lists the interfaces
   * of all versions (B-1).
   */
  readonly version?: VersionId | undefined
  readonly now?: () => number
}

interface FetchedCard {
  readonly card: AgentCard
  readonly entry: CachedCard | undefined
  /** The identity under which the card was fetched. */
  readonly identity: string
}

export async function fetchCard(target: string | URL | object, parts: FetchCardDeps): Promise<AgentCard> {
  if (typeof target === 'object' && !(target instanceof URL))
    return (await import('./read-card.ts')).cardFromDocument(target)
  const { http, limits, version = newestVersion, signal = new AbortController().signal, now = Date.now } = parts
  let address = String(target)
  // Without a scheme, or with a password: rare, so it loads the code.
  if (!/^https?:[^@]*$/.test(address)) address = (await import('./card-search.ts')).httpUrlOf(address)
  const url = parseHttpUrl(address)
  const cache = cardCacheOf(http.fetch)
  const identity = await http.identify({ url: url.href, signal })
  const keyOf = (...location: string[]): string => JSON.stringify([version, ...location])
  const base = urlWithoutQuery(url).replace(/\/+$/, '')

  // The key is the requested address, so that a search is not repeated either.
  const requestedAddress = [base, url.search]
  const known = cache.get(keyOf(identity, ...requestedAddress))
  if (known && known.freshUntil > now()) return known.card
  const first = base.endsWith('.json') ? url.href : `${base}/.well-known/agent-card.json`
  const {
    card,
    entry,
    identity: identityKey,
  } = await fetchAt(first).catch(async (reason: unknown) => {
    // The card can be at another path only if the server has answered with something else.
    if (!(reason instanceof A2AError && reason.details['status'])) throw reason
    const { searchCardLocations } = await import('./card-search.ts')
    return searchCardLocations(reason, first, url, fetchAt, parts)
  })
  cache.set(keyOf(identityKey, ...requestedAddress), entry, now())
  return card

  function fetchAt(location: string): Promise<FetchedCard> {
    return singleFlight(cache, keyOf(identity, location), signal, (shared) => load(location, shared))
  }

  async function load(location: string, shared: AbortSignal): Promise<FetchedCard> {
    const stale = cache.get(keyOf(identity, location))
    const sentAt = now()
    if (stale && stale.freshUntil > sentAt) return { card: stale.card, entry: stale, identity }
    // Load the code that reads the response while the response is on its way.
    const readCardModule = import('./read-card.ts')
    readCardModule.catch(() => {})
    const etag = stale?.storedHeaders.get('etag')
    const modified = stale?.storedHeaders.get('last-modified')
    const response = await http.send({
      method: 'GET',
      url: location,
      headers: {
        accept: 'application/json',
        'A2A-Version': version,
        ...(etag && { 'If-None-Match': etag }),
        ...(modified && { 'If-Modified-Since': modified }),
      },
      signal: shared,
      timeoutMs: limits.cardTimeoutMs,
    })
    const { url: from, identity: identityKey } = responseOriginOf(response) ?? { url, identity }
    const { createCachedCard, readCard } = await readCardModule
    const confirmed = response.status === 304 ? stale : undefined
    const card = confirmed?.card ?? (await readCard(response, from, { ...parts, signal: shared }))
    const entry = createCachedCard(card, response, sentAt, now(), confirmed)
    cache.set(keyOf(identityKey, location), entry, now())
    return { card, entry, identity: identityKey }
  }
}

export interface DiscoveredCard {
  readonly card: AgentCard
  readonly signature?: CardSignature | undefined
  /** Verifies the signatures of cards, if verification is enabled. */
  readonly verifyCard?: CardVerifier | undefined
}

/** The limits of the options, and the HTTP client that they describe. */
export function httpFromOptions(options: ConnectOptions): {
  readonly http: AuthenticatedHttpClient
  readonly limits: ClientLimits
} {
  const { fetch = platformFetch, headers } = options
  const limits = { ...defaultClientLimits, ...options.limits }
  const authenticate = authenticatorFromOptions(options, { fetch, limits })
  return { http: createHttpClient({ fetch, authenticate, limits, headers }), limits }
}

/** Fetches the card and verifies it as the options require. */
export async function fetchAndVerifyCard(
  target: string | URL | object,
  options: ConnectOptions,
  parts: Pick<FetchCardDeps, 'http' | 'limits'>,
): Promise<DiscoveredCard> {
  const { verify = 'off', version, log, onRetry, signal } = options
  const isOff = verify === 'off'
  // A signature covers the newest card, which lists all interfaces; 0.x has no rule for signatures.
  const card = await fetchCard(target, { ...parts, signal, version: isOff ? version : undefined, log, onRetry })
  if (isOff) return { card }
  const { createCardVerifier } = await import('./card-signature.ts')
  const check = createCardVerifier({ options, fetch: parts.http.fetch, limits: parts.limits, log })
  return { ...(await check(card, signal)), verifyCard: check }
}

/** A card as `fetchCardDocument` returns it. */
export interface CardDocument {
  readonly card: AgentCard
  /** The JSON document that the card was read from, with every field as it was sent. */
  readonly document: Readonly<Record<string, unknown>>
  /** Where it was found, after redirects; `undefined` if the caller passed the card. */
  readonly url: string | undefined
  /** The result of the signature check, if `verify` enables it. */
  readonly signature: CardSignature
}

/**
 * Fetches the card of an agent with the options of `connect`, and returns it with its document. Unlike `connect` it needs no interface
 * that this client can call. Throws the errors of `connect`; for an invalid card, `cause.document` is what was read.
 *
 * @example
 * ```ts
 * const { card, url, signature } = await fetchCardDocument('https://agent.example.com', { verify: 'warn' })
 * console.log(card.name, url, signature.status)
 * ```
 */
export async function fetchCardDocument(
  target: string | URL | object,
  options: ConnectOptions = {},
): Promise<CardDocument> {
  const parts = httpFromOptions(options)
  const { card, signature = { status: 'unchecked' } } = await fetchAndVerifyCard(target, options, parts)
  const { cardSourceOf } = await import('./card-source.ts')
  const { document = {}, from } = cardSourceOf(card) ?? {}
  return { card, document, url: from?.href, signature }
}

/**
 * Fetches the card of an agent, with the options of `connect`. Returns `null` on any failure instead of throwing (S0-9), and does
 * not retry.
 *
 * @example
 * ```ts
 * const card = await discover('https://agent.example.com')
 * if (card !== null) console.log(card.skills.map((skill) => skill.name))
 * ```
 */
export async function discover(target: string | URL | object, options: ConnectOptions = {}): Promise<AgentCard | null> {
  try {
    const parts = httpFromOptions({ ...options, limits: { ...options.limits, attempts: 1 } })
    return (await fetchAndVerifyCard(target, options, parts)).card
  } catch {
    return null
  }
}
