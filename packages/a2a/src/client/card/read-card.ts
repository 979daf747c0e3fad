/**
 * Reads the response to a card request: a card, or an error that says what came instead. Loaded while the response is
 * on its way, so that it delays no caller and costs nothing if no card is fetched.
 */
import type { AgentCard } from '../../model/card.ts'
import { A2AError, type ErrorCode } from '../../model/error.ts'
import { decodeCard } from '../../versions/decode-card.ts'
import { urlWithoutQuery } from '../http/http-url.ts'
import type { CachedCard } from './card-cache.ts'
import { resolveCardUrls, withCardSource } from './card-source.ts'
import type { ClientLimits, ClientLog, HttpAnswer } from '../contract.ts'
import { checkJsonNodesIfLong, discardBody, readText } from '../http/read-text.ts'
import { withResponseDetails } from '../http/response-errors.ts'

interface ReadCardDeps {
  readonly limits: ClientLimits
  readonly signal: AbortSignal
  readonly log?: ClientLog | undefined
}

export async function readCard(
  response: HttpAnswer,
  from: URL,
  { limits, signal, log }: ReadCardDeps,
): Promise<AgentCard> {
  // A stream would not end. Everything else is judged by its content, not by its content type.
  if (!response.ok || response.headers.get('content-type')?.includes('event-stream'))
    throw await refusedCardError(response, from, { limits, signal })
  const text = await readText(response, limits.maxCardBytes, signal, limits.cardTimeoutMs)
  await checkJsonNodesIfLong(text, limits)
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    throw notACardError(response, from)
  }
  const card = await decodeAnyCard(json, from).catch((reason: Error) => {
    // For `validateCard`, which lists more than the fields that a client needs.
    throw Object.assign(reason, { cause: { document: json } })
  })
  return withCardSource(resolveCardUrls(card, from, log), json, from)
}

/** A card that lists no interface may belong to a peer with simple tasks. */
async function decodeAnyCard(json: unknown, from: URL): Promise<AgentCard> {
  try {
    return decodeCard(json)
  } catch {
    return decodeCard((await import('../simple-tasks/simple-tasks-card.ts')).withSimpleTasksInterface(json, from))
  }
}

/** Decodes a card that the caller already has. */
export function cardFromDocument(document: object): AgentCard {
  return withCardSource(decodeCard(document), document)
}

const cardErrorCodes: Readonly<Record<number, ErrorCode>> = {
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'CARD_NOT_FOUND',
  405: 'CARD_NOT_FOUND',
  410: 'CARD_NOT_FOUND',
  429: 'RATE_LIMITED',
}

/** The error with the server's message, if it lists the agents that exist. */
async function refusedCardError(response: HttpAnswer, from: URL, parts: ReadCardDeps): Promise<A2AError> {
  const error = notACardError(response, from)
  if (response.status === 404 && response.headers.get('content-type')?.includes('json') === true)
    return (await import('./card-search.ts')).withServerMessage(error, response, parts)
  discardBody(response)
  return error
}

/** The error for a response that is not a card. */
function notACardError(response: HttpAnswer, from: URL): A2AError {
  const { ok, status, headers } = response
  const type = headers.get('content-type') ?? 'unlabelled'
  const what = !ok ? `HTTP ${status}` : type.includes('html') ? 'an HTML page' : `content that is not JSON (${type})`
  const code = cardErrorCodes[status] ?? (status >= 500 ? 'UNAVAILABLE' : 'INVALID_AGENT_RESPONSE')
  const message = `${urlWithoutQuery(from)} returned ${what} instead of an agent card`
  return withResponseDetails(new A2AError(code, message, { status: String(status) }), '', response) as A2AError
}

const defaultFreshMs = 300_000
/** How long an expired card is kept for revalidation. */
const staleKeptMs = 3_600_000

/**
 * How long a card may be used without revalidation (RFC 9111, B-22); five minutes if the peer gives no rule (S0-8). A stale card
 * is never returned, so `must-revalidate` needs no code, and `s-maxage` addresses shared caches. Returns `undefined` if the card
 * must not be cached. `before` is the entry that a 304 has confirmed.
 */
export function createCachedCard(
  card: AgentCard,
  { headers, type }: Pick<HttpAnswer, 'headers' | 'type'>,
  sentAt: number,
  now: number,
  before?: CachedCard,
): CachedCard | undefined {
  const header = (name: string): string | null => headers.get(name) ?? before?.storedHeaders.get(name) ?? null
  const control = header('cache-control') ?? ''
  const directiveIn = (directive: string): RegExpExecArray | null =>
    new RegExp(`(?:^|,)\\s*${directive}\\s*(?:=\\s*"?([^",]*)"?\\s*)?(?:,|$)`, 'i').exec(control)
  if (directiveIn('no-store')) return undefined

  const date = Date.parse(headers.get('date') ?? '') || now
  const age = Math.max(0, now - date, now - sentAt + 1_000 * (Number(headers.get('age')) || 0))
  const maxAge = directiveIn('max-age')
  const expires = header('expires')
  // A value that cannot be parsed has expired (§4.2.1). Our default of five minutes is not shortened by an age, which
  // may come only from a wrong clock.
  const lifetime =
    directiveIn('no-cache') || headers.get('vary')?.trim() === '*'
      ? 0
      : maxAge
        ? 1_000 * (Number(maxAge[1]) || 0) - age
        : expires !== null
          ? (Date.parse(expires) || 0) - date - age
          : defaultFreshMs
  // In a browser, a peer that lets other pages read its card need not allow conditional headers; there the browser's
  // own cache sends them.
  const hasValidator = type !== 'cors' && (header('etag') ?? header('last-modified')) !== null
  const freshUntil = now + lifetime
  const keptUntil = Math.max(now, freshUntil) + (hasValidator ? staleKeptMs : 0)
  if (keptUntil <= now) return undefined
  // Headers that a 304 leaves out stay valid.
  const lasting = new Map<string, string>()
  for (const name of ['cache-control', 'expires', ...(hasValidator ? ['etag', 'last-modified'] : [])]) {
    const value = header(name)
    if (value !== null) lasting.set(name, value)
  }
  return { card, freshUntil, keptUntil, storedHeaders: lasting }
}
