/**
 * The HTTP/2 stream below a grpc-js call, which has no public name: needed to detect and close a call that is not read, and to write
 * many messages at once.
 */
import type { SocketProgress } from '../streaming/reader-limits.ts'

/** The used part of an Http2Stream. If it is not found, a stalled call ends without it. */
export interface Http2Stream {
  readonly session?: { readonly socket?: SocketProgress }
  readonly destroyed: boolean
  /** Whether `end()` was called: grpc-js does that when it has a status to send. */
  readonly writableEnded: boolean
  once(event: 'close', listener: () => void): unknown
  on(event: 'drain', listener: () => void): unknown
  off(event: 'drain', listener: () => void): unknown
  write(bytes: Uint8Array, done?: (error?: Error | null) => void): boolean
  destroy(): unknown
}

interface InnerCall {
  readonly stream?: Http2Stream
  readonly nextCall?: InnerCall
}

export function http2StreamOf(call: object): Http2Stream | undefined {
  let inner = (call as { readonly call?: InnerCall }).call
  while (inner?.nextCall !== undefined) inner = inner.nextCall
  return inner?.stream
}
