/**
 * The address of a gRPC interface, and whether it uses TLS. Cards write `host:port`, as the protocol does, or a URL, as its
 * examples do. A scheme decides; without one, the caller's option; otherwise TLS, unless the peer is on loopback. The
 * authority is parsed only here: what a guard checks is what the transport connects to (B-26).
 */
import { A2AError } from '../../model/error.ts'
import { isLoopbackHost } from '../http/address-url.ts'

export interface GrpcAddress {
  /** In the form a URL parser gives it: lower case, numbers in dotted notation, IPv6 without brackets. */
  readonly host: string
  readonly port: number
  /** `host:port`, with brackets around IPv6. */
  readonly authority: string
  readonly isSecure: boolean
  /** As a URL, for decisions by origin. */
  readonly url: string
}

const schemes: Readonly<Record<string, boolean>> = { grpc: false, http: false, grpcs: true, https: true }

export function grpcAddress(given: string, tls: boolean | undefined): GrpcAddress {
  const [, scheme, rest = ''] = /^(?:([a-z]+):\/\/)?(.*)$/i.exec(given.trim()) ?? []
  const schemeTls = scheme === undefined ? undefined : schemes[scheme.toLowerCase()]
  const authority = rest.split(/[/?#]/, 1)[0] ?? ''
  // A URL parser ends the authority at `\` and other parsers do not, so only plain hosts pass.
  const isPlain = /^[A-Za-z0-9.:[\]_-]+$/.test(authority) && URL.canParse(`https://${authority}`)
  if (!isPlain || (scheme !== undefined && schemeTls === undefined)) throw invalidAddressError(given)
  const { hostname } = new URL(`https://${authority}`)
  const isSecure = schemeTls ?? tls ?? !isLoopbackHost(hostname)
  const port = Number(/:(\d+)$/.exec(authority)?.[1] ?? (isSecure ? 443 : 80))
  if (port === 0) throw invalidAddressError(given)
  const { origin: url } = new URL(`${isSecure ? 'https' : 'http'}://${hostname}:${port}`)
  return { host: hostname.replace(/^\[|\]$/g, ''), port, authority: `${hostname}:${port}`, isSecure, url }
}

function invalidAddressError(given: string): A2AError {
  return new A2AError('INVALID_AGENT_RESPONSE', `Not a gRPC address: ${JSON.stringify(given.slice(0, 300))}`)
}
