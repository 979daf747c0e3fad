/**
 * Addresses of a request: the URL at which its sender reaches the server, which is the prefix of all URLs in cards, the sender's own,
 * and the Host and the origin that it may name.
 */
import type { HttpHeaders, HttpRequest, HttpResponse } from '../../bindings/http.ts'
import { A2AError } from '../../model/error.ts'
import type { ServerOptions } from '../options.ts'

export interface AddressOptions {
  readonly publicUrl?: string | undefined
  readonly trustProxy: boolean
}

/** Without a trailing slash, including the mount prefix. */
export function baseUrl(request: HttpRequest, { publicUrl, trustProxy }: AddressOptions): string {
  if (publicUrl !== undefined) {
    const base = publicUrl.replace(/\/+$/, '')
    return base.endsWith(request.prefix) ? base : base + request.prefix
  }
  const forwarded = trustProxy ? first(request.header('x-forwarded-host')) : undefined
  const host = forwarded ?? request.header('host')
  const proto = trustProxy ? first(request.header('x-forwarded-proto')) : undefined
  const scheme = proto === 'https' || proto === 'http' ? proto : request.secure ? 'https' : 'http'
  return `${scheme}://${isPlausibleHost(host) ? host : 'localhost'}${request.prefix}`
}

/** The client of the request. With a trusted proxy: the last address of X-Forwarded-For, which that proxy added. */
export function clientAddress(
  request: Pick<HttpRequest, 'header' | 'remoteAddress'>,
  trustProxy: boolean,
): string | undefined {
  const seen = trustProxy ? request.header('x-forwarded-for')?.split(',').at(-1)?.trim() : undefined
  return seen === undefined || seen === '' ? request.remoteAddress : seen
}

