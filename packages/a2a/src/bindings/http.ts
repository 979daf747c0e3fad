/**
 * The request record that a listener creates, and the response that it writes. It replaces the web's Request: a naive bridge to
 * that costs 65-85 % of node:http's throughput, this record costs none.
 */
import type { ErrorCode } from '../model/error.ts'

export interface HttpRequest {
  readonly method: string
  /** Percent-encoded, without the query and without the prefix at which the handler is mounted. */
  readonly path: string
  /** Without the question mark. */
  readonly query: string
  /** By lower-case name. */
  header(name: string): string | undefined
  /** Rejects with PAYLOAD_TOO_LARGE beyond the limit and stops reading. */
  body(limitBytes: number): Promise<string>
  /** Set if a framework has already read and parsed the body; `body` is then not called. */
  readonly parsed?: { readonly value: unknown } | undefined
  /** Aborts when the client disconnects. Created on first access, because an AbortController per request is expensive. */
  readonly signal: AbortSignal
  /** Closes the connection of a response that is not sent completely, if the runtime can. */
  disconnect?(): void
  /** The peer's address, if the runtime provides it. */
  readonly remoteAddress?: string | undefined
  /** The server's own address on that connection, if the runtime provides it; empty once the connection is closed. */
  readonly localAddress?: string | undefined
  /** Whether the request came over TLS, as far as the runtime knows. */
  readonly secure: boolean
  /** The client's TLS certificate, if the listener requested and verified one (mTLS). */
  readonly clientCertificate?: ClientCertificate | undefined
  /** The mount prefix that was removed from `path`, without a trailing slash. */
  readonly prefix: string
}

/** The identity part of a certificate; Node's own type has more. */
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
      /** Set if the response is an error, which JSON-RPC sends with status 200. For `onAnswer`, not for the wire. */
      readonly errorCode?: ErrorCode
    }
  /** Each chunk is one write; the next is requested only after the last was taken. */
  | {
      readonly status: number
      readonly headers: HttpHeaders
      readonly chunks: AsyncIterable<Chunk>
      /** Total of all chunks, if known: then it is one response in pieces and not a stream. */
      readonly lengthBytes?: number
    }

/** A piece of a text. Bytes are UTF-8 and shared: never change them. */
export type Chunk = string | Uint8Array
