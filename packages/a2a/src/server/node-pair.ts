/** What we use of node:http's two objects, by shape: whoever passes something like them along will do. */

import type { WatchedSocket } from './patience.ts'

/** What we use of an IncomingMessage. */
export interface NodeRequest {
  readonly method?: string | undefined
  readonly url?: string | undefined
  /** Set by Connect and Express, which cut the mount path off `url`. */
  readonly originalUrl?: string
  readonly baseUrl?: string
  /** Names and values in turn, as they came. */
  readonly rawHeaders?: readonly string[]
  readonly httpVersion?: string
  readonly headers: { readonly [name: string]: string | string[] | undefined }
  readonly socket: {
    readonly remoteAddress?: string | undefined
    readonly localAddress?: string | undefined
    readonly destroyed?: boolean
    readonly encrypted?: boolean
    /** Of TLS: whether an authority that we trust made the certificate. */
    readonly authorized?: boolean
    /** An empty object where the client showed none. */
    readonly getPeerCertificate?: () => object
  }
  /** Set by body parsers. */
  readonly body?: unknown
  readonly readableEnded: boolean
  readonly destroyed: boolean
  /** Of `serve`: hands the body over without a stream. `false` if it is too late for that: then it comes by events. */
  handTo?(reader: BodyReader): boolean
  on(event: 'data', listener: (chunk: Uint8Array) => void): unknown
  on(event: 'end' | 'close', listener: () => void): unknown
  on(event: 'error', listener: (reason: unknown) => void): unknown
}

/** Whoever wants all of a body. Of `end` and `left` it hears one, once. */
export interface BodyReader {
  piece(chunk: Uint8Array): void
  end(): void
  /** The client went away before the end. */
  left(): void
}

/** What we use of a ServerResponse. */
export interface NodeResponse {
  readonly socket?: WatchedSocket | null
  readonly headersSent: boolean
  readonly destroyed: boolean
  /** Whether everything was handed to the system. */
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
