/** The rpcs of A2A on @grpc/grpc-js: passes bytes to the handler and writes its response, one message or a stream. */
import {
  Metadata,
  type sendUnaryData,
  type ServerUnaryCall,
  type ServerWritableStream,
  type ServiceDefinition,
  type UntypedHandleCall,
} from '@grpc/grpc-js'
import { encodeFrames, type Frames } from '../../bindings/grpc/codec.ts'
import { batchChars, type ClientCertificate, type HttpHeaders, type HttpRequest } from '../../bindings/http.ts'
import {
  decodeRpcRequest,
  encodeLargeRpcResponse,
  encodeRpcResponse,
  type RpcMethod,
  rpcMethodsOf,
} from '../../bindings/grpc/service.ts'
import { grpcStatusOf } from '../../bindings/grpc/status.ts'
import type { StreamItem } from '../../engine/contract.ts'
import { A2AError } from '../../model/error.ts'
import type { StreamEvent } from '../../model/task.ts'
import { isHeavy } from '../../model/heavy-step.ts'
import type { ProtocolVersion } from '../../versions/index.ts'
import type { GrpcResponse } from './grpc-dispatch.ts'
import type { GrpcHandler } from './grpc-handler.ts'
import { largeChars } from '../streaming/encoding-cache.ts'
import type { LargeResponse } from '../calls/perform-operation.ts'
import { type EventReader, isSameItem } from '../streaming/event-stream.ts'
import type { ReaderAccount } from '../streaming/reader-limits.ts'
import { type StallOptions, watchResponse, writeFrames } from './unread-calls.ts'
import { hostname } from '../http/addresses.ts'
import { http2StreamOf } from './http2-stream.ts'

type Bytes = Uint8Array
type UnaryCall = ServerUnaryCall<Bytes, Bytes>
type StreamCall = ServerWritableStream<Bytes, Bytes>

export interface GrpcService {
  readonly definition: ServiceDefinition
  readonly implementation: Record<string, UntypedHandleCall>
}

export interface GrpcServiceDeps {
  readonly handler: GrpcHandler
  readonly http: HttpAddress | undefined
  /** The only agent of this port, if the port is dedicated to one agent. */
  readonly agent?: string | undefined
  /** Called for every unary call; the returned function is called when it was answered. */
  onCallStart(): () => void
}

export function a2aService(version: ProtocolVersion, parts: GrpcServiceDeps): GrpcService {
  const definition: Record<string, ServiceDefinition[string]> = {}
  const implementation: Record<string, UntypedHandleCall> = {}
  for (const method of rpcMethodsOf(version).values()) {
    const { name } = method
    definition[name] = rawBytesMethod(method.path, false, method.isStream)
    implementation[name] = method.isStream
      ? (call: StreamCall) => void stream(call, method, version, parts)
      : (call: UnaryCall, callback: sendUnaryData<Bytes>) => void unary(call, callback, method, version, parts)
  }
  return { definition, implementation }
}

/**
 * Leaves requests undecoded: the caller is authenticated before a message is read, and the server itself answers malformed
 * messages.
 */
