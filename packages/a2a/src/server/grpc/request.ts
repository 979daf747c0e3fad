/** A call of gRPC as the request that the rest of the server knows: metadata are headers, the rpc is the path. */
import type { Metadata, ServerUnaryCall } from '@grpc/grpc-js'
import type { ClientCertificate, HttpRequest } from '../../bindings/http.ts'
import { hostname } from '../guard.ts'
import { httpStreamOf } from './http-stream.ts'

/** What unary calls and streams have in common. */
export type Call = Pick<
  ServerUnaryCall<Uint8Array, Uint8Array>,
  'metadata' | 'request' | 'cancelled' | 'on' | 'getPeer' | 'getPath' | 'getHost' | 'getAuthContext' | 'sendMetadata'
>

/** Where HTTP is spoken on the same host, so that a card that is asked for by gRPC leads there. */
export interface HttpPlace {
  readonly port: number
  readonly isSecure: boolean
}

/** A class for its getters, as elsewhere: on an object literal they are made anew for each call. */
export class GrpcRequest implements HttpRequest {
  readonly method = 'POST'
  readonly query = ''
  readonly prefix = ''
  readonly #call: Call
  readonly #http: HttpPlace | undefined
  #leaving: AbortController | undefined

  constructor(call: Call, http: HttpPlace | undefined) {
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
    return Promise.reject(new Error('A message of gRPC is no text'))
  }

  /** Aborted when the client has gone and when its deadline has passed; neither ever ends a task (B-103). */
  get signal(): AbortSignal {
    if (this.#leaving === undefined) {
      const leaving = (this.#leaving = new AbortController())
      if (this.#call.cancelled) leaving.abort()
      else this.#call.on('cancelled', () => leaving.abort())
    }
    return this.#leaving.signal
  }

  /** Resets this call's stream. Others of the same connection go on. */
  disconnect(): void {
    const stream = httpStreamOf(this.#call)
    if (stream?.destroyed === false) stream.destroy()
  }

  get remoteAddress(): string | undefined {
    const peer = this.#call.getPeer()
    const colon = peer.lastIndexOf(':')
    return colon < 0 ? undefined : peer.slice(0, colon)
  }

  /** Of HTTP, where that is another listener. */
  get secure(): boolean {
    return this.#http?.isSecure ?? this.#call.getAuthContext().transportSecurityType === 'ssl'
  }

  get clientCertificate(): ClientCertificate | undefined {
    // Without one, Node answers an empty object.
    const certificate = this.#call.getAuthContext().sslPeerCertificate
    return certificate?.fingerprint256 === undefined ? undefined : certificate
  }
}

/** Several values of one name are one list (F-11). Bytes are for others. */
function textIn(metadata: Metadata, name: string): string | undefined {
  const texts = metadata.get(name).filter((value) => typeof value === 'string')
  return texts.length === 0 ? undefined : texts.join(', ')
}
