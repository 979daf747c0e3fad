/** The cards of an agent as it serves them, and the interfaces that they offer. */
import { type BindingName, type VersionName, versionNames } from './verdict.ts'
import type { Target } from './report.ts'
import { exchangeHttp, WireError, type HttpExchange, type HttpRequestOptions } from './wire/http-wire.ts'
import { isObject } from './wire/encode-request.ts'
import type { JsonObject } from './wire/spelling.ts'

/** One document that the agent serves as its card. */
export interface ServedCard {
  readonly url: string
  /** The `A2A-Version` with which it was requested; `undefined`: without. */
  readonly requestedVersion: string | undefined
  readonly exchange: HttpExchange
  readonly json: JsonObject
}

export interface Discovery {
  /** The address that the user gave. */
  readonly url: string
  /** Every card that was found, the one requested without a version first. */
  readonly cards: readonly ServedCard[]
  /** Every attempt, also those that found none. */
  readonly attempts: readonly HttpExchange[]
  readonly targets: readonly Target[]
  /** The card that describes a version. */
  cardOf(version: VersionName): ServedCard | undefined
}

export const cardPath = '/.well-known/agent-card.json'
export const legacyCardPath = '/.well-known/agent.json'

type FetchOptions = Omit<HttpRequestOptions, 'method' | 'url' | 'body'>

/** With `isCardOptional` an address where nothing answers has no cards; otherwise it throws a `WireError`. */
export async function discoverAgent(url: string, options: FetchOptions, isCardOptional = false): Promise<Discovery> {
  const attempts: HttpExchange[] = []
  const cards: ServedCard[] = []
  let failure: WireError | undefined
  const fetchCard = async (at: string, requestedVersion?: string): Promise<ServedCard | undefined> => {
    const headers = {
      accept: 'application/json',
      ...options.headers,
      ...(requestedVersion === undefined ? {} : { 'a2a-version': requestedVersion }),
    }
    try {
      const exchange = await exchangeHttp({ ...options, method: 'GET', url: at, headers })
      attempts.push(exchange)
      if (exchange.status !== 200 || !isObject(exchange.json) || !looksLikeCard(exchange.json)) return undefined
      const card: ServedCard = { url: at, requestedVersion, exchange, json: exchange.json }
      cards.push(card)
      return card
    } catch (reason) {
      if (!(reason instanceof WireError)) throw reason
      failure ??= reason
      return undefined
    }
  }
  for (const at of cardAddresses(url)) {
    if ((await fetchCard(at)) === undefined) continue
    // A server of several versions may serve a card for each.
    await fetchCard(at, '1.0')
    await fetchCard(at, '0.3')
    if (at.endsWith(cardPath)) await fetchCard(`${at.slice(0, -cardPath.length)}${legacyCardPath}`)
    break
  }
  if (cards.length === 0 && attempts.length === 0 && failure !== undefined && !isCardOptional) throw failure
  const targets = uniqueTargets(cards.flatMap(({ json }) => targetsOf(json)))
  return {
    url,
    cards,
    attempts,
    targets,
    cardOf: (version) =>
      cards.find(({ json }) => targetsOf(json).some((target) => target.version === version)) ??
      // A card that offers nothing is of a generation too.
      cards.find(({ json }) => targetsOf(json).length === 0 && 'supportedInterfaces' in json === (version === '1.0')),
  }
}

/** An origin has its card under the well-known path; an address with a path is the card, or the base of one. */
export function cardAddresses(url: string): readonly string[] {
  const { origin, pathname, search } = new URL(url)
  if (pathname === '/' || pathname === '') return [`${origin}${cardPath}`, `${origin}${legacyCardPath}`]
  if (pathname.endsWith('.json')) return [url]
  const base = `${origin}${pathname.replace(/\/$/, '')}`
  return [`${base}${cardPath}`, `${base}${legacyCardPath}`, `${origin}${pathname}${search}`]
}

const looksLikeCard = (json: JsonObject): boolean =>
  'supportedInterfaces' in json || 'url' in json || ('name' in json && 'skills' in json)

const bindingOf: Readonly<Record<string, BindingName>> = { JSONRPC: 'JSONRPC', 'HTTP+JSON': 'HTTP+JSON', GRPC: 'GRPC' }

/** `1.0` of `1.0.1`; `undefined` for a version that the judge does not know. */
export function versionNameOf(protocolVersion: unknown): VersionName | undefined {
  const majorMinor = typeof protocolVersion === 'string' ? /^(\d+\.\d+)(\.\d+)?$/.exec(protocolVersion)?.[1] : undefined
  return versionNames.find((name) => name === majorMinor)
}

/** Interfaces with a binding and a version that the judge knows. A card of both generations offers both. */
export function targetsOf(card: JsonObject): readonly Target[] {
  const targets: Target[] = []
  const interfaces: unknown = card['supportedInterfaces']
  for (const entry of Array.isArray(interfaces) ? (interfaces as unknown[]) : []) {
    if (!isObject(entry) || typeof entry['url'] !== 'string') continue
    const binding =
      typeof entry['protocolBinding'] === 'string' ? bindingOf[entry['protocolBinding'].toUpperCase()] : undefined
    const version = versionNameOf(entry['protocolVersion'])
    const tenant = typeof entry['tenant'] === 'string' && entry['tenant'] !== '' ? { tenant: entry['tenant'] } : {}
    if (binding !== undefined && version !== undefined) targets.push({ url: entry['url'], version, binding, ...tenant })
  }
  if (typeof card['url'] === 'string') targets.push(...legacyTargets(card, card['url']))
  return uniqueTargets(targets)
}

/** A card without a version is older than 0.2.5, unless it is also a card of 1.0. */
function legacyTargets(card: JsonObject, url: string): readonly Target[] {
  const version = versionNameOf(card['protocolVersion']) ?? (card['protocolVersion'] === undefined ? '0.2' : undefined)
  if (version === undefined || version === '1.0') return []
  const preferred = typeof card['preferredTransport'] === 'string' ? card['preferredTransport'] : 'JSONRPC'
  const others: unknown = card['additionalInterfaces']
  return [{ url, transport: preferred }, ...(Array.isArray(others) ? (others as unknown[]) : [])].flatMap((entry) => {
    if (!isObject(entry) || typeof entry['url'] !== 'string' || typeof entry['transport'] !== 'string') return []
    const binding = bindingOf[entry['transport'].toUpperCase()]
    return binding === undefined ? [] : [{ url: entry['url'], version, binding }]
  })
}

/** The first interface of each version and binding. */
function uniqueTargets(targets: readonly Target[]): readonly Target[] {
  const seen = new Map<string, Target>()
  for (const target of targets) {
    const key = `${target.version} ${target.binding}`
    if (!seen.has(key)) seen.set(key, target)
  }
  return [...seen.values()]
}
