/** A gRPC call as an HttpRequest for the rest of the server: metadata are headers, the rpc is the path. */
import type { Metadata, ServerUnaryCall } from '@grpc/grpc-js'
import type { ClientCertificate, HttpRequest } from '../../bindings/http.ts'
import { hostname } from '../http/addresses.ts'
import { http2StreamOf } from './http2-stream.ts'

/** What unary calls and streams have in common. */
export type GrpcJsCall = Pick<
  ServerUnaryCall<Uint8Array, Uint8Array>,
  'metadata' | 'request' | 'cancelled' | 'on' | 'getPeer' | 'getPath' | 'getHost' | 'getAuthContext' | 'sendMetadata'
>

/** The HTTP address of the same host, for the urls in a card that is requested over gRPC. */
export interface HttpAddress {
  readonly port: number
  readonly isSecure: boolean
}

/** A class for its getters: an object literal creates them again for each call. */
export class GrpcRequest implements HttpRequest {
  readonly method = 'POST'
  readonly query = ''
  readonly prefix = ''
  readonly #call: GrpcJsCall
  readonly #http: HttpAddress | undefined
  #leaving: AbortController | undefined

  constructor(call: GrpcJsCall, http: HttpAddress | undefined) {
    this.#call = call
    this.#http = http
  }

  get path(): string {
    return this.#call.getPath()
  }

  header(name: string): string | undefined {
    return name === 'host' ? this.#host() : textIn(this.#call.metadata, name)
  }

  #host(): string | undefined {
    const authority = this.#call.getHost()
    return this.#http === undefined ? authority : `${hostname(authority)}:${this.#http.port}`
  }

  body(): Promise<string> {
    return Promise.reject(new Error('A gRPC message is not text'))
  }

  /** Aborts when the client disconnects and when its deadline passes; neither ever ends a task (B-103). */
  get signal(): AbortSignal {
    if (this.#leaving === undefined) {
      const leaving = (this.#leaving = new AbortController())
      if (this.#call.cancelled) leaving.abort()
      else this.#call.on('cancelled', () => leaving.abort())
    }
    return this.#leaving.signal
  }

  /** Resets this call's stream. Other streams of the same connection continue. */
  disconnect(): void {
    const stream = http2StreamOf(this.#call)
    if (stream?.destroyed === false) stream.destroy()
  }

  get remoteAddress(): string | undefined {
    const peer = this.#call.getPeer()
    const colon = peer.lastIndexOf(':')
    return colon < 0 ? undefined : peer.slice(0, colon)
  }

  /** Describes the HTTP listener, if there is another one. */
  get secure(): boolean {
    return this.#http?.isSecure ?? this.#call.getAuthContext().transportSecurityType === 'ssl'
  }

  get clientCertificate(): ClientCertificate | undefined {
    // Without a certificate Node returns an empty object.
    const certificate = this.#call.getAuthContext().sslPeerCertificate
    return certificate?.fingerprint256 === undefined ? undefined : certificate
  }
}

/** Several values of one name are joined to a list (F-11). Binary values are ignored. */
function textIn(metadata: Metadata, name: string): string | undefined {
  const texts = metadata.get(name).filter((value) => typeof value === 'string')
  return texts.length === 0 ? undefined : texts.join(', ')
}
