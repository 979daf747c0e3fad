/**
 * Other locations where a card may be (B-28), and the error if it is at none of them. Locations below the path come
 * first, because agents that share a host have a path each (B-27). The root comes next, because the path may be that of
 * an endpoint, which the card then lists. A card that does not list it belongs to another agent, and must not answer
 * for a mistyped address. Loaded when the common location has answered with something else.
 */
import type { AgentCard } from '../../model/card.ts'
import { A2AError } from '../../model/error.ts'
import { urlWithoutQuery } from '../http/http-url.ts'
import type { ClientLimits, ClientLog, ConnectOptions, HttpAnswer } from '../contract.ts'
import { readText } from '../http/read-text.ts'
import { backoffDelayMs } from '../retry.ts'
import { sleep } from '../sleep.ts'

export { httpUrlOf } from '../http/address-url.ts'

export interface CardSearchDeps {
  readonly limits: ClientLimits
  readonly signal?: AbortSignal | undefined
  readonly log?: ClientLog | undefined
  readonly onRetry?: ConnectOptions['onRetry']
}

/**
 * Tries the locations that are left after `first`, which failed with `reason`; retries `first` before them if it is
 * only busy.
 */
export async function searchCardLocations<T extends { readonly card: AgentCard }>(
  firstFailure: A2AError,
  first: string,
  url: URL,
  fetchAt: (location: string) => Promise<T>,
  { limits, signal = new AbortController().signal, log, onRetry }: CardSearchDeps,
): Promise<T> {
  let reason = firstFailure
  for (let attempt = 1; reason.retryable; attempt++) {
    const delayMs = backoffDelayMs(attempt, reason, limits)
    if (attempt >= limits.attempts || delayMs === undefined) throw reason
    log?.debug?.(`Requesting the agent card again in ${Math.round(delayMs)} ms`, { attempt, reason })
    onRetry?.({ error: reason, delayMs })
    await sleep(delayMs, signal)
    try {
      return await fetchAt(first)
    } catch (next) {
      // A server that cannot be reached is not retried.
      if (!(next instanceof A2AError) || next.details['status'] === undefined) throw next
      reason = next
    }
  }
  // A URL that names a file means exactly that file.
  if (first === url.href) throw reason
  const locations = cardLocations(url).filter((location) => location !== first)
  // The failure to report: "not found" if every location says so, otherwise the first failure that says something else.
  let reported = reason
  const otherCards: string[] = []
  throwIfFinal(reason, false)
  for (const location of locations) {
    try {
      const found = await fetchAt(location)
      if (isBeneath(location, url) || listsPath(found.card, url)) return found
      otherCards.push(
        `The card at ${urlWithoutQuery(new URL(location))} belongs to ${found.card.name}, which does not list this address`,
      )
    } catch (failure) {
      if (!(failure instanceof A2AError)) throw failure
      const isGuess = location === url.href
      throwIfFinal(failure, isGuess)
      if (reported.code === 'CARD_NOT_FOUND' && !isGuess) reported = failure
    }
  }
  if (reported.code !== 'CARD_NOT_FOUND') throw reported
  const tried = [first, ...locations].map((location) => urlWithoutQuery(new URL(location)))
  const serverMessage = reason.details['said']
  const text = [
    `There is no agent card at ${urlWithoutQuery(url)}`,
    ...(typeof serverMessage === 'string' ? [`The server responded: ${serverMessage}`] : otherCards.slice(0, 1)),
  ]
  // Not in the message: seven addresses would hide what is useful in it.
  throw new A2AError('CARD_NOT_FOUND', text.join('. '), { status: '404', tried: tried.join(', ') })
}

const pathOf = ({ pathname }: URL): string => pathname.replace(/\/+$/, '')

const isBeneath = (location: string, url: URL): boolean => new URL(location).pathname.startsWith(pathOf(url))

/**
 * Whether an interface is at the path, or below it. Hosts are not compared: behind a proxy a card often names another
 * host.
 */
function listsPath({ supportedInterfaces }: AgentCard, url: URL): boolean {
  const asked = pathOf(url)
  return supportedInterfaces.some((one) => {
    if (!/^https?:/i.test(one.url) || !URL.canParse(one.url)) return false
    const path = pathOf(new URL(one.url))
    return path === asked || path.startsWith(`${asked}/`)
  })
}

/** Throws a failure that ends the search: no response at all, a peer that is unavailable now, or an invalid card. */
function throwIfFinal(failure: A2AError, isGuess: boolean): void {
  const { details } = failure
  // A guessed location may hold anything, so its content does not end the search.
  if (isGuess ? details['reason'] === 'NETWORK' : !details['status'] || failure.retryable) throw failure
}

function cardLocations(url: URL): readonly string[] {
  const { href, origin } = url
  const path = pathOf(url)
  const wellKnown = (base: string): string[] => [
    `${base}/.well-known/agent-card.json`,
    `${base}/.well-known/agent.json`,
  ]
  // Some hubs use the last two.
  const beneath = [
    ...wellKnown(origin + path),
    href,
    `${origin}${path}/.well-known/agent`,
    `${origin}${path}/agent-card`,
  ]
  return path === '' ? beneath.filter((location) => location !== href) : [...beneath, ...wellKnown(origin)]
}

/** More than any list of names needs. */
const maxMessageBytes = 10_000

/** Adds the server's message if it says that there is no such agent, because it lists the agents that exist. */
export async function withServerMessage(
  refusal: A2AError,
  response: HttpAnswer,
  { limits, signal }: { readonly limits: ClientLimits; readonly signal: AbortSignal },
): Promise<A2AError> {
  const body = await readText(response, maxMessageBytes, signal, limits.cardTimeoutMs).catch(() => '')
  if (!body.includes('"AGENT_NOT_FOUND"')) return refusal
  try {
    const { error, message = error?.message } = JSON.parse(body) as ErrorBody
    if (typeof message !== 'string') return refusal
    return new A2AError(refusal.code, refusal.message, {
      ...refusal.details,
      said: message.slice(0, maxMessageBytes / 10),
    })
  } catch {
    return refusal
  }
}

interface ErrorBody {
  readonly error?: { readonly message?: unknown }
  readonly message?: unknown
}
