/**
 * gRPC messages that were written and that the client has not read yet: counts their bytes and disconnects a client that stalls.
 * grpc-js copies each message for each client, so each copy counts.
 */
import type { ServerUnaryCall, ServerWritableStream } from '@grpc/grpc-js'
import { A2AError } from '../../model/error.ts'
import { startStallTimer, bytesSent } from '../streaming/stream-limits.ts'
import { largeChars } from '../streaming/encoding-cache.ts'
import type { ReaderAccount } from '../streaming/unsent-bytes.ts'
import { type Http2Stream, http2StreamOf } from './http2-stream.ts'

type Bytes = Uint8Array

export interface StallOptions {
  readonly stallMs: number
  stalled(): void
}

/** Progress of the connection: grpc-js does not report that of a single call. */
function progressOf(stream: Http2Stream | undefined): () => number {
  return () => bytesSent(stream?.session?.socket)
}

/** Writes a message. Resolves when the next may be written; rejects if nothing was taken for `stallMs`. */
export function writeGrpcMessage(
  call: ServerWritableStream<Bytes, Bytes>,
  bytes: Bytes,
  account: ReaderAccount,
  stallOptions: StallOptions,
): Promise<void> | undefined {
  // A call buffers 16 messages before it reports that it is full, however long they are.
  const isLarge = bytes.length > largeChars
  if (!isLarge)
    return call.write(bytes) ? undefined : waitUntilTaken(call, (done) => call.once('drain', done), stallOptions)
  account.setOwnBytes(bytes.length)
  return waitUntilTaken(call, (done) => call.write(bytes, done), stallOptions).finally(() => account.setOwnBytes(0))
}

/** Resolves when the client has taken the written bytes or has disconnected; rejects after `stallMs`. */
function waitUntilTaken(
  call: ServerWritableStream<Bytes, Bytes>,
  begin: (done: () => void) => unknown,
  { stallMs, stalled }: StallOptions,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const stream = http2StreamOf(call)
    const end = (): void => {
      cancelStallTimer()
      call.off('drain', done)
      call.off('cancelled', done)
    }
    const done = (): void => {
      end()
      resolve()
    }
    const cut = (): void => {
      end()
      stalled()
      reject(new A2AError('UNAVAILABLE', 'The client did not read the stream; subscribe again to resume'))
      // The status waits behind the unread messages. If it is not read either, the stream is destroyed.
      destroyUnread(stream, stallMs)
    }
    const cancelStallTimer = startStallTimer(stallMs, cut, progressOf(stream))
    call.on('cancelled', done)
    begin(done)
    if (call.cancelled) done()
  })
}

function destroyUnread(stream: Http2Stream | undefined, stallMs: number): void {
  if (stream === undefined || stream.destroyed) return
  const cancelStallTimer = startStallTimer(stallMs, () => stream.destroy(), progressOf(stream))
  stream.once('close', cancelStallTimer)
}

/** Watches a single response until the client has taken it; no other code detects a client that does not read it. */
export function watchResponse(
  call: ServerUnaryCall<Bytes, Bytes>,
  bytes: Bytes,
  account: ReaderAccount,
  { stallMs, stalled }: StallOptions,
): void {
  const stream = http2StreamOf(call)
  if (stream === undefined || stream.destroyed) return account.close()
  account.setOwnBytes(bytes.length)
  const cut = (): void => {
    stalled()
    stream.destroy()
  }
  const cancelStallTimer = startStallTimer(stallMs, cut, progressOf(stream))
  stream.once('close', () => {
    cancelStallTimer()
    account.close()
  })
}
