/**
 * One request over HTTP, the careful way: who we are is added, a redirect is a decision of ours and not the platform's,
 * nothing hangs, and whatever goes wrong is an A2AError or the reason the caller aborted with.
 *
 * `credentials` and `mode` are left as the platform has them (`same-origin`, `cors`): a page's cookies go to its own
 * origin and to no agent elsewhere, and Workers refuse a request that so much as names them.
 */
import { A2AError } from '../model/error.ts'
import { linkSignals } from '../model/linked-signal.ts'
import { addressOf, nameOf } from './address.ts'
import type {
  AuthAnswer,
  Authenticator,
  AuthRequest,
  ClientLimits,
  Fetch,
  Http,
  Introduction,
  OutgoingHttp,
} from './contract.ts'
import { discard, tooSlow } from './read-text.ts'
import { fetchUntil, until } from './until.ts'

export { discard, readText } from './read-text.ts'
export { fetchUntil, until } from './until.ts'

type Fields = Readonly<Record<string, string>>

export interface HttpParts {
  /** Default: the platform's. */
  readonly fetch?: Fetch | undefined
  readonly authenticate?: Authenticator | undefined
  readonly limits: Pick<ClientLimits, 'timeoutMs' | 'maxRedirects'>
  /** Of the user: they go where credentials go. */
  readonly headers?: Fields | undefined
}
export interface CarefulHttp extends Http {
  /** What it sends with: answers that came by different ways are not to be mixed up. */
  readonly fetch: Fetch
  /** As whom a request would be sent now, as a key for caches. */
  identify(request: Pick<OutgoingHttp, 'url' | 'signal' | 'card'>): Promise<string>
}
/** How a response came about. */
export interface Origin {
  /** After redirects. */
  readonly url: URL
  /** As `identify` would have said. */
  readonly identity: string
}

const origins = new WeakMap<Response, Origin>()
/** What each was made of, as whoever renews it wants to know. */
const introductions = new WeakMap<Introduction, AuthAnswer | undefined>()
export const originOf = (response: Response): Origin | undefined => origins.get(response)

export const platformFetch: Fetch = (request) => fetch(request)

export function createHttp({ fetch = platformFetch, authenticate, limits, headers: own = {} }: HttpParts): CarefulHttp {
  const ask = async (about: AuthRequest): Promise<AuthAnswer | undefined> => {
    try {
      return authenticate && (await until(about.signal, authenticate(about)))
    } catch (cause) {
      if (about.signal.aborted || cause instanceof A2AError) throw cause
      throw new A2AError('UNAUTHENTICATED', 'The credentials could not be had', {}, { cause })
    }
  }
  const identityOf = (who: AuthAnswer | undefined): string => JSON.stringify([own, who])

  return {
    fetch,
    identify: async ({ url, signal, card }) => identityOf(await ask({ url, signal, card })),
    async introduce({ url, signal, card }, refused) {
      const about = { url, signal, card }
      const said = refused && introductions.get(refused.introduction)
      const who = await ask(
        refused ? { ...about, refused: { wwwAuthenticate: refused.wwwAuthenticate, sent: said } } : about,
      )
      if (refused && (!who || identityOf(who) === identityOf(said))) return undefined
      const introduction = { headers: Object.fromEntries(headersOf(who?.cookies, own, who?.headers)) }
      introductions.set(introduction, who)
      return introduction
    },
    async send(outgoing) {
      const { url, signal, card } = outgoing
      const about = { url, signal, card }
      const sent = await ask(about)
      const response = await exchange(outgoing, sent)
      // Another origin, where a redirect led, was not told who we are and will not be.
      if (response.status !== 401 || originOf(response)?.url.origin !== addressOf(url).origin) return response
      try {
        const wwwAuthenticate = response.headers.get('www-authenticate') ?? undefined
        const other = await ask({ ...about, refused: { wwwAuthenticate, sent } })
        if (!other || identityOf(other) === identityOf(sent)) return response
        discard(response)
        return await exchange(outgoing, other)
      } catch (reason) {
        discard(response)
        throw reason
      }
    },
  }

  /** Timed, redirects included. Who authenticates is not: it may have to wait for a person. */
  async function exchange(outgoing: OutgoingHttp, who: AuthAnswer | undefined): Promise<Response> {
    let url = addressOf(outgoing.url)
    for (const [name, value] of Object.entries(who?.query ?? {})) url.searchParams.set(name, value)
    const headers = headersOf(who?.cookies, own, outgoing.headers, who?.headers)
    const { signal, end } = linkSignals([outgoing.signal], outgoing.timeoutMs ?? limits.timeoutMs, () =>
      tooSlow(`The answer of ${nameOf(url)}`),
    )
    const knock = (at: URL, headers: Headers, redirect: RequestInit['redirect'] = 'manual'): Promise<Response> =>
      fetchUntil(signal, fetch, new Request(at, { ...outgoing, headers, redirect, signal }))
    try {
      signal.throwIfAborted()
      let response = await knock(url, headers)
      if (response.type === 'opaqueredirect' || [301, 302, 303, 307, 308].includes(response.status)) {
        const { follow } = await import('./redirect.ts')
        ;({ response, url } = await follow(response, url, { outgoing, own, who, headers, knock, ...limits }))
      }
      origins.set(response, { url, identity: identityOf(who) })
      return response
    } catch (reason) {
      if (signal.aborted) throw signal.reason
      if (reason instanceof A2AError) throw reason
      // The platform's word for it (`ECONNREFUSED`), but not its sentence, which may name an address within our network.
      const { code = 'no connection' } = ((reason as Error).cause ?? reason) as { code?: string }
      const message = `${nameOf(url)} cannot be reached: ${code}`
      throw new A2AError('UNAVAILABLE', message, { reason: 'NETWORK' }, { cause: reason })
    } finally {
      end()
    }
  }
}

/** The later ones win. */
function headersOf(cookies: Fields = {}, ...given: (Fields | undefined)[]): Headers {
  try {
    const headers = new Headers()
    for (const fields of given) for (const [name, value] of Object.entries(fields ?? {})) headers.set(name, value)
    const cookie = [headers.get('cookie') ?? [], Object.entries(cookies).map((pair) => pair.join('='))]
      .flat()
      .join('; ')
    if (cookie !== '') headers.set('cookie', cookie)
    return headers
  } catch {
    // The platform's complaint would quote the value, which may be a secret.
    throw new A2AError('INVALID_PARAMS', 'A header has a name or a value that HTTP does not allow')
  }
}
