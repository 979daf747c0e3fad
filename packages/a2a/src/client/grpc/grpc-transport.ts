/**
 * One peer over gRPC in one version. Like the HTTP transport it never retries and keeps no state, except for the channel, which
 * all calls to one address share.
 */
import {
  Metadata,
  status as grpcStatus,
  type Client,
  type ClientReadableStream,
  type ServiceError,
} from '@grpc/grpc-js'
import { rpcMethodsOf, decodeRpcResponse, type RpcMethod, encodeRpcRequest } from '../../bindings/grpc/service.ts'
import { errorFromGrpcStatus, statusNames } from '../../bindings/grpc/status.ts'
import { A2AError } from '../../model/error.ts'
import { cursorExtension } from '../../model/extension.ts'
import type { Operation, RequestOf } from '../../model/operation.ts'
import { startTimeout } from '../../model/signals.ts'
import { isStruct } from '../../model/struct.ts'
import type { StreamEvent, Struct } from '../../model/task.ts'
import type { Dialect } from '../../versions/version.ts'
import type { ProtocolVersion } from '../../versions/index.ts'
import type {
  CredentialHeaders,
  ClientTransport,
  TransportCallOptions,
  EventFrame,
  ClientTransportDeps,
  TransportStream,
} from '../contract.ts'
import type { GrpcAddress } from './grpc-address.ts'
import { timeoutError } from '../http/read-text.ts'
import { isLegacyVersion } from '../../versions/version.ts'

/** `channel` is called for every call, because the addresses of a name change. */
export function createGrpcTransport(
  channel: () => Client | Promise<Client>,
  at: GrpcAddress,
  version: ProtocolVersion,
  { http, maxJsonNodes }: ClientTransportDeps,
): ClientTransport {
  const { proto: dialect } = version
  const methods = rpcMethodsOf(version)
  const peer = at.authority

  return {
    async call(operation, request, about) {
      const method = methodOf(operation)
      const bytes = await callWithCredentials(method, operation, request, about, callUnary)
      return dialect.decodeResult(operation, decodeRpcResponse(method, bytes, maxJsonNodes))
    },

    async open(operation, request, about) {
      const method = methodOf(operation)
      const opened = await callWithCredentials(method, operation, request, about, openServerStream)
      const stream = events(opened, method, about)
      // Started, so that its `return()` ends the call even if the stream is never read.
      await stream.next()
      return stream
    },
  }

  function methodOf(operation: Operation): RpcMethod {
    const method = methods.get(operation)
    if (method !== undefined) return method
    throw new A2AError('UNSUPPORTED_OPERATION', `A2A ${version.id} has no ${operation} over gRPC`)
  }

  /** Sends credentials, and once more after a refusal if there are others. */
  async function callWithCredentials<O extends Operation, T>(
    method: RpcMethod,
    operation: O,
    request: RequestOf<O>,
    about: TransportCallOptions,
    ask: (exchange: GrpcClientCall) => Promise<T>,
  ): Promise<T> {
    const { signal, timeoutMs, card } = about
    const bytes = encodeRpcRequest(method, version, operation, request)
    const asked = { url: at.url, signal, ...(card !== undefined ? { card } : {}) }
    const attempt = async (credentials: CredentialHeaders | undefined): Promise<T> => {
      const client = await channel()
      signal.throwIfAborted()
      const metadata = metadataOf(about, credentials, method.isStream)
      return ask({ client, path: method.path, bytes, metadata, signal, timeoutMs, peer })
    }
    const credentials = await http.credentialHeaders(asked)
    try {
      return await attempt(credentials)
    } catch (reason) {
      if (!isServiceError(reason)) throw reason
      const error = errorFromFailure(reason, dialect, peer)
      if (error.code !== 'UNAUTHENTICATED' || credentials === undefined) throw error
      const other = await http.credentialHeaders(asked, {
        wwwAuthenticate: challengeOf(reason),
        sent: credentials.credentials,
      })
      if (other === undefined) throw error
      return attempt(other).catch((again: unknown) => {
        throw isServiceError(again) ? errorFromFailure(again, dialect, peer) : again
      })
    }
  }

  /** Every request carries the version (B-1), as metadata in lower case (F-11). */
  function metadataOf(
    about: TransportCallOptions,
    credentials: CredentialHeaders | undefined,
    isStream: boolean,
  ): Metadata {
    const metadata = new Metadata()
    const fields = { ...about.headers, ...credentials?.headers }
    try {
      for (const [name, value] of Object.entries(fields)) metadata.set(name.toLowerCase(), value)
      metadata.set('a2a-version', version.id)
      if (about.lastEventId !== undefined) metadata.set('last-event-id', about.lastEventId)
    } catch {
      // The library's message would quote the value, which may be a secret.
      throw new A2AError('INVALID_PARAMS', 'A metadata name or value is not allowed by gRPC')
    }
    if (isStream && supportsCursors(about)) {
      const name = version.spelling.extensionsHeader.toLowerCase()
      const wanted = metadata.get(name).map(String)
      if (!wanted.join().includes(cursorExtension)) metadata.set(name, [...wanted, cursorExtension].join(', '))
    }
    return metadata
  }

  async function* events(
    { call, failure }: GrpcClientStream,
    method: RpcMethod,
    about: TransportCallOptions,
  ): TransportStream {
    const { signal } = about
    const leave = (): void => call.cancel()
    signal.addEventListener('abort', leave)
    const keepsCursor = isCursorRequested(about, version)
    try {
      yield startMarker
      if (signal.aborted) leave()
      for await (const bytes of call as AsyncIterable<Uint8Array>) {
        if (signal.aborted) throw signal.reason
        const payload = decodeRpcResponse(method, bytes, maxJsonNodes)
        const { event, id } = extractCursor(dialect.decodeEvent(payload), keepsCursor)
        yield { event, id, final: finalOf(payload, version) }
      }
      signal.throwIfAborted()
      const status = failure()
      if (status !== undefined) throw status
    } catch (reason) {
      if (signal.aborted) throw signal.reason
      throw isServiceError(reason) ? errorFromFailure(reason, dialect, peer, true) : reason
    } finally {
      signal.removeEventListener('abort', leave)
      leave()
    }
  }
}

