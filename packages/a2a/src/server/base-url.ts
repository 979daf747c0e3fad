/** Where a request's sender can reach us again: what cards put in front of their paths. */
import type { HttpRequest } from '../bindings/http.ts'

export interface AddressOptions {
  readonly publicUrl?: string | undefined
  readonly trustProxy: boolean
}

/** Without a slash at the end, mount prefix included. */
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

/** Who sent the request: of those who passed it on, a trusted proxy tells whom it saw, the last that it added. */
export function senderAddress(request: HttpRequest, trustProxy: boolean): string | undefined {
  const seen = trustProxy ? request.header('x-forwarded-for')?.split(',').at(-1)?.trim() : undefined
  return seen === undefined || seen === '' ? request.remoteAddress : seen
}

/** A Host is what a stranger typed: only what could be a name or an address, with a port, goes into a card. */
export function isPlausibleHost(host: string | undefined): host is string {
  if (host === undefined || host.length > 255) return false
  return /^(?:[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/.test(host)
}

function first(list: string | undefined): string | undefined {
  const value = list?.split(',', 1)[0]?.trim()
  return value === '' ? undefined : value
}
