/**
 * gRPC messages that were written and not yet read by the client: counts their bytes and disconnects a client that stalls.
 * grpc-js copies each message for each client, so each copy counts.
 */
import type { ServerUnaryCall, ServerWritableStream } from '@grpc/grpc-js'
import { A2AError } from '../../model/error.ts'
import { afterStall, bytesTaken } from '../patience.ts'
import { largeChars } from '../slices.ts'
import type { ReaderAccount } from '../unsent-bytes.ts'
import { type HttpStream, httpStreamOf } from './http-stream.ts'

type Bytes = Uint8Array

export interface StallOptions {
  readonly stallMs: number
  stalled(): void
}

/** Progress of the connection: grpc-js tells nothing of a single call's. */
function progressOf(stream: HttpStream | undefined): () => number {
  return () => bytesTaken(stream?.session?.socket)
}

/** Writes a message. Resolves when the next may be written; rejects if nothing was taken for `stallMs`. */
export function writeGrpcMessage(
  call: ServerWritableStream<Bytes, Bytes>,
  bytes: Bytes,
  account: ReaderAccount,
  patience: StallOptions,
): Promise<void> | undefined {
  // A call buffers 16 messages before it reports that it is full, however long they are.
  const isLarge = bytes.length > largeChars
  if (!isLarge) return call.write(bytes) ? undefined : taken(call, (done) => call.once('drain', done), patience)
  account.setOwn(bytes.length)
  return taken(call, (done) => call.write(bytes, done), patience).finally(() => account.setOwn(0))
}

/** Resolves when the client has taken what was written, or has gone; rejects after `stallMs`. */
function taken(
  call: ServerWritableStream<Bytes, Bytes>,
  begin: (done: () => void) => unknown,
  { stallMs, stalled }: StallOptions,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const stream = httpStreamOf(call)
    const end = (): void => {
      callOff()
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
      reject(new A2AError('UNAVAILABLE', 'The stream was not read; subscribe again to go on'))
      // The status waits behind the unread messages. If it is not read either, the stream is destroyed.
      dropUnread(stream, stallMs)
    }
    const callOff = afterStall(stallMs, cut, progressOf(stream))
    call.on('cancelled', done)
    begin(done)
    if (call.cancelled) done()
  })
}

function dropUnread(stream: HttpStream | undefined, stallMs: number): void {
  if (stream === undefined || stream.destroyed) return
  const callOff = afterStall(stallMs, () => stream.destroy(), progressOf(stream))
  stream.once('close', callOff)
}

/** Watches a single answer until the client has taken it: nothing else would notice a client that does not read. */
export function watchAnswer(
  call: ServerUnaryCall<Bytes, Bytes>,
  bytes: Bytes,
  account: ReaderAccount,
  { stallMs, stalled }: StallOptions,
): void {
  const stream = httpStreamOf(call)
  if (stream === undefined || stream.destroyed) return account.close()
  account.setOwn(bytes.length)
  const cut = (): void => {
    stalled()
    stream.destroy()
  }
  const callOff = afterStall(stallMs, cut, progressOf(stream))
  stream.once('close', () => {
    callOff()
    account.close()
  })
}
