/**
 * One peer over gRPC in one version. Like the HTTP transport it never retries and keeps no state, except for the channel, which
 * all calls to one address share.
 */
import { Metadata, type Client, type ServiceError } from '@grpc/grpc-js'
import { rpcMethodsOf, decodeRpcResponse, type RpcMethod, encodeRpcRequest } from '../../bindings/grpc/service.ts'
import { A2AError } from '../../model/error.ts'
import { cursorExtension } from '../../model/extension.ts'
import type { Operation, RequestOf } from '../../model/operation.ts'
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
import { extractCursor } from './event-cursor.ts'
import { openServerStream, callUnary, type GrpcClientCall, type GrpcClientStream } from './grpc-call.ts'
import { toGrpcFailure } from './grpc-errors.ts'
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
      const { error, wwwAuthenticate } = toGrpcFailure(reason, dialect, peer)
      if (error.code !== 'UNAUTHENTICATED' || credentials === undefined) throw error
      const other = await http.credentialHeaders(asked, { wwwAuthenticate, sent: credentials.credentials })
      if (other === undefined) throw error
      return attempt(other).catch((again: unknown) => {
        throw isServiceError(again) ? toGrpcFailure(again, dialect, peer).error : again
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
      throw isServiceError(reason) ? toGrpcFailure(reason, dialect, peer, true).error : reason
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

function isServiceError(reason: unknown): reason is ServiceError {
  return reason instanceof Error && 'code' in reason && typeof reason.code === 'number' && 'details' in reason
}
