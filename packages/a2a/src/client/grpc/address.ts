/**
 * Where a gRPC interface is and whether by TLS. Cards say `host:port`, as the protocol has it, or a url, as its examples
 * do. A scheme decides; without one, what the caller says; else TLS, unless the peer is this machine.
 */
import { A2AError } from '../../model/error.ts'

export interface GrpcAddress {
  /** As the transport takes it. */
  readonly target: string
  readonly isSecure: boolean
  /** As a url, for those who decide by origins. */
  readonly url: string
}

const schemes: Readonly<Record<string, boolean>> = { grpc: false, http: false, grpcs: true, https: true }

export function grpcAddress(given: string, tls: boolean | undefined): GrpcAddress {
  const [, scheme, rest = ''] = /^(?:([a-z]+):\/\/)?(.*)$/i.exec(given.trim()) ?? []
  const said = scheme === undefined ? undefined : schemes[scheme.toLowerCase()]
  const authority = rest.split(/[/?#]/, 1)[0] ?? ''
  const url = (isSecure: boolean): string => `${isSecure ? 'https' : 'http'}://${authority}`
  if ((scheme !== undefined && said === undefined) || authority.includes('@') || !URL.canParse(url(true))) {
    throw new A2AError('INVALID_AGENT_RESPONSE', `This is no address of gRPC: ${given}`)
  }
  const { hostname } = new URL(url(true))
  const isSecure = said ?? tls ?? !/^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname)
  const hasPort = /:\d+$/.test(authority)
  return { target: hasPort ? authority : `${authority}:${isSecure ? 443 : 80}`, isSecure, url: url(isSecure) }
}
