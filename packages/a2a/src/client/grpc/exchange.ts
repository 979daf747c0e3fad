/** One call over a channel: bytes out, bytes back, with a deadline and a way to leave. */
import { status } from '@grpc/grpc-js'
import type { Client, ClientReadableStream, Metadata, ServiceError } from '@grpc/grpc-js'
import { after } from '../../model/linked-signal.ts'
import { tooSlow } from '../read-text.ts'

export interface Exchange {
  readonly client: Client
  readonly path: string
  readonly bytes: Uint8Array
  readonly metadata: Metadata
  readonly signal: AbortSignal
  readonly timeoutMs: number | undefined
  /** As whom the peer is spoken of. */
  readonly peer: string
}

const asTheyAre = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/** Rejects with the signal's reason, a TIMEOUT, or the status as the library tells it. */
export function askOnce(exchange: Exchange): Promise<Uint8Array> {
  const { client, path, bytes, metadata, signal, timeoutMs = Infinity, peer } = exchange
  return new Promise((resolve, reject) => {
    // The deadline is told the peer, which need not work for nobody; its own clock may be slower than ours.
    const options = Number.isFinite(timeoutMs) ? { deadline: Date.now() + timeoutMs } : {}
    const call = client.makeUnaryRequest(path, asTheyAre, asTheyAre, bytes, metadata, options, (reason, answer) => {
      signal.removeEventListener('abort', leave)
      if (reason !== null) reject(isLate(reason) ? tooSlow(`The answer of ${peer}`) : reason)
      else resolve(answer ?? new Uint8Array())
    })
    const leave = (): void => {
      reject(signal.reason as Error)
      call.cancel()
    }
    signal.addEventListener('abort', leave, { once: true })
  })
}

/** Of our own deadline; what the peer says of itself comes with details. */
function isLate({ code, metadata }: ServiceError): boolean {
  return code === status.DEADLINE_EXCEEDED && metadata?.get('grpc-status-details-bin').length === 0
}

export interface OpenedStream {
  readonly call: ClientReadableStream<Uint8Array>
  /** The status that it ended with, if that was not OK; `undefined` as long as it goes on. */
  failure(): ServiceError | undefined
}

/** Resolves when the peer has begun to answer. */
export function askForStream(exchange: Exchange): Promise<OpenedStream> {
  const { client, path, bytes, metadata, signal, timeoutMs = Infinity, peer } = exchange
  return new Promise((resolve, reject) => {
    const call = client.makeServerStreamRequest(path, asTheyAre, asTheyAre, bytes, metadata)
    let failure: ServiceError | undefined
    const settle = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', leave)
    }
    const giveUp = (reason: Error): void => {
      settle()
      reject(reason)
      call.cancel()
    }
    const leave = (): void => giveUp(signal.reason as Error)
    const timer = after(timeoutMs, () => giveUp(tooSlow(`The answer of ${peer}`)))
    signal.addEventListener('abort', leave, { once: true })
    // Heard to the end: an error that nobody hears would end the process.
    call.on('error', (reason: ServiceError) => {
      failure = reason
      settle()
      reject(reason)
    })
    call.once('metadata', () => {
      settle()
      resolve({ call, failure: () => failure })
    })
  })
}
