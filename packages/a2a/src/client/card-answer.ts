/**
 * What came when a card was asked for: a card, or an error that says what it is instead. Loaded while the answer is on its
 * way, so that nobody waits for it and nobody has it who needs no card.
 */
import type { AgentCard } from '../model/card.ts'
import { A2AError } from '../model/error.ts'
import type { ErrorCode } from '../model/error.ts'
import { decodeCard } from '../versions/decode-card.ts'
import { nameOf } from './address.ts'
import { withSource } from './card-source.ts'
import { checkUrls } from './card-urls.ts'
import type { ClientLimits, ClientLog } from './contract.ts'
import { checkLongText, discard, readText } from './read-text.ts'
import { refusal } from './refusal.ts'

export { cachedCard } from './card-freshness.ts'

interface AnswerParts {
  readonly limits: Pick<ClientLimits, 'cardTimeoutMs' | 'maxCardBytes'> & Partial<Pick<ClientLimits, 'maxJsonNodes'>>
  readonly signal: AbortSignal
  readonly log?: ClientLog | undefined
}

export async function readCard(
  response: Response,
  from: URL,
  { limits, signal, log }: AnswerParts,
): Promise<AgentCard> {
  // A stream would not end; all else is judged by what it is and not by its label.
  if (!response.ok || response.headers.get('content-type')?.includes('event-stream'))
    throw await refused(response, from, { limits, signal })
  const text = await readText(response, limits.maxCardBytes, signal, limits.cardTimeoutMs)
  await checkLongText(text, limits)
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    throw noCard(response, from)
  }
  return withSource(checkUrls(await decoded(json, from), from, log), json, from)
}

/** One that lists no interface may be that of a peer with simple tasks. */
async function decoded(json: unknown, from: URL): Promise<AgentCard> {
  try {
    return decodeCard(json)
  } catch {
    return decodeCard((await import('./facade-card.ts')).withFacade(json, from))
  }
}

/** One that a user has already. */
export function givenCard(document: object): AgentCard {
  return withSource(decodeCard(document), document)
}

const codes: Readonly<Record<number, ErrorCode>> = {
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'CARD_NOT_FOUND',
  405: 'CARD_NOT_FOUND',
  410: 'CARD_NOT_FOUND',
  429: 'RATE_LIMITED',
}

/** With the server's message, if it lists the agents that exist. */
async function refused(response: Response, from: URL, parts: AnswerParts): Promise<A2AError> {
  const error = noCard(response, from)
  if (response.status === 404 && response.headers.get('content-type')?.includes('json') === true)
    return (await import('./card-search.ts')).withServerMessage(error, response, parts)
  discard(response)
  return error
}

/** What came instead of a card. */
function noCard(response: Response, from: URL): A2AError {
  const { ok, status, headers } = response
  const type = headers.get('content-type') ?? 'unlabelled'
  const what = !ok ? `HTTP ${status}` : type.includes('html') ? 'an HTML page' : `something that is no JSON (${type})`
  const code = codes[status] ?? (status >= 500 ? 'UNAVAILABLE' : 'INVALID_AGENT_RESPONSE')
  const message = `${nameOf(from)} answers with ${what} instead of an agent card`
  return refusal(new A2AError(code, message, { status: String(status) }), '', response) as A2AError
}
