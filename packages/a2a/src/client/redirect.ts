/**
 * Where a redirect may lead. Within an origin we stay who we are; another origin gets the question and nothing that says
 * who asks; and what would arrive there as another question is not asked at all. Loaded when a peer redirects.
 */
import { A2AError } from '../model/error.ts'
import { isHttp, nameOf } from './address.ts'
import type { AuthAnswer, OutgoingHttp } from './contract.ts'
import { discard } from './read-text.ts'

/** What another origin may know of a request. A list of what is allowed: nobody can list what is secret. */
const harmless = /^(accept|content-type|a2a-version|(x-)?a2a-extensions|last-event-id|if-(none-match|modified-since))$/i

interface Trip {
  readonly outgoing: OutgoingHttp
  /** With everything, for our own origin. */
  readonly headers: Headers
  readonly own: Readonly<Record<string, string>>
  readonly who: AuthAnswer | undefined
  readonly maxRedirects: number
  knock(url: URL, headers: Headers, redirect?: 'follow'): Promise<Response>
}

export async function follow(response: Response, url: URL, trip: Trip): Promise<{ response: Response; url: URL }> {
  const { outgoing, own, who, maxRedirects, knock } = trip
  const { method } = outgoing
  const isRead = method === 'GET' || method === 'HEAD'
  const query = Object.entries(who?.query ?? {})
  const said = [own, outgoing.headers, who?.headers, who?.cookies].flatMap((fields) => Object.keys(fields ?? {}))
  let { headers } = trip
  for (let hops = 1; ; hops++) {
    const { status } = response
    discard(response)
    const refuse = (why: string): A2AError =>
      new A2AError('INVALID_AGENT_RESPONSE', `${nameOf(url)} redirects ${why}`, {
        reason: 'REDIRECT',
        status: String(status),
      })
    if (response.type === 'opaqueredirect') {
      // A browser does not say where to. It may go there by itself with what it cannot give away.
      if (!isRead || query.length > 0 || !said.every((name) => harmless.test(name)))
        throw refuse('a request that says who we are, or a message, and a browser does not say where to')
      response = await knock(url, headers, 'follow')
      return { response, url: URL.canParse(response.url) ? new URL(response.url) : url }
    }
    const location = response.headers.get('location')
    const next = location !== null && URL.canParse(location, url.href) ? new URL(location, url) : undefined
    if (next === undefined || !isHttp(next)) throw refuse('to where no client can follow')
    if (url.protocol === 'https:' && next.protocol === 'http:') throw refuse('from https to http')
    // Turning a POST into a GET, as browsers do, would lose the message and look like success.
    if (!isRead && status < 307) throw refuse(`a ${method} with ${status}, which does not keep its body`)
    if (hops > maxRedirects) throw refuse(`more than ${maxRedirects} times`)
    if (next.origin !== url.origin) {
      // For good, even if the way leads back: whoever is between may have chosen what is asked there.
      headers = new Headers(Object.entries(outgoing.headers).filter(([name]) => harmless.test(name)))
      for (const [name] of query) next.searchParams.delete(name)
    } else if (headers === trip.headers) {
      for (const [name, value] of query) next.searchParams.set(name, value)
    }
    next.hash = ''
    url = next
    response = await knock(url, headers)
    if (![301, 302, 303, 307, 308].includes(response.status)) return { response, url }
  }
}
