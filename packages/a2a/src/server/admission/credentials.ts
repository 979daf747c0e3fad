/** The part of a request that may authenticate the caller: never its body (B-150). */
import type { ClientCertificate, HttpRequest } from '../../bindings/http.ts'

export interface Credentials {
  readonly method: string
  readonly path: string
  readonly query: string
  /** By lower-case name. */
  header(name: string): string | undefined
  readonly remoteAddress?: string | undefined
  /** The client's TLS certificate, if the listener requests certificates and trusts the issuer of this one. */
  readonly clientCertificate?: ClientCertificate | undefined
  /** The name of the called agent. */
  readonly agent: string
}

export function credentialsOf(request: HttpRequest, agent: string): Credentials {
  const { method, path, query, remoteAddress, clientCertificate } = request
  const header = (name: string): string | undefined => request.header(name)
  return { method, path, query, header, remoteAddress, clientCertificate, agent }
}
