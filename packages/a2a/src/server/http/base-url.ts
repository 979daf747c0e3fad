/** The URL at which the sender of a request reaches the server: the prefix of all URLs in cards. */
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

/** The sender of the request. With a trusted proxy: the last address of X-Forwarded-For, which that proxy added. */
export function senderAddress(request: HttpRequest, trustProxy: boolean): string | undefined {
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