export function rawBytesMethod(
  path: string,
  requestStream: boolean,
  responseStream: boolean,
): ServiceDefinition[string] {
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

function dispatchRpc(
  call: UnaryCall | StreamCall,
  method: RpcMethod,
  { spelling }: ProtocolVersion,
  { handler, http, agent }: GrpcServiceDeps,
): Promise<GrpcResponse> {
  // RFC 9113 8.3.1: a Host that differs from `:authority` is malformed.
  if (call.metadata.get('host').some((host) => host !== call.getHost())) {
    const error = new A2AError('INVALID_REQUEST', 'The metadata `host` differs from `:authority`: send only one')
    return Promise.resolve({ headers: {}, error })
  }
  return handler.answer({
    request: new GrpcRequest(call, http),
    service: spelling.grpc.service,
    operation: method.operation,
    authority: call.getHost(),
    agent,
    size: call.request.length,
    payload: () => decodeRpcRequest(method, call.request, handler.jsonNodes),
  })
}

async function unary(
  call: UnaryCall,
  callback: sendUnaryData<Bytes>,
  method: RpcMethod,
  version: ProtocolVersion,
  parts: GrpcServiceDeps,
): Promise<void> {
  const ended = parts.onCallStart()
  try {
    const answer = await dispatchRpc(call, method, version, parts)
    if ('error' in answer) callback(toGrpcError(answer.error, version, answer.headers))
    else if ('body' in answer) {
      const { body } = answer
      const bytes = typeof body === 'string' ? encodeRpcResponse(method, body) : await encodeLarge(call, method, body)
      if (typeof body !== 'string') watchResponse(call, bytes, body.account, parts.handler)
      call.sendMetadata(metadataOf(answer.headers))
      callback(null, bytes)
    } else throw new Error(`${method.path} returns a stream`)
  } catch (reason) {
    const isLeft = call.cancelled && reason instanceof A2AError
    if (!isLeft) callback(toGrpcError(toInternalError(reason, parts), version))
  } finally {
    ended()
  }
}

/** Releases the bytes counted for a response that cannot be encoded, or whose reader leaves. */
async function encodeLarge(call: UnaryCall, method: RpcMethod, { bytes, account }: LargeResponse): Promise<Bytes> {
  const nextStep = async (): Promise<void> => {
    await account.nextStep()
    if (call.cancelled) throw new A2AError('UNAVAILABLE', 'The client has disconnected')
  }
  // The JSON, its value and the message: as much as reading the task took.
  account.setOwnBytes(bytes.length * 3)
  try {
    return await encodeLargeRpcResponse(method, bytes, nextStep)
  } catch (reason) {
    account.close()
    throw reason
  }
}

async function stream(
  call: StreamCall,
  method: RpcMethod,
  version: ProtocolVersion,
  parts: GrpcServiceDeps,
): Promise<void> {
  const ended = parts.onCallStart()
  try {
    const answer = await dispatchRpc(call, method, version, parts)
    ended()
    if ('error' in answer) call.emit('error', toGrpcError(answer.error, version, answer.headers))
    else if ('events' in answer) {
      call.sendMetadata(metadataOf(answer.headers))
      const failed = (reason: unknown): GrpcError => toGrpcError(answer.failed(reason), version)
      await writeEvents(call, answer.events, method, failed, parts.handler)
    } else throw new Error(`${method.path} returns one message`)
  } catch (reason) {
    call.emit('error', toGrpcError(toInternalError(reason, parts), version))
  } finally {
    ended()
  }
}

/**
 * Pulls and never pushes: the next batch is requested when the client took the last, so a slow client holds one batch and its
 * position in the log. A client that takes nothing for `stallMs` is disconnected, and can resume.
 */
async function writeEvents(
  call: StreamCall,
  events: EventReader,
  method: RpcMethod,
  failed: (reason: unknown) => GrpcError,
  stallOptions: StallOptions,
): Promise<void> {
  const { account } = events
  // Created on first use: nearly no stream waits for room, and aborting took 3 % of a short one.
  let leaving: AbortController | undefined
  const waitForRoom = (need?: 'pull'): Promise<void> =>
    account.waitForRoom((leaving ??= new AbortController()).signal, need)
  const release = (): void => {
    leaving?.abort()
    events.close()
  }
  call.on('cancelled', release)
  if (call.cancelled) return release()
  try {
    while (!call.cancelled) {
      if (!account.canPull()) await waitForRoom('pull')
      const next = await events.nextItems()
      if (next.done === true) break
      const items = next.value
      for (let at = 0; at < items.length;) {
        while (mustWait(items[at], events, method) && !call.cancelled) await waitForRoom()
        if (call.cancelled) return
        const made = framesOf(items, at, events, method)
        const { bytes, count } =
          made instanceof Promise ? await whileEncoded(made, items[at] as StreamItem, account) : made
        if (call.cancelled) return
        events.checkNotEnded()
        at += count
        const written = writeFrames(call, bytes, account, stallOptions)
        if (!(typeof written === 'boolean' ? written : await written)) return
      }
      account.setOwnBytes(0)
    }
    if (!call.cancelled) call.end()
  } catch (reason) {
    if (!call.cancelled) call.emit('error', failed(reason))
  } finally {
    release()
  }
}

/** The frames that were encoded last: when one event goes to many readers, the next request is nearly always for it. */
interface CachedFrames extends Frames {
  readonly encoding: string
  readonly response: string
  readonly first: StreamItem
  readonly last: StreamItem
}
let lastFrames: CachedFrames | undefined

/** Large events, encoded once for all readers; a promise while that takes steps. */
const largeFrames = new WeakMap<StreamEvent, Map<string, Frames | Promise<Frames>>>()

/** The next items as frames for one write; a large item is alone. */
function framesOf(
  items: readonly StreamItem[],
  at: number,
  events: EventReader,
  method: RpcMethod,
): Frames | Promise<Frames> {
  const { encoding } = events.encoder
  const { response } = method
  const first = items[at] as StreamItem
  if (isLarge(first)) return largeFramesOf(first, events, method)
  const known = lastFrames
  // Events follow one another in the log, so those between the same two are the same.
  if (known?.encoding === encoding && known.response === response && isSameItem(known.first, first)) {
    const last = items[at + known.count - 1]
    if (last !== undefined && isSameItem(known.last, last)) return known
  }
  let end = at + 1
  while (end < items.length && !isLarge(items[end])) end += 1
  const frames = encodeFrames(
    response,
    end - at,
    (index) => events.encoder.payload(items[at + index] as StreamItem),
    batchChars,
  )
  const last = items[at + frames.count - 1] as StreamItem
  lastFrames = { ...frames, encoding, response, first, last }
  return frames
}

function largeFramesOf(item: StreamItem, events: EventReader, method: RpcMethod): Frames | Promise<Frames> {
  const known = largeFrames.get(item.event) ?? new Map<string, Frames | Promise<Frames>>()
  largeFrames.set(item.event, known)
  const key = frameKey(item, events, method)
  let frames = known.get(key)
  if (frames !== undefined) return frames
  if (isHeavy(item.bytes ?? 0)) {
    frames = framesInSteps(item, events, method)
    // An event that cannot be encoded fails again for the next reader.
    frames.then(
      (made) => known.set(key, made),
      () => known.delete(key),
    )
  } else frames = encodeFrames(method.response, 1, () => events.encoder.payload(item), 1)
  known.set(key, frames)
  return frames
}

/** The caller is in no step yet. */
async function framesInSteps(item: StreamItem, events: EventReader, method: RpcMethod): Promise<Frames> {
  const nextStep = (): Promise<void> => events.account.nextStep()
  await nextStep()
  const payload = await events.encoder.payloadInSteps(item, nextStep)
  await nextStep()
  return encodeFrames(method.response, 1, () => payload, 1)
}

/** Counts an event that is encoded in steps, once for all its readers. */
async function whileEncoded(frames: Promise<Frames>, item: StreamItem, account: ReaderAccount): Promise<Frames> {
  account.hold(item.event, item.bytes ?? 0)
  try {
    return await frames
  } finally {
    account.release(item.event)
  }
}

function frameKey({ seq, final, gap }: StreamItem, { encoder }: EventReader, { response }: RpcMethod): string {
  return [response, encoder.encoding, seq, final, gap].join(' ')
}

/** Whether an item is large, no reader holds it yet, and the budget has no room for it. */
function mustWait(item: StreamItem | undefined, events: EventReader, method: RpcMethod): boolean {
  if (item === undefined || !isLarge(item) || events.account.canHold()) return false
  const known = largeFrames.get(item.event)?.get(frameKey(item, events, method))
  return !events.account.canHold(known instanceof Promise ? item.event : known?.bytes)
}

function isLarge(item: StreamItem | undefined): boolean {
  return (item?.bytes ?? 0) > largeChars
}

function toInternalError(reason: unknown, { handler }: GrpcServiceDeps): A2AError {
  handler.log.error('a gRPC call failed', { cause: reason })
  // An unexpected error: its message is not meant for the caller.
  return new A2AError('INTERNAL', 'Internal error', {}, { cause: reason })
}

interface GrpcError {
  readonly code: number
  readonly details: string
  readonly metadata: Metadata
}

/** Status, message and trailers as @grpc/grpc-js expects them. */
function toGrpcError(error: A2AError, { spelling }: ProtocolVersion, headers: HttpHeaders = {}): GrpcError {
  const { code, message, details } = grpcStatusOf(error, spelling.grpc)
  const metadata = metadataOf(headers)
  if (details !== undefined) metadata.set('grpc-status-details-bin', Buffer.from(details))
  return { code, details: message, metadata }
}

/** Metadata names are lower case (F-11). */
function metadataOf(headers: HttpHeaders): Metadata {
  const metadata = new Metadata()
  for (const [name, value] of Object.entries(headers)) metadata.set(name.toLowerCase(), value)
  return metadata
}

// A gRPC call as an HttpRequest for the rest of the server: metadata are headers, the rpc is the path.

/** What unary calls and streams have in common. */
export type GrpcJsCall = Pick<
  ServerUnaryCall<Uint8Array, Uint8Array>,
  'metadata' | 'request' | 'cancelled' | 'on' | 'getPeer' | 'getPath' | 'getHost' | 'getAuthContext' | 'sendMetadata'
>

/** The HTTP address of the same host, for the urls in a card that is requested over gRPC. */
export interface HttpAddress {
  readonly port: number
  readonly isSecure: boolean
}

/** A class for its getters: an object literal creates them again for each call. */
export class GrpcRequest implements HttpRequest {
  readonly method = 'POST'
  readonly query = ''
  readonly prefix = ''
  readonly #call: GrpcJsCall
  readonly #http: HttpAddress | undefined
  #leaving: AbortController | undefined

  constructor(call: GrpcJsCall, http: HttpAddress | undefined) {
    this.#call = call
    this.#http = http
  }

  get path(): string {
    return this.#call.getPath()
  }

  header(name: string): string | undefined {
    return name === 'host' ? this.#host() : textIn(this.#call.metadata, name)
  }

  #host(): string | undefined {
    const authority = this.#call.getHost()
    return this.#http === undefined ? authority : `${hostname(authority)}:${this.#http.port}`
  }

  body(): Promise<string> {
    return Promise.reject(new Error('A gRPC message is not text'))
  }

  /** Aborts when the client disconnects and when its deadline passes; neither ever ends a task (B-103). */
  get signal(): AbortSignal {
    if (this.#leaving === undefined) {
      const leaving = (this.#leaving = new AbortController())
      if (this.#call.cancelled) leaving.abort()
      else this.#call.on('cancelled', () => leaving.abort())
    }
    return this.#leaving.signal
  }

  /** Resets this call's stream. Other streams of the same connection continue. */
  disconnect(): void {
    const stream = http2StreamOf(this.#call)
    if (stream?.destroyed === false) stream.destroy()
  }

  get remoteAddress(): string | undefined {
    const peer = this.#call.getPeer()
    const colon = peer.lastIndexOf(':')
    return colon < 0 ? undefined : peer.slice(0, colon)
  }

  /** Describes the HTTP listener, if there is another one. */
  get secure(): boolean {
    return this.#http?.isSecure ?? this.#call.getAuthContext().transportSecurityType === 'ssl'
  }

  get clientCertificate(): ClientCertificate | undefined {
    // Without a certificate Node returns an empty object.
    const certificate = this.#call.getAuthContext().sslPeerCertificate
    return certificate?.fingerprint256 === undefined ? undefined : certificate
  }
}

/** Several values of one name are joined to a list (F-11). Binary values are ignored. */
function textIn(metadata: Metadata, name: string): string | undefined {
  const texts = metadata.get(name).filter((value) => typeof value === 'string')
  return texts.length === 0 ? undefined : texts.join(', ')
}
