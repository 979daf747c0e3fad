/** The rpcs of A2A on @grpc/grpc-js: bytes in, the handler's answer out, one message or as many as there are. */
import { Metadata } from '@grpc/grpc-js'
import type {
  sendUnaryData,
  ServerUnaryCall,
  ServerWritableStream,
  ServiceDefinition,
  UntypedHandleCall,
} from '@grpc/grpc-js'
import type { HttpHeaders } from '../../bindings/http.ts'
import { methodsOf, readRequest, type RpcMethod, writeResponse } from '../../bindings/grpc/service.ts'
import { statusOf } from '../../bindings/grpc/status.ts'
import { A2AError } from '../../model/error.ts'
import { heavyStep, isHeavy } from '../../model/heavy-step.ts'
import { rpcsOf } from '../../versions/rpcs.ts'
import type { ProtocolVersion } from '../../versions/version.ts'
import type { GrpcAnswer } from '../grpc-calls.ts'
import type { GrpcHandler } from '../grpc-handler.ts'
import type { OpenStream } from '../perform.ts'
import { largeChars, wholeOf } from '../slices.ts'
import type { ReaderAccount } from '../unsent-bytes.ts'
import { GrpcRequest, type HttpPlace } from './request.ts'
import { type StallOptions, watchAnswer, writeGrpcMessage } from './unread-calls.ts'

type Bytes = Uint8Array
type UnaryCall = ServerUnaryCall<Bytes, Bytes>
type StreamCall = ServerWritableStream<Bytes, Bytes>

export interface Service {
  readonly definition: ServiceDefinition
  readonly implementation: Record<string, UntypedHandleCall>
}

export interface ServiceParts {
  readonly handler: GrpcHandler
  readonly http: HttpPlace | undefined
  /** The only agent of this port, if it is one agent's own. */
  readonly agent?: string | undefined
  /** Told of every call that is to be answered at once, and when it has been. */
  began(): () => void
}

export function a2aService(version: ProtocolVersion, parts: ServiceParts): Service {
  const definition: Record<string, ServiceDefinition[string]> = {}
  const implementation: Record<string, UntypedHandleCall> = {}
  for (const method of methodsOf(version).values()) {
    const { name } = method.rpc
    definition[name] = bytesOnly(method.path, false, method.isStream)
    implementation[name] = method.isStream
      ? (call: StreamCall) => void stream(call, method, version, parts)
      : (call: UnaryCall, callback: sendUnaryData<Bytes>) => void unary(call, callback, method, version, parts)
  }
  return { definition, implementation }
}

/** Bytes stay bytes up to here: who calls is asked before anything is read, and what is malformed gets our own answer. */
export function bytesOnly(path: string, requestStream: boolean, responseStream: boolean): ServiceDefinition[string] {
  const asTheyAre = (bytes: Bytes): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return {
    path,
    requestStream,
    responseStream,
    requestSerialize: asTheyAre,
    requestDeserialize: asTheyAre,
    responseSerialize: asTheyAre,
    responseDeserialize: asTheyAre,
  }
}

function ask(
  call: UnaryCall | StreamCall,
  method: RpcMethod,
  { id }: ProtocolVersion,
  { handler, http, agent }: ServiceParts,
): Promise<GrpcAnswer> {
  // RFC 9113 8.3.1: a Host that differs from `:authority` is malformed.
  if (call.metadata.get('host').some((host) => host !== call.getHost())) {
    const error = new A2AError('INVALID_REQUEST', 'The metadata `host` differs from `:authority`: send one of them')
    return Promise.resolve({ headers: {}, error })
  }
  return handler.answer({
    request: new GrpcRequest(call, http),
    service: rpcsOf[id].service,
    operation: method.operation,
    authority: call.getHost(),
    agent,
    size: call.request.length,
    payload: () => readRequest(method, call.request, handler.jsonNodes),
  })
}

