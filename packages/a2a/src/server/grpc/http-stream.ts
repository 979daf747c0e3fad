/** The HTTP/2 stream below a call of grpc-js, which has no public name: needed to notice and to cut a call that is not read. */
import type { WatchedSocket } from '../patience.ts'

/** What we use of an Http2Stream. Where it is not found, a stalled call ends without it. */
export interface HttpStream {
  readonly session?: { readonly socket?: WatchedSocket }
  readonly destroyed: boolean
  once(event: 'close', listener: () => void): unknown
  destroy(): unknown
}

interface Inner {
  readonly stream?: HttpStream
  readonly nextCall?: Inner
}

export function httpStreamOf(call: object): HttpStream | undefined {
  let inner = (call as { readonly call?: Inner }).call
  while (inner?.nextCall !== undefined) inner = inner.nextCall
  return inner?.stream
}
