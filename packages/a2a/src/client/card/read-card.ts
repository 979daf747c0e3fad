/**
 * Reads the response to a card request: a card, or an error that says what came instead. Loaded while the response is
 * on its way, so that it delays no caller and costs nothing if no card is fetched.
 */
import type { AgentCard } from '../../model/card.ts'
import { A2AError, type ErrorCode } from '../../model/error.ts'
import { decodeCard } from '../../versions/decode-card.ts'
import { urlWithoutQuery } from '../http/http-url.ts'
import { resolveCardUrls, withCardSource } from './card-source.ts'
import type { ClientLimits, ClientLog, HttpAnswer } from '../contract.ts'
import { checkJsonNodesIfLong, discardBody, readText } from '../http/read-text.ts'
import { withResponseDetails } from '../http/response-errors.ts'

export { createCachedCard } from './card-freshness.ts'

interface ReadCardDeps {
  readonly limits: Pick<ClientLimits, 'cardTimeoutMs' | 'maxCardBytes'> & Partial<Pick<ClientLimits, 'maxJsonNodes'>>
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