/** Never visible: removed before the stream is returned. */
const startMarker = undefined as unknown as EventFrame

/** gRPC streams have no `id:`, so the cursor extension is requested from peers that support it. */
function supportsCursors({ card }: TransportCallOptions): boolean {
  return card?.capabilities.extensions?.some(({ uri }) => uri === cursorExtension) ?? false
}

/** Whether the caller requested the cursor extension itself. */
function isCursorRequested({ headers }: TransportCallOptions, { spelling }: ProtocolVersion): boolean {
  return headers[spelling.extensionsHeader]?.includes(cursorExtension) ?? false
}

/** In 0.x every status says whether it is the last; a missing value is false, as in proto3. */
function finalOf(payload: unknown, { id }: ProtocolVersion): boolean | undefined {
  if (!isLegacyVersion(id) || typeof payload !== 'object' || payload === null || !('statusUpdate' in payload))
    return undefined
  const { statusUpdate } = payload
  return (
    typeof statusUpdate === 'object' && statusUpdate !== null && 'final' in statusUpdate && statusUpdate.final === true
  )
}

function challengeOf({ metadata }: ServiceError): string | undefined {
  return metadata?.get('www-authenticate').find((value) => typeof value === 'string')
}

function isServiceError(reason: unknown): reason is ServiceError {
  return reason instanceof Error && 'code' in reason && typeof reason.code === 'number' && 'details' in reason
}

// Errors: the one that the peer reports, or that there was no connection.

/** `hasBegun`: whether the peer has already begun to stream, so that the end of the connection interrupts the stream. */
export function errorFromFailure(failure: ServiceError, dialect: Dialect, peer: string, hasBegun = false): A2AError {
  const { code, details: message, metadata } = failure
  const details = metadata?.get('grpc-status-details-bin').find((value) => typeof value !== 'string')
  if (isOwnSizeLimit(failure))
    return new A2AError('INVALID_AGENT_RESPONSE', 'The response exceeds the size limit of this client')
  if (details !== undefined || !isTransportStatus(statusNames[code] ?? 'UNKNOWN', message))
    return errorFromGrpcStatus({ code, message, details }, dialect)
  const options = { cause: failure }
  if (hasBegun) return new A2AError('INTERRUPTED', 'The stream broke off', { reason: 'NETWORK' }, options)
  const why = causePattern.exec(message)?.[0] ?? 'no connection'
  return new A2AError('UNAVAILABLE', `${peer} cannot be reached: ${why}`, { reason: 'NETWORK' }, options)
}

/** The platform's error code or the words of TLS, but not the whole message, which may name an address within our network. */
const causePattern =
  /\bE[A-Z]{4,}\b|\bERR_TLS_[A-Z_]+|Name resolution failed|self-signed certificate|certificate (has expired|is not yet valid)|(?<=\balert )(?!number)[a-z][a-z ]*[a-z]|unable to (verify|get)[a-z ]+|wrong version number/

/** Our own size limit, recognizable by the missing headers: the peer reports our message with the same status. */
function isOwnSizeLimit({ code, details, metadata }: ServiceError): boolean {
  return (
    code === grpcStatus.RESOURCE_EXHAUSTED &&
    /larger than/.test(details) &&
    Object.keys(metadata?.getMap() ?? {}).length === 0
  )
}

/** Statuses that the transport creates itself. A peer that means one of them says so in the details. */
function isTransportStatus(name: string, message: string): boolean {
  if (name === 'UNAVAILABLE' || name === 'CANCELLED') return true
  return name === 'INTERNAL' && /RST_STREAM|stream (was )?(closed|reset)/i.test(message)
}

// One call over a channel: bytes out, bytes back, with a deadline and cancellation.

interface GrpcClientCall {
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
function callUnary(exchange: GrpcClientCall): Promise<Uint8Array> {
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
  return code === grpcStatus.DEADLINE_EXCEEDED && metadata?.get('grpc-status-details-bin').length === 0
}

interface GrpcClientStream {
  readonly call: ClientReadableStream<Uint8Array>
  /** The status that it ended with, if that was not OK; `undefined` while it runs. */
  failure(): ServiceError | undefined
}

/** Resolves when the peer has begun to respond. */
function openServerStream(exchange: GrpcClientCall): Promise<GrpcClientStream> {
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

/**
 * Takes the position of an event in its log from the metadata, where the cursor extension writes it, unless the caller requested it
 * there: events are the same over every binding.
 */
function extractCursor(event: StreamEvent, keepsCursor: boolean): Pick<EventFrame, 'event' | 'id'> {
  const [kind, content] = Object.entries(event)[0] as [string, { readonly metadata?: Struct }]
  const { metadata = {}, ...others } = content
  const { [cursorExtension]: mark, ...rest } = metadata
  if ('message' in event || !isStruct(mark) || typeof mark['cursor'] !== 'string') return { event, id: undefined }
  const id = mark['cursor']
  // A gap is reported nowhere else.
  if (keepsCursor || 'gap' in mark) return { event, id }
  const hasMetadata = Object.keys(rest).length > 0
  return { event: { [kind]: hasMetadata ? { ...others, metadata: rest } : others } as unknown as StreamEvent, id }
}
