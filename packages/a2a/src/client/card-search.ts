/**
 * Where else a card may be (B-28), and what to say if it is nowhere. Beneath the path first, because agents that share a
 * host have a path each (B-27); then at the root, because the path may be that of an endpoint: then the card lists it. A card
 * that does not is another agent's, and a mistyped address must not be answered by it. Needed when the likely place has
 * answered with something else.
 */
import type { AgentCard } from '../model/card.ts'
import { A2AError } from '../model/error.ts'
import { nameOf } from './address.ts'
import type { Patience } from './ask-again.ts'
import type { ClientLimits } from './contract.ts'
import { readText } from './read-text.ts'

/** Tries what is left after `first`, which failed with `reason`; first of all `first` again, if it is only busy. */
export async function search<T extends { readonly card: AgentCard }>(
  reason: A2AError,
  first: string,
  url: URL,
  at: (place: string) => Promise<T>,
  parts: Patience,
): Promise<T> {
  if (reason.retryable) {
    const { askAgain } = await import('./ask-again.ts')
    const ask = (): Promise<T> => at(first)
    return askAgain(reason, parts, ask, (other) => search(other, first, url, at, parts))
  }
  // Whoever names a file means that file.
  if (first === url.href) throw reason
  const places = placesOf(url).filter((place) => place !== first)
  // Which failure to tell: where all say that there is nothing, that; else the first that says something else.
  let telling = reason
  const otherCards: string[] = []
  consider(reason, false)
  for (const place of places) {
    try {
      const found = await at(place)
      if (isBeneath(place, url) || listsPath(found.card, url)) return found
      otherCards.push(
        `The card at ${nameOf(new URL(place))} is of ${found.card.name}, which does not list this address`,
      )
    } catch (failure) {
      if (!(failure instanceof A2AError)) throw failure
      const isGuess = place === url.href
      consider(failure, isGuess)
      if (telling.code === 'CARD_NOT_FOUND' && !isGuess) telling = failure
    }
  }
  if (telling.code !== 'CARD_NOT_FOUND') throw telling
  const tried = [first, ...places].map((place) => nameOf(new URL(place)))
  const said = reason.details['said']
  const text = [
    ...(typeof said === 'string' ? [`The server says: ${said}`] : []),
    `There is no agent card at ${tried.join(', ')}`,
    ...otherCards.slice(0, 1),
  ]
  throw new A2AError('CARD_NOT_FOUND', text.join('. '), { status: '404' })
}

const pathOf = ({ pathname }: URL): string => pathname.replace(/\/+$/, '')

const isBeneath = (place: string, url: URL): boolean => new URL(place).pathname.startsWith(pathOf(url))

/** Whether an interface is at the path, or beneath it. Hosts are not compared: behind a proxy a card often names another. */
function listsPath({ supportedInterfaces }: AgentCard, url: URL): boolean {
  const asked = pathOf(url)
  return supportedInterfaces.some((one) => {
    if (!/^https?:/i.test(one.url) || !URL.canParse(one.url)) return false
    const path = pathOf(new URL(one.url))
    return path === asked || path.startsWith(`${asked}/`)
  })
}

/** Throws what ends the search: no answer at all, a peer that cannot answer now, or a card that is wrong. */
function consider(failure: A2AError, isGuess: boolean): void {
  const { details } = failure
  // An address of which nothing says that there is a card may hold anything.
  if (isGuess ? details['reason'] === 'NETWORK' : !details['status'] || failure.retryable) throw failure
}

function placesOf(url: URL): readonly string[] {
  const { href, origin } = url
  const path = pathOf(url)
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

/** More than any list of names needs. */
const mostSaid = 10_000

/** Adds the server's message if it says that there is no such agent: it lists the agents that exist. */
export async function withServerMessage(
  refusal: A2AError,
  response: Response,
  { limits, signal }: { readonly limits: Pick<ClientLimits, 'cardTimeoutMs'>; readonly signal: AbortSignal },
): Promise<A2AError> {
  const body = await readText(response, mostSaid, signal, limits.cardTimeoutMs).catch(() => '')
  if (!body.includes('"AGENT_NOT_FOUND"')) return refusal
  try {
    const { error, message = error?.message } = JSON.parse(body) as Said
    if (typeof message !== 'string') return refusal
    return new A2AError(refusal.code, refusal.message, { ...refusal.details, said: message.slice(0, mostSaid / 10) })
  } catch {
    return refusal
  }
}

interface Said {
  readonly error?: { readonly message?: unknown }
  readonly message?: unknown
}
