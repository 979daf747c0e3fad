/**
 * Sends one request over HTTP: adds credentials, decides redirects itself instead of leaving them to the platform, and applies
 * timeouts. Every failure is an A2AError or the caller's abort reason.
 *
 * `credentials` and `mode` keep the platform's defaults (`same-origin`, `cors`): a page's cookies go to its own origin and to
 * no other agent, and Workers refuse a request that even sets them.
 */
import { A2AError } from '../../model/error.ts'
import { abortable, linkSignals } from '../../model/signals.ts'
import type {
  AuthCredentials,
  AuthRequest,
  Authenticator,
  ClientLimits,
  DirectFetch,
  Fetch,
  HttpAnswer,
  HttpClient,
  OutgoingHttpRequest,
  Secret,
} from '../contract.ts'
import type { FetchOnce } from './follow-redirects.ts'
import { parseHttpUrl, urlWithoutQuery } from './http-url.ts'
import { discardBody, timeoutError } from './read-text.ts'

type HeaderFields = Readonly<Record<string, string>>

export interface HttpClientDeps {
  /** Default: the platform's. */
  readonly fetch?: Fetch | undefined
  readonly authenticate?: Authenticator | undefined
  readonly limits: Pick<ClientLimits, 'timeoutMs' | 'maxRedirects'>
  /** Headers from the user: they go where credentials go. */
  readonly headers?: HeaderFields | undefined
}
export interface AuthenticatedHttpClient extends HttpClient {
  /** The fetch in use: responses from different fetch functions must not be mixed up. */
  readonly fetch: Fetch
  /** The identity under which a request would be sent now, as a key for caches. */
  identify(request: Pick<OutgoingHttpRequest, 'url' | 'signal' | 'card'>): Promise<string>
}
/** How a response came about. */
export interface ResponseOrigin {
  /** After redirects. */
  readonly url: URL
  /** As `identify` would return it. */
  readonly identity: string
}

const responseOrigins = new WeakMap<HttpAnswer, ResponseOrigin>()
export const responseOriginOf = (response: HttpAnswer): ResponseOrigin | undefined => responseOrigins.get(response)

export const platformFetch: Fetch = (request) => fetch(request)

const authRequestOf = ({ url, signal, card }: Pick<OutgoingHttpRequest, 'url' | 'signal' | 'card'>): AuthRequest => ({
  url,
  signal,
  card,
})