/** A client chooses the Host header: only a valid name or address, with a port, may appear in a card. */
export function isPlausibleHost(host: string | undefined): host is string {
  if (host === undefined || host.length > 255) return false
  return /^(?:[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/.test(host)
}

function first(list: string | undefined): string | undefined {
  const value = list?.split(',', 1)[0]?.trim()
  return value === '' ? undefined : value
}

const ipv4 = /^\d{1,3}(\.\d{1,3}){3}$/
const ipv6 = /^(?=.*:.*:)[\da-f:]+(\d+\.\d+\.\d+\.\d+)?$/i

/**
 * Returns the key under which an address is counted: an IPv4 address as it is; an IPv6 address as its /64 network, because a client
 * may take any address in it. Any other value (a socket's path, `undefined`) is a client of its own.
 */
export function clientNetwork(address: string | undefined): string {
  if (address === undefined) return 'unknown'
  if (ipv4.test(address)) return address
  const bare = address.replace(/%.*$/, '').replace(/^\[|\]$/g, '')
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(bare)?.[1]
  if (mapped !== undefined) return mapped
  if (!ipv6.test(bare)) return bare
  const [head = '', tail] = bare.toLowerCase().split('::')
  const front = head === '' ? [] : head.split(':')
  // The dotted end of an address stands for two groups.
  const back = tail === undefined || tail === '' ? [] : tail.replace(/[\d.]*\.[\d.]*$/, '0:0').split(':')
  const gap = tail === undefined ? 0 : Math.max(0, 8 - front.length - back.length)
  const groups = [...front, ...Array.from({ length: gap }, () => '0'), ...back]
  return `${groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`
}

/** Formats a host for a URL or an `address:port`: IPv6 addresses get brackets. */
export function hostInUrl(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}

// A server on a developer's machine has no login, so it must refuse a foreign page that makes the browser call it, and a foreign name
// that resolves to it (DNS rebinding).

export const loopbackHosts: readonly string[] = ['localhost', '127.0.0.1', '[::1]']

/** The error for a request for a foreign Host, or from a page that may not call this server; `undefined` if it may proceed. */
export type HostCheck = (request: HttpRequest) => A2AError | undefined

/**
 * A request may name the hosts of the operator's list; else, without authentication, this machine's own names for connections to its
 * loopback. The connection's local address decides, independent of the listener: a connection to another address, or with an unknown
 * one, is not checked. A closed connection has no address any more and is checked: a client must not bypass the check by
 * disconnecting early. A page must be of that Host, or of an allowed origin.
 */
export function createHostCheck(
  { hosts, authenticate, publicUrl }: Pick<ServerOptions, 'hosts' | 'authenticate' | 'publicUrl'>,
  cors: Pick<CorsRule, 'allows'>,
): HostCheck {
  if (hosts === undefined && authenticate !== undefined) return () => undefined
  const ownNames = [...loopbackHosts, ...(publicUrl !== undefined ? [new URL(publicUrl).hostname] : [])]
  const allowed = new Set((hosts ?? ownNames).map((host) => host.toLowerCase()))
  const isChecked = ({ localAddress }: HttpRequest): boolean =>
    hosts !== undefined || localAddress === '' || (localAddress !== undefined && isLoopbackAddress(localAddress))

  return (request) => {
    if (!isChecked(request)) return undefined
    const host = request.header('host')
    if (host === undefined || !allowed.has(hostname(host).toLowerCase()))
      return new A2AError('PERMISSION_DENIED', 'This server does not serve that Host')
    const origin = request.header('origin')
    if (origin === undefined || cors.allows(origin)) return undefined
    const scheme = origin.indexOf('://')
    return scheme >= 0 && origin.slice(scheme + 3).toLowerCase() === host.toLowerCase()
      ? undefined
      : new A2AError('PERMISSION_DENIED', 'Pages of that origin may not call this server')
  }
}

/**
 * Whether a request has one Host header, as node:http lists its headers. Of two, node keeps the first and a proxy in front may have
 * checked the second; RFC 9112 3.2 requires 400.
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

/** Headers that proxies add. */
const proxyHeaders = ['x-forwarded-for', 'x-real-ip', 'forwarded', 'via']

/**
 * Whether the sender runs on this machine. A proxy on this machine does not count: it forwards remote clients, which its added
 * headers or the Host reveal. A proxy that does neither is known from the operator's settings: `trustProxy`, or `publicUrl`.
 */
export function isLocalRequest(
  request: Pick<HttpRequest, 'header' | 'remoteAddress'>,
  { publicUrl, trustProxy }: AddressOptions,
): boolean {
  return (
    !trustProxy &&
    (publicUrl === undefined || loopbackHosts.includes(new URL(publicUrl).hostname)) &&
    request.remoteAddress !== undefined &&
    isLoopbackAddress(request.remoteAddress) &&
    loopbackHosts.includes(hostname(request.header('host') ?? '').toLowerCase()) &&
    proxyHeaders.every((name) => request.header(name) === undefined)
  )
}

// CORS for the allowed origins.

export interface CorsRule {
  readonly enabled: boolean
  allows(origin: string): boolean
  /** Headers to add to the response. Empty for requests without an origin or from one that is not allowed. */
  headers(request: HttpRequest): HttpHeaders
  /** The response to a preflight request; `undefined` if this is not one. */
  preflight(request: HttpRequest): HttpResponse | undefined
}

const allowedHeaders =
  'Accept, Authorization, Content-Type, Idempotency-Key, Last-Event-ID, A2A-Version, A2A-Extensions, X-A2A-Extensions, ' +
  'Traceparent, Tracestate, X-API-Key'
const exposedHeaders =
  'A2A-Version, A2A-Extensions, X-A2A-Extensions, Allow, ETag, Last-Modified, Retry-After, WWW-Authenticate, ' +
  'X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset'
const noHeaders: HttpHeaders = {}

export function createCors(origins: readonly string[] | '*' | undefined): CorsRule {
  const listed = new Set(origins === '*' ? [] : origins)
  const allows = (origin: string): boolean => origins === '*' || listed.has(origin)

  function headers(request: HttpRequest): HttpHeaders {
    if (origins === undefined) return noHeaders
    const origin = request.header('origin')
    // Caches must keep responses to different origins apart, also the response that allows none.
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
