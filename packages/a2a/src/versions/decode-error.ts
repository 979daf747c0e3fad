/**
 * Decodes a peer's error of any shape. The reason decides, then the JSON-RPC number, then the status, because servers of 1.0.0
 * and 1.0.1 disagree on statuses (§3.2, A-21).
 */
import { isStruct } from '../model/struct.ts'
import { A2AError, type ErrorCode } from '../model/error.ts'
import { errorTable } from '../model/error-table.ts'
import { decodeDetails } from './error-detail.ts'
import { codeOfErrorName, codeOfNumber } from './error-names.ts'
import type { JsonRecord } from './read.ts'

/** Codes that never cross the wire; a peer that sends one means something else. */
const ownCodes: ReadonlySet<string> = new Set(['INTERRUPTED', 'TASK_FAILED', 'INPUT_REQUIRED', 'TIMEOUT', 'CANCELED'])

/** Older drafts gave the numbers from -32001 to -32004 other meanings; their messages show which. */
const byMessage: readonly (readonly [RegExp, ErrorCode])[] = [
  [/^task not found/i, 'TASK_NOT_FOUND'],
  [/^input timeout/i, 'INPUT_TIMEOUT'],
  [/^tool execution failed/i, 'TOOL_EXECUTION_FAILED'],
  [/^context not found/i, 'CONTEXT_REJECTED'],
]

/** Names of gRPC statuses that have one meaning in A2A. */
const byStatusName = new Map<unknown, ErrorCode>([
  ['NOT_FOUND', 'TASK_NOT_FOUND'],
  ['UNIMPLEMENTED', 'METHOD_NOT_FOUND'],
  ['INVALID_ARGUMENT', 'INVALID_PARAMS'],
  ['UNAUTHENTICATED', 'UNAUTHENTICATED'],
  ['PERMISSION_DENIED', 'PERMISSION_DENIED'],
  ['RESOURCE_EXHAUSTED', 'RATE_LIMITED'],
  ['UNAVAILABLE', 'UNAVAILABLE'],
  ['FAILED_PRECONDITION', 'UNSUPPORTED_OPERATION'],
  ['INTERNAL', 'INTERNAL'],
])

const byHttp: Readonly<Record<number, ErrorCode>> = {
  400: 'INVALID_REQUEST',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'METHOD_NOT_FOUND',
  405: 'METHOD_NOT_ALLOWED',
  // 1.0.0 used these two where 1.0.1 uses 400.
  409: 'TASK_NOT_CANCELABLE',
  415: 'CONTENT_TYPE_NOT_SUPPORTED',
  413: 'PAYLOAD_TOO_LARGE',
  429: 'RATE_LIMITED',
  501: 'METHOD_NOT_FOUND',
  502: 'UNAVAILABLE',
  503: 'UNAVAILABLE',
  504: 'TIMEOUT',
}

export function decodeError(body: unknown, httpStatus?: number): A2AError {
  const error = unwrap(body)
  const found = decodeDetails(error['data'] ?? error['details'])
  const message = firstText(error['message'], error['detail'], error['title'], error['error'])
  const code =
    knownCode(found.reason) ??
    knownCode(codeOfErrorName(error['type'])) ??
    knownCode(codeOfClass(error['error'])) ??
    codeOfMessage(error['code'], message) ??
    codeOfNumber.get(error['code']) ??
    byStatusName.get(error['status']) ??
    byHttp[httpStatus ?? Number(error['status'] ?? error['code'])] ??
    'INTERNAL'
  const status = httpStatus === undefined ? '' : ` (HTTP ${httpStatus})`
  const wireCode = wireCodeOf(error, found.reason)
  return withWireCode(new A2AError(code, message ?? `The peer returned an error${status}`, found.details), wireCode)
}

/** Set here and not by the constructor, which every page loads. */
export function withWireCode(error: A2AError, wireCode: string | number | undefined): A2AError {
  return wireCode === undefined ? error : Object.assign(error, { wireCode })
}

/** The number of JSON-RPC is negative; what REST has in its place is the HTTP status, which is no code of A2A. */
function wireCodeOf(error: JsonRecord, reason: string | undefined): string | number | undefined {
  if (typeof error['code'] === 'number' && error['code'] < 0) return error['code']
  return reason ?? firstText(error['status'], error['type'])
}

/** JSON-RPC has the bare error, 1.0 REST wraps it, some 0.3 servers wrap it too. */
function unwrap(body: unknown): JsonRecord {
  if (!isStruct(body)) return {}
  return isStruct(body['error']) ? body['error'] : body
}

function knownCode(reason: string | undefined): ErrorCode | undefined {
  return reason !== undefined && Object.hasOwn(errorTable, reason) && !ownCodes.has(reason)
    ? (reason as ErrorCode)
    : undefined
}

/** Other peers put free text in the same place, so only a string that looks like a class name counts. */
function codeOfClass(name: unknown): string | undefined {
  return typeof name === 'string' && /^[\w.]+Error(_v0_3)?$/.test(name) ? codeOfErrorName(name) : undefined
}

function codeOfMessage(number: unknown, message: string | undefined): ErrorCode | undefined {
  if (message === undefined || typeof number !== 'number' || number > -32_001 || number < -32_004) return undefined
  return byMessage.find(([words]) => words.test(message))?.[1]
}

function firstText(...values: unknown[]): string | undefined {
  return values.find((value): value is string => typeof value === 'string' && value !== '')
}
