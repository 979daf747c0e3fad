/**
 * The record that a listener makes of a request, and what goes back. It is our own
 * rather than the web's Request: a naive bridge to that costs 65-85 % of node:http's
 * throughput, this record costs none.
 */
import type { ErrorCode } from '../model/error.ts'

export interface HttpRequest {
  readonly method: string
  /** Percent-encoded, without the query and without the prefix the handler is mounted at. */
  readonly path: string
  /** Without the question mark. */
  readonly query: string
  /** By lower-case name. */
  header(name: string): string | undefined
  /** Rejects with PAYLOAD_TOO_LARGE beyond the limit, without reading on. */
  body(limitBytes: number): Promise<string>
  /** Set where a framework has read and parsed the body before us; `body` is then not asked. */
  readonly parsed?: { readonly value: unknown } | undefined
  /** Aborted when the client has gone. Made when first asked for: an AbortController a request is dear. */
  readonly signal: AbortSignal
  /** Cuts off an answer that is not sent whole, where the runtime can. */
  disconnect?(): void
  /** The peer's address, where the runtime tells it. */
  readonly remoteAddress?: string | undefined
  /** Our own address on that connection, where the runtime tells it; empty once the connection is gone. */
  readonly localAddress?: string | undefined
  /** Whether it came over TLS, as far as the runtime can tell. */
  readonly secure: boolean
  /** Of a client that proved who it is by TLS, where the listener asked for it and checked it (mTLS). */
  readonly clientCertificate?: ClientCertificate | undefined
  /** The mount prefix that was cut off `path`, without a trailing slash. */
  readonly prefix: string
}

/** What of a certificate says whose it is; Node's own has more. */
export interface ClientCertificate {
  /** `{ CN: 'billing', O: 'Example' }` */
  readonly subject: { readonly [name: string]: string | readonly string[] | undefined }
  readonly issuer: { readonly [name: string]: string | readonly string[] | undefined }
  /** `DNS:billing.example.com, URI:spiffe://example.com/billing` */
  readonly subjectaltname?: string | undefined
  /** SHA-256 over the whole certificate, in hex with colons. */
  readonly fingerprint256: string
  /** The certificate itself, in DER. */
  readonly raw: Uint8Array
}

export type HttpHeaders = Readonly<Record<string, string>>

export type HttpResponse =
  | {
      readonly status: number
      readonly headers: HttpHeaders
      readonly body: string | Uint8Array
      /** Set where the answer is a refusal: JSON-RPC says so in a 200. For whoever is told of answers, not for the wire. */
      readonly refused?: ErrorCode
    }
  /** Each chunk is written as one piece; the next is asked for only when the last was taken. */
  | {
      readonly status: number
      readonly headers: HttpHeaders
      readonly chunks: AsyncIterable<Chunk>
      /** Of all chunks, where that is known: then it is one answer in pieces, and no stream. */
      readonly lengthBytes?: number
    }

/** A piece of a text. Bytes are UTF-8 and shared: never change them. */
export type Chunk = string | Uint8Array
