/**
 * Who may knock: the Host a request is for and the page it comes from. On a machine of
 * one's own nobody logs in, so a page elsewhere that makes the browser call here, or a
 * name elsewhere that resolves here, must be turned away (DNS rebinding). And the
 * other way round: the pages that were invited (CORS).
 */
import type { HttpHeaders, HttpRequest, HttpResponse } from '../bindings/http.ts'
import { A2AError } from '../model/error.ts'
import type { AddressOptions } from './base-url.ts'
import type { HouseOptions } from './options.ts'

export const loopbackHosts: readonly string[] = ['localhost', '127.0.0.1', '[::1]']

/** The Hosts that a request may be for; `undefined` where any will do. */
export type HostRule = (request: HttpRequest) => ReadonlySet<string> | undefined

/**
 * The operator's list; or else, while nobody has to log in, this machine's own names for what arrives at its loopback.
 * The connection tells that, whoever listens: one that came to another address, or of which nothing is known, is not asked.
 * One that is gone cannot tell any more, and is asked: leaving early must not be a way in.
 */
export function createHostRule(options: Pick<HouseOptions, 'hosts' | 'authenticate' | 'publicUrl'>): HostRule {
  const { hosts, authenticate, publicUrl } = options
  if (hosts !== undefined) {
    const listed = new Set(hosts.map((host) => host.toLowerCase()))
    return () => listed
  }
  if (authenticate !== undefined) return () => undefined
  const home = new Set([...loopbackHosts, ...(publicUrl !== undefined ? [new URL(publicUrl).hostname] : [])])
  return ({ localAddress }) =>
    localAddress === '' || (localAddress !== undefined && isLoopbackAddress(localAddress)) ? home : undefined
}

/** Throws PERMISSION_DENIED for a foreign Host, or for a page that is neither of that Host nor invited. */
export function checkHost(request: HttpRequest, hosts: ReadonlySet<string>, cors: CorsRule): void {
  const host = request.header('host')
  if (host === undefined || !hosts.has(hostname(host).toLowerCase())) {
    throw new A2AError('PERMISSION_DENIED', 'This server does not answer for that Host')
  }
  const origin = request.header('origin')
  if (origin === undefined || cors.allows(origin)) return
  const scheme = origin.indexOf('://')
  if (scheme < 0 || origin.slice(scheme + 3).toLowerCase() !== host.toLowerCase()) {
    throw new A2AError('PERMISSION_DENIED', 'Pages of that origin may not call this server')
  }
}

/**
 * Whether a request names one Host, as node:http lists its headers. Of two, node keeps the first and a proxy before us may
 * have judged by the second; RFC 9112 3.2 asks for 400.
 */
export function hasOneHost(rawHeaders: readonly string[]): boolean {
  let count = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string
    if (name.length === 4 && name.toLowerCase() === 'host') count += 1
  }
  return count === 1
}

/** Without the port. */
export function hostname(host: string): string {
  const colon = host.lastIndexOf(':')
  return colon > host.lastIndexOf(']') ? host.slice(0, colon) : host
}

export function isLoopbackAddress(address: string): boolean {
  return address === '::1' || address.startsWith('127.') || address.startsWith('::ffff:127.')
}

/** What proxies add. */
const proxyHeaders = ['x-forwarded-for', 'x-real-ip', 'forwarded', 'via']

/**
 * Whether the sender sits at this machine. A proxy on this machine does not count: it
 * speaks for strangers, and says so in the headers it adds or the Host it keeps. One that
 * does neither is known by what the operator says of it: that it is there, or our address outside.
 */
export function isLocal(request: HttpRequest, { publicUrl, trustProxy }: AddressOptions): boolean {
  return (
    !trustProxy &&
    (publicUrl === undefined || loopbackHosts.includes(new URL(publicUrl).hostname)) &&
    request.remoteAddress !== undefined &&
    isLoopbackAddress(request.remoteAddress) &&
    loopbackHosts.includes(hostname(request.header('host') ?? '').toLowerCase()) &&
    proxyHeaders.every((name) => request.header(name) === undefined)
  )
}

export interface CorsRule {
  readonly enabled: boolean
  allows(origin: string): boolean
  /** To be added to the answer. Empty for requests that come from no page or from one that was not invited. */
  headers(request: HttpRequest): HttpHeaders
  /** The answer to a browser that asks first; `undefined` if this is not such a question. */
  preflight(request: HttpRequest): HttpResponse | undefined
}

const allowedHeaders =
  'Accept, Authorization, Content-Type, Idempotency-Key, Last-Event-ID, A2A-Version, A2A-Extensions, X-A2A-Extensions, ' +
  'Traceparent, Tracestate, X-API-Key'
const exposedHeaders =
  'A2A-Version, A2A-Extensions, X-A2A-Extensions, Allow, ETag, Last-Modified, Retry-After, WWW-Authenticate, ' +
  'X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset'
const nothing: HttpHeaders = {}

export function createCors(origins: readonly string[] | '*' | undefined): CorsRule {
  const listed = new Set(origins === '*' ? [] : origins)
  const allows = (origin: string): boolean => origins === '*' || listed.has(origin)

  function headers(request: HttpRequest): HttpHeaders {
    if (origins === undefined) return nothing
    const origin = request.header('origin')
    // Caches must keep the answers to different pages apart, also the answer that invites nobody.
    if (origin === undefined || !allows(origin)) return { vary: 'Origin' }
    return {
      'access-control-allow-origin': origins === '*' ? '*' : origin,
      'access-control-expose-headers': exposedHeaders,
      vary: 'Origin',
    }
  }

  return {
    enabled: origins !== undefined,
    allows,
    headers,
    preflight(request) {
      if (request.method !== 'OPTIONS' || request.header('access-control-request-method') === undefined)
        return undefined
      const origin = request.header('origin')
      if (origin === undefined || !allows(origin)) return { status: 403, headers: { vary: 'Origin' }, body: '' }
      return {
        status: 204,
        headers: {
          ...headers(request),
          'access-control-allow-methods': 'GET, HEAD, POST, DELETE, OPTIONS',
          'access-control-allow-headers': allowedHeaders,
          'access-control-max-age': '600',
        },
        body: '',
      }
    },
  }
}
