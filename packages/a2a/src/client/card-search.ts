/**
 * Where else a card may be (B-28), and what to say if it is nowhere. Beneath the path first, because agents that share a
 * host have a path each (B-27); then at the root, because the path may be that of an endpoint. Needed when
 * the likely place has answered with something else.
 */
import { A2AError } from '../model/error.ts'
import { nameOf } from './address.ts'
import type { Patience } from './ask-again.ts'

/** Tries what is left after `first`, which failed with `reason`; first of all `first` again, if it is only busy. */
export async function search<T>(
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
