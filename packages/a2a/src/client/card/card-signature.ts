/**
 * Verifies who signed a card (B-31…B-33). Loaded if verification is enabled. Content that a valid signature does not
 * cover is not trusted: the returned card is decoded from the signed bytes and from nothing else.
 */
import { clockOf } from '../../model/clock.ts'
import type { AgentCard, AgentCardSignature } from '../../model/card.ts'
import { A2AError } from '../../model/error.ts'
import { decodeCard } from '../../versions/decode-card.ts'
import { signedReadings, type SignedReading } from '../../versions/signed-card.ts'
import { encodeCard } from '../../versions/v1_0/card.ts'
import { cardSourceOf, resolveCardUrls, withCardSource } from './card-source.ts'
import type {
  CardSignature,
  CardTrust,
  CheckedCard,
  ClientLimits,
  ClientLog,
  ConnectOptions,
  Fetch,
} from '../contract.ts'
import { isLoopbackHost } from '../http/address-url.ts'
import { parseResponse } from '../http/check-json-nodes.ts'
import { createHttpClient } from '../http/http-client.ts'
import { readText } from '../http/read-text.ts'
import { isKeyUsable, supportedAlgorithms, readJwsHeader, verifyJws, type JwsHeader, type JwsPublicKey } from './jws.ts'

interface CardVerifierDeps {
  readonly options: Pick<ConnectOptions, 'verify' | 'trust'>
  readonly fetch: Fetch
  readonly limits: ClientLimits
  readonly log?: ClientLog | undefined
  /** Default: the system's clocks. A given clock also measures durations. */
  readonly now?: () => number
}

/** Rejects with INVALID_AGENT_RESPONSE, reason CARD_SIGNATURE, if the policy does not accept the card. */
export type CardVerifier = (card: AgentCard, signal?: AbortSignal) => Promise<CheckedCard>

/** More are never needed, and each may cost a request. */
const maxSignatures = 8

/** The outcome for one signature: `false` proves that it is wrong; an Error says why it could not be checked. */
type SignatureOutcome = { readonly reading: SignedReading; readonly proof: CardSignature } | false | Error

export function createCardVerifier({ options, fetch, limits, log, ...clock }: CardVerifierDeps): CardVerifier {
  const { now, monotonicNow } = clockOf(clock)
  const { verify = 'require', trust = {} } = options
  const allowed = trust.algorithms ?? supportedAlgorithms
  const findKeys = createKeyFinder(trust, { fetch, limits }, monotonicNow)
  /** The URL of the public card: the extended card, which has no URL, is judged by it. */
  let cardFrom: URL | undefined

  return async (card, signal = new AbortController().signal) => {
    const source = cardSourceOf(card)
    cardFrom = source?.from ?? cardFrom
    const { signatures = [] } = card
    if (signatures.length === 0) return acceptUnverified(card, { status: 'unsigned' }, 'it is not signed')
    const readings = readingsOf(source?.document ?? encodeCard(card))
    const outcomes: SignatureOutcome[] = []
    for (const signature of signatures.slice(0, maxSignatures)) {
      const outcome = await verifySignature(signature, readings, signal)
      if (outcome !== false && 'proof' in outcome)
        return { card: signedPart(card, outcome.reading), signature: outcome.proof }
      outcomes.push(outcome)
    }
    // The holder of the key did not sign this content.
    if (outcomes.includes(false))
      throw cardSignatureError('its signature is invalid: the card was changed after signing')
    const why = [...new Set(outcomes.map((outcome) => (outcome as Error).message))].join('; ')
    return acceptUnverified(card, { status: 'unverified', why }, `its signature cannot be checked: ${why}`)
  }

  function acceptUnverified(card: AgentCard, signature: CardSignature, why: string): CheckedCard {
    if (verify === 'require') throw cardSignatureError(why)
    log?.warn(`Using an agent card although ${why}`, { card: card.name })
    return { card, signature }
  }

  async function verifySignature(
    signature: AgentCardSignature,
    readings: readonly SignedReading[],
    signal: AbortSignal,
  ): Promise<SignatureOutcome> {
    try {
      const header = readJwsHeader(signature.protected, allowed)
      const { alg, kid } = header
      const found = await findKeys(header, cardFrom, signal)
      const usable = found.filter(({ key }) => isKeyUsable(key, alg, now()))
      if (usable.length === 0)
        return new Error(`the key ${kid.slice(0, 100)} is not valid for cards, or no longer valid`)
      for (const { key, from } of usable) {
        for (const reading of readings) {
          if (await verifyJws(signature, reading.text, key, alg))
            return { reading, proof: { status: 'verified', kid, alg, keys: from, form: reading.form } }
        }
      }
      return false
    } catch (reason) {
      signal.throwIfAborted()
      return reason instanceof Error ? reason : new Error(String(reason))
    }
  }

  function signedPart(card: AgentCard, reading: SignedReading): AgentCard {
    const source = cardSourceOf(card)
    // A card that came as the result of a call was decoded and verified already.
    if (source === undefined) return card
    const { signatures } = card
    const read = { ...decodeCard(reading.covered), ...(signatures !== undefined ? { signatures } : {}) }
    const { document, from } = source
    return withCardSource(from === undefined ? read : resolveCardUrls(read, from, log), document, from)
  }
}