async function unary(
  call: UnaryCall,
  callback: sendUnaryData<Bytes>,
  method: RpcMethod,
  version: ProtocolVersion,
  parts: ServiceParts,
): Promise<void> {
  const ended = parts.began()
  try {
    const answer = await ask(call, method, version, parts)
    if ('error' in answer) callback(failure(answer.error, version, answer.headers))
    else if ('body' in answer) {
      if (isHeavy(answer.body.length)) await heavyStep()
      const { account } = answer
      const bytes = encodeAnswer(method, answer.body, account)
      if (account !== undefined) watchAnswer(call, bytes, account, parts.handler)
      call.sendMetadata(metadataOf(answer.headers))
      callback(null, bytes)
    } else throw new Error(`${method.path} answers with a stream`)
  } catch (reason) {
    callback(failure(unexpected(reason, parts), version))
  } finally {
    ended()
  }
}

/** What is counted for an answer that cannot be written is given back: nothing else would. */
function encodeAnswer(method: RpcMethod, body: string | Bytes, account: ReaderAccount | undefined): Bytes {
  try {
    return writeResponse(method, body)
  } catch (reason) {
    account?.close()
    throw reason
  }
}

async function stream(
  call: StreamCall,
  method: RpcMethod,
  version: ProtocolVersion,
  parts: ServiceParts,
): Promise<void> {
  const ended = parts.began()
  try {
    const answer = await ask(call, method, version, parts)
    ended()
    if ('error' in answer) call.emit('error', failure(answer.error, version, answer.headers))
    else if ('open' in answer) {
      call.sendMetadata(metadataOf(answer.headers))
      const failed = (reason: unknown): Refusal => failure(answer.failed(reason), version)
      await pump(call, answer.open, method, failed, parts.handler)
    } else throw new Error(`${method.path} answers with one message`)
  } catch (reason) {
    call.emit('error', failure(unexpected(reason, parts), version))
  } finally {
    ended()
  }
}

/**
 * Pulled, never pushed: the next batch is asked for when the last was taken, so a slow reader holds one batch and its
 * place in the log. Whoever takes nothing for `stallMs` is let go of, and resumes.
 */
async function pump(
  call: StreamCall,
  { stream: events, encode, account, ended }: OpenStream,
  method: RpcMethod,
  failed: (reason: unknown) => Refusal,
  patience: StallOptions,
): Promise<void> {
  const source = events[Symbol.asyncIterator]()
  const leaving = new AbortController()
  const letGo = (): void => {
    leaving.abort()
    account.close()
    ended()
    // What the source still has to say is nobody's business any more.
    source.return?.()?.then(undefined, () => {})
  }
  call.on('cancelled', letGo)
  if (call.cancelled) return letGo()
  try {
    for (;;) {
      if (!account.mayPull()) await account.room(leaving.signal, 'pull')
      const next = await source.next()
      if (next.done === true) break
      for (const item of next.value) {
        const isLarge = (item.bytes ?? 0) > largeChars
        // Each client has its own copy, so a text that other clients hold already counts again.
        while (isLarge && !call.cancelled && !account.mayHold()) await account.room(leaving.signal)
        if (call.cancelled) return
        const written = writeGrpcMessage(call, writeResponse(method, wholeOf(encode(item))), account, patience)
        if (written !== undefined) await written
      }
    }
    if (!call.cancelled) call.end()
  } catch (reason) {
    if (!call.cancelled) call.emit('error', failed(reason))
  } finally {
    letGo()
  }
}

function unexpected(reason: unknown, { handler }: ServiceParts): A2AError {
  handler.log.error('a gRPC call failed', { cause: reason })
  // Whatever it was, it was not said to the caller on purpose.
  return new A2AError('INTERNAL', 'Internal error', {}, { cause: reason })
}

interface Refusal {
  readonly code: number
  readonly details: string
  readonly metadata: Metadata
}

/** Status, sentence and trailers, as @grpc/grpc-js takes them. */
function failure(error: A2AError, { id }: ProtocolVersion, headers: HttpHeaders = {}): Refusal {
  const { code, message, details } = statusOf(error, rpcsOf[id])
  const metadata = metadataOf(headers)
  if (details !== undefined) metadata.set('grpc-status-details-bin', Buffer.from(details))
  return { code, details: message, metadata }
}

/** Names of metadata are in lower case (F-11). */
function metadataOf(headers: HttpHeaders): Metadata {
  const metadata = new Metadata()
  for (const [name, value] of Object.entries(headers)) metadata.set(name.toLowerCase(), value)
  return metadata
}
