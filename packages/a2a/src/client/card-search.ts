/**
 * Where else a card may be (B-28), and what to say if it is nowhere. Beneath the path first, because agents that share a
 * host have a path each (B-27); then at the root, because the path may be that of an endpoint. Loaded when the likely
 * place has answered with something else.
 */
import { A2AError } from '../model/error.ts'
import type { ErrorCode } from '../model/error.ts'
import { nameOf } from './address.ts'
import { discard } from './read-text.ts'

/** Tries what is left after `first`, which failed with `reason`. */
export async function search<T>(
  reason: A2AError,
  first: string,
  url: URL,
  at: (place: string) => Promise<T>,
): Promise<T> {
  // Whoever names a file means that file.
  if (first === url.href) throw reason
  const places = placesOf(url).filter((place) => place !== first)
  // Which failure to tell: where all say that there is nothing, that; else the first that says something else.
  let telling = reason
  consider(reason, false)
  for (const place of places) {
    try {
      return await at(place)
    } catch (failure) {
      if (!(failure instanceof A2AError)) throw failure
      const isGuess = place === url.href
      consider(failure, isGuess)
      if (telling.code === 'CARD_NOT_FOUND' && !isGuess) telling = failure
    }
  }
  if (telling.code !== 'CARD_NOT_FOUND') throw telling
  const tried = [first, ...places].map((place) => nameOf(new URL(place)))
  throw new A2AError('CARD_NOT_FOUND', `There is no agent card at ${tried.join(', ')}`, { status: '404' })
}

/** Throws what ends the search: no answer at all, a peer that cannot answer now, or a card that is wrong. */
function consider(failure: A2AError, isGuess: boolean): void {
  const { details } = failure
  // An address of which nothing says that there is a card may hold anything.
  if (isGuess ? details['reason'] === 'NETWORK' : !details['status'] || failure.retryable) throw failure
}

function placesOf({ href, origin, pathname }: URL): readonly string[] {
  const path = pathname.replace(/\/+$/, '')
  const wellKnown = (base: string): string[] => [
    `${base}/.well-known/agent-card.json`,
    `${base}/.well-known/agent.json`,
  ]
  // The last two as some hubs have it.
  const beneath = [
    ...wellKnown(origin + path),
    href,
    `${origin}${path}/.well-known/agent`,
    `${origin}${path}/agent-card`,
  ]
  return path === '' ? beneath.filter((place) => place !== href) : [...beneath, ...wellKnown(origin)]
}

const codes: Readonly<Record<number, ErrorCode>> = {
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'CARD_NOT_FOUND',
  405: 'CARD_NOT_FOUND',
  410: 'CARD_NOT_FOUND',
  429: 'RATE_LIMITED',
}

/** What came instead of a card. */
export function noCard(response: Response, from: URL): A2AError {
  const { ok, status, headers } = response
  discard(response)
  const type = headers.get('content-type') ?? 'unlabelled'
  const what = !ok ? `HTTP ${status}` : type.includes('html') ? 'an HTML page' : `something that is no JSON (${type})`
  const code = codes[status] ?? (status >= 500 ? 'UNAVAILABLE' : 'INVALID_AGENT_RESPONSE')
  const message = `${nameOf(from)} answers with ${what} instead of an agent card`
  return new A2AError(code, message, { status: String(status) })
}
