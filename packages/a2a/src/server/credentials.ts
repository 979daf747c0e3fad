/** The part of a request that may prove who calls: never its body (B-150). */
import type { ClientCertificate, HttpRequest } from '../bindings/http.ts'

export interface Credentials {
  readonly method: string
  readonly path: string
  readonly query: string
  /** By lower-case name. */
  header(name: string): string | undefined
  readonly remoteAddress?: string | undefined
  /** Of a client that proved who it is by TLS, where the listener asks for certificates and trusts who made this one. */
  readonly clientCertificate?: ClientCertificate | undefined
  /** The name of the agent that is called. */
  readonly agent: string
}

export function credentialsOf(request: HttpRequest, agent: string): Credentials {
  const { method, path, query, remoteAddress, clientCertificate } = request
  const header = (name: string): string | undefined => request.header(name)
  return { method, path, query, header, remoteAddress, clientCertificate, agent }
}
