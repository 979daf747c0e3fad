/** The used parts of node:http's request and response, by shape: any compatible objects are accepted. */

import type { SocketProgress } from '../streaming/reader-limits.ts'

/** The used part of an IncomingMessage. */
export interface NodeRequest {
  readonly method?: string | undefined
  readonly url?: string | undefined
  /** Set by Connect and Express, which remove the mount path from `url`. */
  readonly originalUrl?: string
  readonly baseUrl?: string
  /** Names and values alternate, as received. */
  readonly rawHeaders?: readonly string[]
  readonly httpVersion?: string
  readonly headers: { readonly [name: string]: string | string[] | undefined }
  readonly socket: {
    readonly remoteAddress?: string | undefined
    readonly localAddress?: string | undefined
    readonly destroyed?: boolean
    readonly encrypted?: boolean
    /** TLS: whether a trusted authority issued the certificate. */
    readonly authorized?: boolean
    /** Returns an empty object if the client has no certificate. */
    readonly getPeerCertificate?: () => object
  }
  /** Set by body parsers. */
  readonly body?: unknown
  readonly readableEnded: boolean
  readonly destroyed: boolean
  /** Set by `serve`: passes the body on without a stream. `false` if it is too late for that: then the body comes by events. */
  handTo?(reader: BodyReader): boolean
  on(event: 'data', listener: (chunk: Uint8Array) => void): unknown
  on(event: 'end' | 'close', listener: () => void): unknown
  on(event: 'error', listener: (reason: unknown) => void): unknown
}

/** Receives a whole body. Either `end` or `left` is called, once. */
export interface BodyReader {
  piece(chunk: Uint8Array): void
  end(): void
  /** The client disconnected before the end. */
  left(): void
}

/** The used part of a ServerResponse. */
export interface NodeResponse {
  readonly socket?: SocketProgress | null
  readonly headersSent: boolean
  readonly destroyed: boolean
  /** Whether all data was handed to the operating system. */
  readonly writableFinished?: boolean
  writeHead(status: number, headers: Record<string, string | number>): unknown
  write(chunk: string | Uint8Array): boolean
  end(body?: string | Uint8Array): unknown
  flushHeaders(): void
  destroy(): unknown
  on(event: 'close' | 'drain' | 'finish', listener: () => void): unknown
  off(event: 'close' | 'drain' | 'finish', listener: () => void): unknown
  on(event: 'error', listener: (reason: unknown) => void): unknown
}
