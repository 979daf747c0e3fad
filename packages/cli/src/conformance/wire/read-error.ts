/** Errors of every binding in one form. The reason decides, then the JSON-RPC code; a status alone names no A2A error. */
import { isObject } from './encode-request.ts'
import type { JsonObject } from './spelling.ts'

export interface ErrorView {
  /** `TASK_NOT_FOUND`, from the reason or the JSON-RPC code; `undefined` if neither tells. */
  readonly name: string | undefined
  /** The code of a JSON-RPC error, also where 0.3 over REST carries it. */
  readonly code: number | undefined
  readonly message: string | undefined
  /** The reason of a `google.rpc.ErrorInfo`. */
  readonly reason: string | undefined
  readonly domain: string | undefined
  /** `data` or `details`, if it is an array. */
  readonly details: readonly unknown[]
  /** The HTTP status; 200 for gRPC. */
  readonly status: number
  /** `NOT_FOUND`: the status of gRPC, or the one that a 1.0 REST body names. */
  readonly grpcStatus: string | undefined
  /** The error object as it was. */
  readonly raw: unknown
}

/** The errors of A2A and of JSON-RPC by code. */
export const errorCodes: Readonly<Record<string, number>> = {
  PARSE_ERROR: -32700,
  INVALID_REQUEST: -32600,
  METHOD_NOT_FOUND: -32601,
  INVALID_PARAMS: -32602,
  INTERNAL: -32603,
  TASK_NOT_FOUND: -32001,
  TASK_NOT_CANCELABLE: -32002,
  PUSH_NOTIFICATION_NOT_SUPPORTED: -32003,
  UNSUPPORTED_OPERATION: -32004,
  CONTENT_TYPE_NOT_SUPPORTED: -32005,
  INVALID_AGENT_RESPONSE: -32006,
  EXTENDED_AGENT_CARD_NOT_CONFIGURED: -32007,
  EXTENSION_SUPPORT_REQUIRED: -32008,
  VERSION_NOT_SUPPORTED: -32009,
}

const namesByCode = new Map(Object.entries(errorCodes).map(([name, code]) => [code, name]))
export const errorInfoType = 'type.googleapis.com/google.rpc.ErrorInfo'

/** `raw` is `error` of a JSON-RPC response, or the body of a REST response. */
export function readError(raw: unknown, status: number): ErrorView {
  const body = isObject(raw) ? (isObject(raw['error']) ? raw['error'] : raw) : {}
  const found = Array.isArray(body['data']) ? body['data'] : Array.isArray(body['details']) ? body['details'] : []
  const code = typeof body['code'] === 'number' && body['code'] < 0 ? body['code'] : undefined
  return view(found as readonly unknown[], {
    code,
    message: typeof body['message'] === 'string' ? body['message'] : undefined,
    status,
    grpcStatus: typeof body['status'] === 'string' ? body['status'] : undefined,
    raw,
  })
}

export function readGrpcError(grpcStatus: string, message: string, details: readonly unknown[]): ErrorView {
  return view(details, { code: undefined, message, status: 200, grpcStatus, raw: { grpcStatus, message, details } })
}

function view(
  details: readonly unknown[],
  rest: Pick<ErrorView, 'code' | 'message' | 'status' | 'grpcStatus' | 'raw'>,
): ErrorView {
  const info = details.find((detail): detail is JsonObject => isObject(detail) && detail['@type'] === errorInfoType)
  const reason = typeof info?.['reason'] === 'string' ? info['reason'] : undefined
  const domain = typeof info?.['domain'] === 'string' ? info['domain'] : undefined
  const byCode = rest.code === undefined ? undefined : namesByCode.get(rest.code)
  const known = reason !== undefined && reason in errorCodes ? reason : undefined
  return { name: known ?? byCode ?? reason, reason, domain, details, ...rest }
}

/** For notes: `-32001 "task not found" (TASK_NOT_FOUND)`. */
export function describeError({ name, code, message, status, grpcStatus }: ErrorView): string {
  const what =
    code ??
    (grpcStatus === undefined
      ? `HTTP ${status}`
      : status === 200
        ? `gRPC ${grpcStatus}`
        : `HTTP ${status} ${grpcStatus}`)
  return `${what}${message === undefined ? '' : ` ${JSON.stringify(message.slice(0, 120))}`}${name === undefined ? '' : ` (${name})`}`
}
