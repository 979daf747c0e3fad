/** One operation over one binding, to its answer. */
import { readError, readGrpcError, type ErrorView } from './read-error.ts'
import { exchangeHttp, type HttpExchange } from './http-wire.ts'
import { isObject } from './encode-request.ts'
import { grpcRpcName, restRequest, rpcMethodName, type JsonObject, type OperationName } from './spelling.ts'
import type { Target } from '../report.ts'
import type { Answer } from '../subject.ts'

export interface OperationRequest {
  readonly target: Target
  readonly operation: OperationName
  /** In the dialect of the target. */
  readonly payload: JsonObject
  readonly headers: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string>>
  readonly id: number
  /** Called with each error that the agent answers. Throws to end the call. */
  readonly onError?: (error: ErrorView) => void
  readonly signal: AbortSignal
  readonly insecure?: boolean
  readonly tls?: { readonly cert?: string; readonly key?: string; readonly ca?: string }
}

export interface HttpCall {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

/** The HTTP request of an operation over JSON-RPC or REST. */
export function httpCallOf({ target, operation, payload, headers, query, id }: OperationRequest): HttpCall {
  const { url, version, binding, tenant } = target
  const addressOf = (path: string): string => {
    const full = new URL(`${url.replace(/\/$/, '')}${path}`)
    for (const [name, value] of Object.entries(query)) full.searchParams.set(name, value)
    return full.href
  }
  const isStream = operation === 'SendStreamingMessage' || operation === 'SubscribeToTask'
  const accept = isStream
    ? 'text/event-stream, application/json'
    : binding === 'HTTP+JSON' && version === '1.0'
      ? 'application/a2a+json, application/json'
      : 'application/json'
  if (binding === 'JSONRPC') {
    const method = rpcMethodName(version, operation)
    const params = version === '1.0' && tenant !== undefined ? { tenant, ...payload } : payload
    return {
      method: 'POST',
      url: Object.keys(query).length === 0 ? url : addressOf(''),
      headers: { 'content-type': 'application/json', accept, ...headers },
      body: JSON.stringify({ jsonrpc: '2.0', id, method, params }),
    }
  }
  const { method, path, body } = restRequest(version, operation, payload, tenant)
  const type = version === '1.0' ? 'application/a2a+json' : 'application/json'
  return {
    method,
    url: addressOf(path),
    headers: { ...(body === undefined ? {} : { 'content-type': type }), accept, ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }
}

export async function callOperation(request: OperationRequest): Promise<Answer> {
  const answer = await exchangeOperation(request)
  if (answer.error !== undefined) request.onError?.(answer.error)
  return answer
}

async function exchangeOperation(request: OperationRequest): Promise<Answer> {
  const { target, signal, insecure, tls } = request
  const wire = { signal, ...(insecure === undefined ? {} : { insecure }), ...(tls === undefined ? {} : { tls }) }
  if (target.binding !== 'GRPC') {
    const exchange = await exchangeHttp({ ...httpCallOf(request), ...wire })
    return answerOf(target, exchange)
  }
  const { callGrpc } = await import('./grpc-wire.ts')
  const { grpcStatus, message, details, json, headers, ...exchange } = await callGrpc({
    ...grpcRequestOf(request),
    ...wire,
  })
  return {
    exchange,
    status: 200,
    headers,
    result: json,
    error: grpcStatus === 'OK' ? undefined : readGrpcError(grpcStatus, message, details),
    malformed: undefined,
    envelope: json,
  }
}

export function grpcRequestOf({ target, operation, payload, headers }: OperationRequest) {
  const tenant = target.version === '1.0' && target.tenant !== undefined ? { tenant: target.tenant } : {}
  return {
    address: target.url,
    ...grpcRpcName(target.version, operation),
    payload: { ...tenant, ...payload },
    metadata: headers,
  }
}

/** A whole HTTP response as an answer of its binding. */
export function answerOf({ binding }: Pick<Target, 'binding'>, exchange: HttpExchange): Answer {
  const { status, headers, text, json } = exchange
  const base = { exchange, status, headers, envelope: json }
  if (binding === 'JSONRPC') return { ...base, ...readEnvelope(json, status) }
  if (status < 200 || status > 299)
    return { ...base, result: undefined, error: readError(json, status), malformed: undefined }
  const malformed = text !== '' && json === undefined ? 'the body is not JSON' : undefined
  return { ...base, result: json, error: undefined, malformed }
}

/** A JSON-RPC response: exactly one of `result` and `error`. */
export function readEnvelope(json: unknown, status: number): Pick<Answer, 'result' | 'error' | 'malformed'> {
  if (isObject(json) && isObject(json['error']))
    return { result: undefined, error: readError(json['error'], status), malformed: undefined }
  if (isObject(json) && 'result' in json) return { result: json['result'], error: undefined, malformed: undefined }
  // A gateway may refuse before JSON-RPC is spoken.
  if (status < 200 || status > 299) return { result: undefined, error: readError(json, status), malformed: undefined }
  return {
    result: undefined,
    error: undefined,
    malformed: json === undefined ? 'the body is not JSON' : 'the response has neither a result nor an error',
  }
}