export function createHttpClient({
  fetch = platformFetch,
  authenticate,
  limits,
  headers: ownHeaders = {},
}: HttpClientDeps): AuthenticatedHttpClient {
  const requestCredentials = async (authRequest: AuthRequest): Promise<AuthCredentials | undefined> => {
    try {
      return authenticate && (await abortable(authRequest.signal, authenticate(authRequest)))
    } catch (cause) {
      if (authRequest.signal.aborted || cause instanceof A2AError) throw cause
      throw new A2AError('UNAUTHENTICATED', 'The credentials could not be obtained', {}, { cause })
    }
  }
  /** Names in lower case. Later ones override earlier ones. */
  const fieldsOf = (credentials: AuthCredentials = {}, headers: HeaderFields = {}): Record<string, string> => {
    const fields: Record<string, string> = {}
    for (const each of [ownHeaders, headers, credentials.headers ?? {}])
      for (const [name, value] of Object.entries(each)) fields[name.toLowerCase()] = value
    for (const pair of Object.entries(credentials.cookies ?? {}))
      fields['cookie'] = [fields['cookie'] ?? [], pair.join('=')].flat().join('; ')
    return fields
  }
  const identityOf = (credentials: AuthCredentials | undefined): string => JSON.stringify([ownHeaders, credentials])
  /** `undefined`: there are no other credentials than those that the peer refused. */
  const otherCredentials = async (authRequest: AuthRequest, refused: NonNullable<AuthRequest['refused']>) => {
    const other = await requestCredentials({ ...authRequest, refused })
    return other && identityOf(other) !== identityOf(refused.sent) ? other : undefined
  }

  return {
    fetch,
    identify: async (request) => identityOf(await requestCredentials(authRequestOf(request))),
    async credentialHeaders(request, refused) {
      const authRequest = authRequestOf(request)
      const credentials = await (refused ? otherCredentials(authRequest, refused) : requestCredentials(authRequest))
      if (refused && !credentials) return undefined
      return { headers: Object.fromEntries(webHeadersOf(fieldsOf(credentials))), credentials }
    },
    async send(outgoing) {
      const authRequest = authRequestOf(outgoing)
      const sent = await requestCredentials(authRequest)
      const response = await exchange(outgoing, sent)
      // Another origin, reached by a redirect, got no credentials and gets none now.
      if (response.status !== 401 || responseOriginOf(response)?.url.origin !== parseHttpUrl(outgoing.url).origin)
        return response
      try {
        const wwwAuthenticate = response.headers.get('www-authenticate') ?? undefined
        const other = await otherCredentials(authRequest, { wwwAuthenticate, sent })
        if (!other) return response
        discardBody(response)
        return await exchange(outgoing, other)
      } catch (reason) {
        discardBody(response)
        throw reason
      }
    },
  }

  /** Applies the timeout, redirects included. Authentication is not timed: it may have to wait for a person. */
  async function exchange(
    outgoing: OutgoingHttpRequest,
    credentials: AuthCredentials | undefined,
  ): Promise<HttpAnswer> {
    let url = parseHttpUrl(outgoing.url)
    for (const [name, value] of Object.entries(credentials?.query ?? {})) url.searchParams.set(name, value)
    const headers = fieldsOf(credentials, outgoing.headers)
    const { signal, end } = linkSignals([outgoing.signal], outgoing.timeoutMs ?? limits.timeoutMs, () =>
      timeoutError(`The response of ${urlWithoutQuery(url)}`),
    )
    const fetchOnce: FetchOnce = (url, headers, redirect = 'manual') =>
      (fetch as Partial<DirectFetch>).exchange?.({ ...outgoing, url, headers, signal }) ??
      abortableFetch(signal, fetch, new Request(url, { ...outgoing, headers: webHeadersOf(headers), redirect, signal }))
    try {
      signal.throwIfAborted()
      let response = await fetchOnce(url, headers)
      if (response.type === 'opaqueredirect' || [301, 302, 303, 307, 308].includes(response.status)) {
        const { followRedirects } = await import('./follow-redirects.ts')
        ;({ response, url } = await followRedirects(response, url, {
          outgoing,
          ownHeaders,
          credentials,
          headers,
          fetchOnce,
          ...limits,
        }))
      }
      responseOrigins.set(response, { url, identity: identityOf(credentials) })
      return response
    } catch (reason) {
      if (signal.aborted) throw signal.reason
      if (reason instanceof A2AError) throw reason
      const cause = ((reason as Error).cause ?? reason) as Error & { readonly code?: string }
      // A browser gives no cause and no code, and its page can load no module without a network.
      const why =
        cause === reason && !cause.code ? 'no connection' : (await import('./network-failure.ts')).networkFailure(cause)
      const message = `${urlWithoutQuery(url)} cannot be reached: ${why}`
      throw new A2AError('UNAVAILABLE', message, { reason: 'NETWORK' }, { cause: reason })
    } finally {
      end()
    }
  }
}

function webHeadersOf(fields: HeaderFields): Headers {
  try {
    return new Headers(fields)
  } catch {
    // The platform's message would quote the value, which may be a secret.
    throw new A2AError('INVALID_PARAMS', 'Invalid HTTP header')
  }
}

/** The value to send. A function is called each time. White space is removed, because secrets often come from files. */
export async function resolveSecret(secret: Secret, prefix = ''): Promise<string | undefined> {
  const value = (typeof secret === 'function' ? await secret() : secret)?.trim()
  return value ? prefix + value : undefined
}

// Waits no longer than a signal allows for work that may ignore the signal: a custom fetch, a custom authenticator.

const pendingRequests = new Set<Request>()

/** Node's fetch gets the abort only through its Request, which must not be garbage-collected in the meantime. */
async function abortableFetch(signal: AbortSignal, fetch: Fetch, request: Request): Promise<Response> {
  pendingRequests.add(request)
  try {
    return await abortable(signal, fetch(request), discardBody)
  } finally {
    pendingRequests.delete(request)
  }
}
