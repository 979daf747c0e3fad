/**
 * From what a user knows of an agent to its card: an address beneath which it is found, that of the card itself, or the
 * card. The likely way is here; the others are loaded when they are needed.
 */
import type { AgentCard } from '../model/card.ts'
import { A2AError } from '../model/error.ts'
import type { VersionId } from '../versions/version.ts'
import { addressOf, nameOf } from './address.ts'
import { authenticatorOf } from './auth/authenticator.ts'
import { cardCacheOf } from './card-cache.ts'
import type { CachedCard } from './card-cache.ts'
import type { CardCheck } from './card-signature.ts'
import type { CardSignature, ClientLimits, ClientLog, ConnectOptions } from './contract.ts'
import { createHttp, originOf, platformFetch } from './http.ts'
import type { CarefulHttp } from './http.ts'
import { defaultLimits } from './limits.ts'

export { clearCardCache } from './card-cache.ts'

export interface CardParts {
  readonly http: CarefulHttp
  /** Where there is no number of attempts, a server that is busy is asked once. */
  readonly limits: Pick<ClientLimits, 'cardTimeoutMs' | 'maxCardBytes'> | ClientLimits
  readonly signal?: AbortSignal | undefined
  /** Asked for where a peer has one card per version. Default: the newest, which lists the interfaces of all (B-1). */
  readonly version?: VersionId | undefined
  readonly log?: ClientLog | undefined
  readonly now?: () => number
}

interface Found {
  readonly card: AgentCard
  readonly entry: CachedCard | undefined
  /** As whom it was fetched. */
  readonly who: string
}

export async function fetchCard(target: string | URL | object, parts: CardParts): Promise<AgentCard> {
  if (typeof target === 'object' && !(target instanceof URL))
    return (await import('./card-answer.ts')).givenCard(target)
  const { http, limits, version = '1.0', signal = new AbortController().signal, now = Date.now } = parts
  const url = addressOf(String(target))
  const cache = cardCacheOf(http.fetch)
  const identity = await http.identify({ url: url.href, signal })
  const keyOf = (...place: string[]): string => JSON.stringify([version, ...place])
  const base = nameOf(url).replace(/\/+$/, '')

  // By the address that was told, so that a search is not repeated either.
  const told = [base, url.search]
  const known = cache.get(keyOf(identity, ...told))
  if (known && known.freshUntil > now()) return known.card
  cache.prune(now())
  const first = base.endsWith('.json') ? url.href : `${base}/.well-known/agent${version === '0.2' ? '' : '-card'}.json`
  const { card, entry, who } = await at(first).catch(async (reason: unknown) => {
    // Only who has answered with something else can have the card elsewhere.
    if (!(reason instanceof A2AError && reason.details['status'])) throw reason
    const { search } = await import('./card-search.ts')
    return search(reason, first, url, at, parts)
  })
  cache.keep(keyOf(who, ...told), entry)
  return card

  function at(place: string): Promise<Found> {
    return cache.share(keyOf(identity, place), signal, (shared) => load(place, shared))
  }

  async function load(place: string, shared: AbortSignal): Promise<Found> {
    const stale = cache.get(keyOf(identity, place))
    const sentAt = now()
    if (stale && stale.freshUntil > sentAt) return { card: stale.card, entry: stale, who: identity }
    // Whatever reads the answer comes while the answer is on its way.
    const reading = import('./card-answer.ts')
    reading.catch(() => {})
    const etag = stale?.lasting.get('etag')
    const modified = stale?.lasting.get('last-modified')
    const response = await http.send({
      method: 'GET',
      url: place,
      headers: {
        accept: 'application/json',
        'A2A-Version': version,
        ...(etag && { 'If-None-Match': etag }),
        ...(modified && { 'If-Modified-Since': modified }),
      },
      signal: shared,
      timeoutMs: limits.cardTimeoutMs,
    })
    const { url: from, identity: who } = originOf(response) ?? { url, identity }
    const { cachedCard, readCard } = await reading
    const confirmed = response.status === 304 ? stale : undefined
    const card = confirmed?.card ?? (await readCard(response, from, { ...parts, signal: shared }))
    const entry = cachedCard(card, response, sentAt, now(), confirmed)
    cache.keep(keyOf(who, place), entry)
    return { card, entry, who }
  }
}

export interface FoundCard {
  readonly card: AgentCard
  readonly signature?: CardSignature | undefined
  /** Judges the signatures of cards, for those who want them judged. */
  readonly check?: CardCheck | undefined
}

/** The card, judged as the options want it. */
export async function findCard(
  target: string | URL | object,
  options: ConnectOptions,
  parts: Pick<CardParts, 'http' | 'limits'>,
): Promise<FoundCard> {
  const { verify = 'off', version, log, signal } = options
  if (verify === 'off') return { card: await fetchCard(target, { ...parts, signal, version, log }) }
  // 0.3 has no rule for signatures; the card of 1.0 lists its interfaces as well.
  const asked = version === '0.3' ? '1.0' : version
  const found = await fetchCard(target, { ...parts, signal, version: asked, log })
  const { createCardCheck } = await import('./card-signature.ts')
  const check = createCardCheck({ options, fetch: parts.http.fetch, limits: parts.limits, log })
  return { ...(await check(found, signal)), check }
}

/** Like `fetchCard`, with the options of `connect`, but `null` whatever goes wrong (S0-9). */
export async function discover(target: string | URL | object, options: ConnectOptions = {}): Promise<AgentCard | null> {
  const { fetch = platformFetch, headers } = options
  const limits = { ...defaultLimits, ...options.limits, attempts: 1 }
  try {
    const authenticate = authenticatorOf(options, { fetch, limits })
    const http = createHttp({ fetch, authenticate, limits, headers })
    return (await findCard(target, options, { http, limits })).card
  } catch {
    return null
  }
}
