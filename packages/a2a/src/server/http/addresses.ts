/** Addresses of a request: the URL at which its sender reaches the server, which is the prefix of all URLs in cards, and the sender's own. */
import type { HttpRequest } from '../../bindings/http.ts'

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
