/**
 * Redirect policy. Within an origin the credentials stay; another origin gets the request without them; a redirect that would
 * change the request is refused. Loaded when a peer redirects.
 */
import { A2AError } from '../../model/error.ts'
import { isHttpUrl, urlWithoutQuery } from './http-url.ts'
import type { AuthCredentials, HttpAnswer, OutgoingHttpRequest } from '../contract.ts'
import { discardBody } from './read-text.ts'

/** Headers that another origin may see. This is an allowlist, because a list of secrets can never be complete. */
const crossOriginHeaders =
  /^(accept|content-type|a2a-version|(x-)?a2a-extensions|last-event-id|if-(none-match|modified-since))$/i

/** One request of an exchange, which may be redirected. */
export type FetchOnce = (
  url: URL,
  headers: Readonly<Record<string, string>>,
  redirect?: RequestInit['redirect'],
) => Promise<HttpAnswer>

interface RedirectContext {
  readonly outgoing: OutgoingHttpRequest
  /** All headers, for our own origin. */
  readonly headers: Readonly<Record<string, string>>
  readonly ownHeaders: Readonly<Record<string, string>>
  readonly credentials: AuthCredentials | undefined
  readonly maxRedirects: number
  readonly fetchOnce: FetchOnce
}

export async function followRedirects(
  response: HttpAnswer,
  url: URL,
  context: RedirectContext,
): Promise<{ response: HttpAnswer; url: URL }> {
  const { outgoing, ownHeaders, credentials, maxRedirects, fetchOnce } = context
  const { method } = outgoing
  const isRead = method === 'GET' || method === 'HEAD'
  const query = Object.entries(credentials?.query ?? {})
  const sentNames = [ownHeaders, outgoing.headers, credentials?.headers, credentials?.cookies].flatMap((fields) =>
    Object.keys(fields ?? {}),
  )
  let { headers } = context
  for (let hops = 1; ; hops++) {
    const { status } = response
    discardBody(response)
    const refuse = (why: string): A2AError =>
      new A2AError('INVALID_AGENT_RESPONSE', `${urlWithoutQuery(url)} redirects ${why}`, {
        reason: 'REDIRECT',
        status: String(status),
      })
    if (maxRedirects === 0) throw refuse('a request that must not be redirected')
    if (response.type === 'opaqueredirect') {
      // A browser does not reveal the target. It may follow the redirect itself if the request contains nothing secret.
      if (!isRead || query.length > 0 || !sentNames.every((name) => crossOriginHeaders.test(name)))
        throw refuse('a request with credentials or a body, and browsers hide the target')
      response = await fetchOnce(url, headers, 'follow')
      return { response, url: URL.canParse(response.url ?? '') ? new URL(response.url ?? '') : url }
    }
    const location = response.headers.get('location')
    const next = location !== null && URL.canParse(location, url.href) ? new URL(location, url) : undefined
    if (next === undefined || !isHttpUrl(next)) throw refuse('to a URL that cannot be followed')
    if (url.protocol === 'https:' && next.protocol === 'http:') throw refuse('from https to http')
    // Turning a POST into a GET, as browsers do, would lose the message and look like success.
    if (!isRead && status < 307) throw refuse(`a ${method} with ${status}, which does not keep its body`)
    if (hops > maxRedirects) throw refuse(`more than ${maxRedirects} times`)
    if (next.origin !== url.origin) {
      // Permanently, even if a later redirect leads back: a party in between may have chosen that request.
      headers = Object.fromEntries(Object.entries(outgoing.headers).filter(([name]) => crossOriginHeaders.test(name)))
      for (const [name] of query) next.searchParams.delete(name)
    } else if (headers === context.headers) {
      for (const [name, value] of query) next.searchParams.set(name, value)
    }
    next.hash = ''
    url = next
    response = await fetchOnce(url, headers)
    if (![301, 302, 303, 307, 308].includes(response.status)) return { response, url }
  }
}
