/** The part of a request that may authenticate the caller: never its body (B-150). */
import type { ClientCertificate, HttpRequest } from '../../bindings/http.ts'

/** The parts of a request from which `authenticate` identifies the caller. The body is not among them (B-150). */
export interface Credentials {
  readonly method: string
  readonly path: string
  /** The query string, without `?`. */
  readonly query: string
  /** Returns a request header; `name` is in lower case. For gRPC: the metadata of the call. */
  header(name: string): string | undefined
  /** The address of the peer, as the listener reports it. */
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
