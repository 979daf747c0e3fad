/** A streaming operation over one binding, event by event. */
import { answerOf, grpcRequestOf, httpCallOf, readEnvelope, type OperationRequest } from './call-operation.ts'
import { Undecided } from '../check.ts'
import type { Exchange } from './exchange.ts'
import type { OpenGrpcStream } from './grpc-wire.ts'
import { describeFailure, openHttp, parseJson, readHttp, type OpenHttpResponse } from './http-wire.ts'
import { isObject } from './encode-request.ts'
import { readError, readGrpcError } from './read-error.ts'
import { readResult } from './read-response.ts'
import { dialectOf, type Dialect } from './spelling.ts'
import { readSse, type SseFrame } from './sse-wire.ts'
import type { StreamAnswer, StreamEnd, StreamItem } from '../subject.ts'

export async function openOperation(request: OperationRequest): Promise<StreamAnswer> {
  const stream = await openAnyStream(request)
  if (stream.answer?.error !== undefined) request.onError?.(stream.answer.error)
  return stream
}

async function openAnyStream(request: OperationRequest): Promise<StreamAnswer> {
  const { target, signal, insecure, tls } = request
  const wire = { signal, ...(insecure === undefined ? {} : { insecure }), ...(tls === undefined ? {} : { tls }) }
  const dialect = dialectOf(target.version, target.binding)
  if (target.binding === 'GRPC') {
    const { openGrpc } = await import('./grpc-wire.ts')
    const opened = openGrpc({ ...grpcRequestOf(request), ...wire })
    return grpcStream(dialect, opened)
  }
  const opened = await openHttp({ ...httpCallOf(request), ...wire })
  if (/^text\/event-stream\b/i.test(opened.headers['content-type'] ?? '')) return sseStream(dialect, request, opened)
  const exchange = await readHttp(opened)
  const answer = answerOf(target, exchange)
  return {
    answer,
    status: answer.status,
    headers: answer.headers,
    events: none(),
    received: [],
    end: { by: 'server' },
    exchange,
    close: () => {},
  }
}

async function* none(): AsyncGenerator<StreamItem, void, undefined> {}

function sseStream(dialect: Dialect, { target, onError }: OperationRequest, opened: OpenHttpResponse): StreamAnswer {
  const received: StreamItem[] = []
  const raw: string[] = []
  let end: StreamEnd | undefined
  async function* events(): AsyncGenerator<StreamItem, void, undefined> {
    try {
      for await (const frame of readSse(opened.body)) {
        raw.push(frame.raw)
        if (frame.data === undefined) continue
        const item = sseItem(dialect, target.binding === 'JSONRPC', frame, opened.status)
        received.push(item)
        if (item.error !== undefined) onError?.(item.error)
        yield item
      }
      end ??= { by: 'server' }
    } catch (reason) {
      if (reason instanceof Undecided) throw reason
      end ??= { by: 'failure', note: describeFailure(reason) }
    } finally {
      end ??= { by: 'client' }
      opened.destroy()
    }
  }
  return {
    answer: undefined,
    status: opened.status,
    headers: opened.headers,
    events: events(),
    received,
    get end() {
      return end
    },
    get exchange(): Exchange {
      return {
        request: opened.request,
        response: { status: opened.status, headers: opened.headers, body: raw.join('\n\n') },
      }
    },
    close() {
      end ??= { by: 'client' }
      opened.destroy()
    },
  }
}

function sseItem(dialect: Dialect, isJsonRpc: boolean, frame: SseFrame, status: number): StreamItem {
  const envelope = parseJson(frame.data ?? '')
  if (isJsonRpc) {
    const { result, error } = readEnvelope(envelope, status)
    return { view: readResult(dialect, result), error, envelope, frame }
  }
  const isError = frame.event === 'error' || (isObject(envelope) && 'error' in envelope)
  return {
    view: readResult(dialect, envelope),
    error: isError ? readError(envelope, status) : undefined,
    envelope,
    frame,
  }
}

/** gRPC tells only with its first event or its end whether the call is refused. */
async function grpcStream(dialect: Dialect, opened: OpenGrpcStream): Promise<StreamAnswer> {
  const received: StreamItem[] = []
  let end: StreamEnd | undefined
  const iterator = opened.events[Symbol.asyncIterator]()
  const first = await iterator.next()
  const itemOf = (event: unknown): StreamItem => ({
    view: readResult(dialect, event),
    error: undefined,
    envelope: event,
  })
  if (first.done === true) {
    const { grpcStatus, message, details, headers, json: _json, ...exchange } = await opened.end
    if (grpcStatus !== 'OK') {
      const error = readGrpcError(grpcStatus, message, details)
      const answer = {
        exchange,
        status: 200,
        headers,
        result: undefined,
        error,
        malformed: undefined,
        envelope: undefined,
      }
      return {
        answer,
        status: 200,
        headers,
        events: none(),
        received,
        end: { by: 'server' },
        exchange,
        close: () => {},
      }
    }
  }
  async function* events(): AsyncGenerator<StreamItem, void, undefined> {
    try {
      for (let next = first; next.done !== true; next = await iterator.next()) {
        const item = itemOf(next.value)
        received.push(item)
        yield item
      }
      const { grpcStatus, message, details } = await opened.end
      end ??=
        grpcStatus === 'OK'
          ? { by: 'server' }
          : {
              by: 'failure',
              note: `gRPC ${grpcStatus}: ${message}`,
              error: readGrpcError(grpcStatus, message, details),
            }
    } finally {
      end ??= { by: 'client' }
      opened.cancel()
    }
  }
  return {
    answer: undefined,
    status: 200,
    headers: {},
    events: events(),
    received,
    get end() {
      return end
    },
    get exchange(): Exchange {
      const body = received.map(({ envelope }) => JSON.stringify(envelope)).join('\n')
      return { request: opened.request, response: { status: 200, headers: {}, body, grpcStatus: 'OK' } }
    },
    close() {
      end ??= { by: 'client' }
      opened.cancel()
    },
  }
}