/** A 0.x card has no signing rule, so only the whole document counts: its URLs are in no other reading. */
function readingsOf(document: { readonly [field: string]: unknown }): readonly SignedReading[] {
  try {
    return signedReadings(document).filter(
      ({ covered: signedPart, form }) => form === 'raw' || 'supportedInterfaces' in signedPart,
    )
  } catch (cause) {
    // Nested deeper than the stack, or text without a UTF-8 form: no signer produced that.
    throw new A2AError(
      'INVALID_AGENT_RESPONSE',
      'The agent card cannot be signed',
      { reason: 'CARD_SIGNATURE' },
      { cause },
    )
  }
}

function cardSignatureError(why: string): A2AError {
  return new A2AError('INVALID_AGENT_RESPONSE', `The agent card is rejected: ${why}`, { reason: 'CARD_SIGNATURE' })
}

interface TrustedKey {
  readonly key: JwsPublicKey
  /** `given`, or the URL of the key set. */
  readonly from: string
}

/** Returns the keys with the id in the header. Throws, with the reason, if there can be none. */
type FindKeys = (header: JwsHeader, cardFrom: URL | undefined, signal: AbortSignal) => Promise<readonly TrustedKey[]>

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

/**
 * Which keys count (B-31, A-9): keys from the options, and keys from key sets whose URLs the options trust. A signature
 * may say where its key is, but then it chooses what vouches for it. Such a URL is used only on the card's own origin
 * or on a listed origin, and never if keys were given. Keys are fetched over TLS and without credentials.
 */
function createKeyFinder(
  trust: CardTrust,
  { fetch, limits }: Pick<CardVerifierDeps, 'fetch' | 'limits'>,
  monotonicNow: () => number,
): FindKeys {
  const given = [trust.keys ?? []]
    .flat()
    .flatMap((one) => ('keys' in one ? (one.keys as readonly JwsPublicKey[]) : one))
  const urls = [trust.jwks ?? []].flat().map(String)
  const isPinned = trust.keys !== undefined || trust.jwks !== undefined
  const http = createHttpClient({ fetch, limits: { timeoutMs: limits.cardTimeoutMs, maxRedirects: 0 } })
  const cache = keySetCaches.get(fetch) ?? new Map<string, CachedKeySet>()
  keySetCaches.set(fetch, cache)

  return async ({ kid, jku }, cardFrom, signal) => {
    const withKid = (keys: readonly JwsPublicKey[]): readonly JwsPublicKey[] => keys.filter((key) => key.kid === kid)
    const found: TrustedKey[] = withKid(given).map((key) => ({ key, from: 'given' }))
    const follow = jku !== undefined && !urls.includes(jku) && mayFollow(jku, cardFrom)
    for (const url of follow ? [...urls, jku] : urls) {
      for (const key of await keysAt(url, withKid, signal)) found.push({ key, from: url })
    }
    if (found.length > 0) return found
    if (isPinned || follow) throw new Error(`no trusted key has the id ${kid.slice(0, 100)}`)
    throw new Error(jku === undefined ? 'it does not name the URL of its key' : 'its key URL is not trusted')
  }

  function mayFollow(jku: string, cardFrom: URL | undefined): boolean {
    if (!URL.canParse(jku)) return false
    const { origin, protocol, hostname } = new URL(jku)
    if (protocol !== 'https:' && !(protocol === 'http:' && isLoopbackHost(hostname))) return false
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
    const { keys } = Object(response.ok ? parseResponse(text, limits.maxJsonNodes) : undefined) as { keys?: unknown }
    if (!Array.isArray(keys)) throw new A2AError('UNAVAILABLE', `${url} returned no key set (HTTP ${response.status})`)
    return keys.filter((key): key is JwsPublicKey => typeof key === 'object' && key !== null)
  }
}
