/**
 * The request record that a listener creates, and the response that it writes. It replaces the web's Request: a naive bridge to
 * that costs 65-85 % of node:http's throughput, this record costs none.
 * Also the parts of HTTP that every binding uses: query strings and the writing of server-sent events (`sse-reader.ts` reads them).
 */
import type { Pollable } from '../model/pollable.ts'
import { type ErrorCode, invalidParams } from '../model/error.ts'
import type { WorkOwner } from '../model/heavy-step.ts'

export interface HttpRequest {
  readonly method: string
  /** Percent-encoded, without the query and without the prefix at which the handler is mounted. */
  readonly path: string
  /** Without the question mark. */
  readonly query: string
  /** By lower-case name. */
  header(name: string): string | undefined
  /** Rejects with PAYLOAD_TOO_LARGE beyond the limit and stops reading. */
  body(limitBytes: number, owner?: WorkOwner): Promise<string>
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
      /** Set if the response is an error, which JSON-RPC sends with status 200. For `onOutcome`, not for the wire. */
      readonly errorCode?: ErrorCode
    }
  /** Each chunk is one write; the next is requested only after the last was taken. */
  | {
      readonly status: number
      readonly headers: HttpHeaders
      readonly chunks: Pollable<Chunk>
      /** Total of all chunks, if known: then it is one response in pieces and not a stream. */
      readonly lengthBytes?: number
    }

/** A piece of a text. Bytes are UTF-8 and shared: never change them. */
export type Chunk = string | Uint8Array

// Reads query strings without URL objects: most requests have no query, and the rest name a field or two.

/** Decoded, by name; the last value of a repeated name wins. Throws INVALID_PARAMS on a malformed escape. */
export function readQuery(query: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  if (query === '') return found
  for (const pair of query.split('&')) {
    if (pair === '') continue
    const equals = pair.indexOf('=')
    const name = equals < 0 ? pair : pair.slice(0, equals)
    const value = equals < 0 ? '' : pair.slice(equals + 1)
    found.set(decodeField(name, 'query'), decodeField(value, name))
  }
  return found
}

/** Returns one parameter, ignoring the case of its name; `undefined` also if it cannot be decoded. */
export function findParameter(query: string, lowerCaseName: string): string | undefined {
  if (query === '' || !query.toLowerCase().includes(lowerCaseName)) return undefined
  for (const pair of query.split('&')) {
    const equals = pair.indexOf('=')
    if (equals < 0 || pair.slice(0, equals).toLowerCase() !== lowerCaseName) continue
    try {
      return decode(pair.slice(equals + 1))
    } catch {
      return undefined
    }
  }
  return undefined
}

/** Percent-decodes a path segment. A malformed escape is an INVALID_PARAMS error and not a crash (F-9). */
export function decodeSegment(segment: string, field: string): string {
  return segment.includes('%') ? decodeField(segment, field, decodeURIComponent) : segment
}

function decodeField(value: string, field: string, decodeText = decode): string {
  try {
    return decodeText(value)
  } catch {
    throw invalidParams([{ field, description: 'has a malformed percent escape' }])
  }
}

function decode(value: string): string {
  const spaced = value.includes('+') ? value.replaceAll('+', ' ') : value
  return spaced.includes('%') ? decodeURIComponent(spaced) : spaced
}

// Writes server-sent events: one `data:` line per document, the cursor in `id:`, comments that keep proxies from timing out.

/** Headers of a stream of events. `no` keeps nginx from buffering the stream; the listener keeps the connection open (F-4). */
export const sseHeaders = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache',
  'x-accel-buffering': 'no',
} as const

/** A comment of a stream of events. */
export const keepAlive = ': keep-alive\n\n'

/** How many characters are joined into one write. Beyond it a second write costs less than the longer string. */
export const batchChars = 16_384

/** `json` must be one line, which JSON.stringify without indentation always is. */
export function sseFrame(seq: number | undefined, before: string, json: string, after: string): string {
  return seq === undefined ? `data: ${before}${json}${after}\n\n` : `id: ${seq}\ndata: ${before}${json}${after}\n\n`
}

/** The text before the document of a frame. */
export function sseHead(seq: number | undefined): string {
  return seq === undefined ? 'data: ' : `id: ${seq}\ndata: `
}

/** Reads `Last-Event-ID` or its query parameter for browsers. Ignores values that are not ids of this server. */
export function readCursor(value: string | undefined): number | undefined {
  if (value === undefined || value.length > 16 || !/^\d+$/.test(value)) return undefined
  const seq = Number(value)
  return Number.isSafeInteger(seq) ? seq : undefined
}
