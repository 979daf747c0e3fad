/** One call over a channel: bytes out, bytes back, with a deadline and cancellation. */
import { status, type Client, type ClientReadableStream, type Metadata, type ServiceError } from '@grpc/grpc-js'
import { startTimeout } from '../../model/signals.ts'
import { timeoutError } from '../http/read-text.ts'

export interface GrpcClientCall {
  readonly client: Client
  readonly path: string
  readonly bytes: Uint8Array
  readonly metadata: Metadata
  readonly signal: AbortSignal
  readonly timeoutMs: number | undefined
  /** The name of the peer in error messages. */
  readonly peer: string
}

const passBytes = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/** Rejects with the signal's reason, a TIMEOUT, or the status from the library. */
export function callUnary(exchange: GrpcClientCall): Promise<Uint8Array> {
  const { client, path, bytes, metadata, signal, timeoutMs = Infinity, peer } = exchange
  return new Promise((resolve, reject) => {
    // The peer gets the deadline, so that it need not work after the client has given up; its clock may be slower than ours.
    const options = Number.isFinite(timeoutMs) ? { deadline: Date.now() + timeoutMs } : {}
    const call = client.makeUnaryRequest(path, passBytes, passBytes, bytes, metadata, options, (reason, answer) => {
      signal.removeEventListener('abort', cancel)
      if (reason !== null) reject(isOwnDeadline(reason) ? timeoutError(`The response of ${peer}`) : reason)
      else resolve(answer ?? new Uint8Array())
    })
    const cancel = (): void => {
      reject(signal.reason as Error)
      call.cancel()
    }
    signal.addEventListener('abort', cancel, { once: true })
  })
}

/** Whether our own deadline passed; a status of the peer comes with details. */
function isOwnDeadline({ code, metadata }: ServiceError): boolean {
  return code === status.DEADLINE_EXCEEDED && metadata?.get('grpc-status-details-bin').length === 0
}

export interface GrpcClientStream {
  readonly call: ClientReadableStream<Uint8Array>
  /** The status that it ended with, if that was not OK; `undefined` while it runs. */
  failure(): ServiceError | undefined
}

/** Resolves when the peer has begun to respond. */
export function openServerStream(exchange: GrpcClientCall): Promise<GrpcClientStream> {
  const { client, path, bytes, metadata, signal, timeoutMs = Infinity, peer } = exchange
  return new Promise((resolve, reject) => {
    const call = client.makeServerStreamRequest(path, passBytes, passBytes, bytes, metadata)
    let failure: ServiceError | undefined
    const settle = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', cancel)
    }
    const giveUp = (reason: Error): void => {
      settle()
      reject(reason)
      call.cancel()
    }
    const cancel = (): void => giveUp(signal.reason as Error)
    const timer = startTimeout(timeoutMs, () => giveUp(timeoutError(`The response of ${peer}`)))
    signal.addEventListener('abort', cancel, { once: true })
    // Listen to the end: an error without a listener would end the process.
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
