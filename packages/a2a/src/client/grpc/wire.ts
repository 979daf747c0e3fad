/**
 * One peer over gRPC in one version. Like its sisters over HTTP it retries nothing and remembers nothing, but for the
 * channel, which all calls to one address share.
 */
import { Metadata } from '@grpc/grpc-js'
import type { Client, ServiceError } from '@grpc/grpc-js'
import { methodsOf, readResponse, type RpcMethod, writeRequest } from '../../bindings/grpc/service.ts'
import { A2AError } from '../../model/error.ts'
import { cursorExtension } from '../../model/extension.ts'
import type { Operation, RequestOf } from '../../model/operation.ts'
import type { ProtocolVersion } from '../../versions/version.ts'
import type { Introduction, Wire, WireCall, WireEvent, WireParts, WireStream } from '../contract.ts'
import type { GrpcAddress } from './address.ts'
import { takeCursor } from './cursor.ts'
import { askForStream, askOnce, type Exchange, type OpenedStream } from './exchange.ts'
import { failureOf } from './failure.ts'

/** `channel` is asked at every call: which addresses a name resolves to changes. */
export function createGrpcWire(
  channel: () => Client | Promise<Client>,
  at: GrpcAddress,
  version: ProtocolVersion,
  { http, maxJsonNodes }: WireParts,
): Wire {
  const { proto: dialect } = version
  const methods = methodsOf(version)
  const peer = at.authority

  return {
    async call(operation, request, about) {
      const method = methodOf(operation)
      const bytes = await introduced(method, operation, request, about, askOnce)
      return dialect.decodeResult(operation, readResponse(method, bytes, maxJsonNodes))
    },

    async open(operation, request, about) {
      const method = methodOf(operation)
      const opened = await introduced(method, operation, request, about, askForStream)
      const stream = events(opened, method, about)
      // Entered, so that its `return()` ends the call also if nobody reads.
      await stream.next()
      return stream
    },
  }

  function methodOf(operation: Operation): RpcMethod {
    const method = methods.get(operation)
    if (method !== undefined) return method
    throw new A2AError('UNSUPPORTED_OPERATION', `A2A ${version.id} has no ${operation} over gRPC`)
  }

  /** Says who we are, and once more if that was refused and there is something else to say. */
  async function introduced<O extends Operation, T>(
    method: RpcMethod,
    operation: O,
    request: RequestOf<O>,
    about: WireCall,
    ask: (exchange: Exchange) => Promise<T>,
  ): Promise<T> {
    const { signal, timeoutMs, card } = about
    const bytes = writeRequest(method, version, operation, request)
    const asked = { url: at.url, signal, ...(card !== undefined ? { card } : {}) }
    const attempt = async (introduction: Introduction | undefined): Promise<T> => {
      const client = await channel()
      signal.throwIfAborted()
      const metadata = metadataOf(about, introduction, method.isStream)
      return ask({ client, path: method.path, bytes, metadata, signal, timeoutMs, peer })
    }
    const introduction = await http.introduce?.(asked)
    try {
      return await attempt(introduction)
    } catch (reason) {
      if (!isStatus(reason)) throw reason
      const { error, wwwAuthenticate } = failureOf(reason, dialect, peer)
      if (error.code !== 'UNAUTHENTICATED' || introduction === undefined) throw error
      const other = await http.introduce?.(asked, { wwwAuthenticate, introduction })
      if (other === undefined) throw error
      return attempt(other).catch((again: unknown) => {
        throw isStatus(again) ? failureOf(again, dialect, peer).error : again
      })
    }
  }

  /** The version goes with every request (B-1), as metadata in lower case (F-11). */
  function metadataOf(about: WireCall, introduction: Introduction | undefined, isStream: boolean): Metadata {
    const metadata = new Metadata()
    const fields = { ...about.headers, ...introduction?.headers }
    try {
      for (const [name, value] of Object.entries(fields)) metadata.set(name.toLowerCase(), value)
      metadata.set('a2a-version', version.id)
      if (about.lastEventId !== undefined) metadata.set('last-event-id', about.lastEventId)
    } catch {
      // The library's complaint would quote the value, which may be a secret.
      throw new A2AError('INVALID_PARAMS', 'A header has a name or a value that gRPC does not allow')
    }
    if (isStream && hasCursors(about)) {
      const name = version.spelling.extensionsHeader.toLowerCase()
      const wanted = metadata.get(name).map(String)
      if (!wanted.join().includes(cursorExtension)) metadata.set(name, [...wanted, cursorExtension].join(', '))
    }
    return metadata
  }

  async function* events({ call, failure }: OpenedStream, method: RpcMethod, about: WireCall): WireStream {
    const { signal } = about
    const leave = (): void => call.cancel()
    signal.addEventListener('abort', leave)
    const keepsMark = asksForCursors(about, version)
    try {
      yield entered
      if (signal.aborted) leave()
      for await (const bytes of call as AsyncIterable<Uint8Array>) {
        if (signal.aborted) throw signal.reason
        const payload = readResponse(method, bytes, maxJsonNodes)
        const { event, id } = takeCursor(dialect.decodeEvent(payload), keepsMark)
        yield { event, id, final: finalOf(payload, version) }
      }
      signal.throwIfAborted()
      const status = failure()
      if (status !== undefined) throw status
    } catch (reason) {
      if (signal.aborted) throw signal.reason
      throw isStatus(reason) ? failureOf(reason, dialect, peer, true).error : reason
    } finally {
      signal.removeEventListener('abort', leave)
      leave()
    }
  }
}

/** Never seen by anybody: taken out before the stream is handed over. */
const entered = undefined as unknown as WireEvent

/** Streams of gRPC have no `id:`, so a peer that can tell where an event stands in its log is asked to. */
function hasCursors({ card }: WireCall): boolean {
  return card?.capabilities.extensions?.some(({ uri }) => uri === cursorExtension) ?? false
}

/** Whether the caller wants to see for himself. */
function asksForCursors({ headers }: WireCall, { spelling }: ProtocolVersion): boolean {
  return headers[spelling.extensionsHeader]?.includes(cursorExtension) ?? false
}

/** 0.x says on every status whether it is the last; what is not said is false, as proto3 has it. */
function finalOf(payload: unknown, { id }: ProtocolVersion): boolean | undefined {
  if (id === '1.0' || typeof payload !== 'object' || payload === null || !('statusUpdate' in payload)) return undefined
  const { statusUpdate } = payload
  return (
    typeof statusUpdate === 'object' && statusUpdate !== null && 'final' in statusUpdate && statusUpdate.final === true
  )
}

function isStatus(reason: unknown): reason is ServiceError {
  return reason instanceof Error && 'code' in reason && typeof reason.code === 'number' && 'details' in reason
}
