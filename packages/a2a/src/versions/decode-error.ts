/**
 * What a peer's error means, whatever its shape. Decided by the reason, then by the JSON-RPC number, then by the
 * status, because servers of 1.0.0 and 1.0.1 disagree on statuses (§3.2, A-21).
 */
import { A2AError } from '../model/error.ts'
import { errorTable } from '../model/error-table.ts'
import type { ErrorCode } from '../model/error.ts'
import { decodeDetails } from './error-detail.ts'
import { codeOfErrorName, codeOfNumber } from './error-names.ts'
import { isBag } from './read.ts'
import type { Bag } from './read.ts'

/** Codes that a client makes for itself; a peer that names one means something else. */
const ownCodes: ReadonlySet<string> = new Set(['INTERRUPTED', 'TASK_FAILED', 'INPUT_REQUIRED', 'TIMEOUT'])

/** Older drafts gave the numbers from -32001 to -32004 other meanings; their words tell. */
const byMessage: readonly (readonly [RegExp, ErrorCode])[] = [
  [/^task not found/i, 'TASK_NOT_FOUND'],
  [/^input timeout/i, 'INPUT_TIMEOUT'],
  [/^tool execution failed/i, 'TOOL_EXECUTION_FAILED'],
  [/^context not found/i, 'CONTEXT_REJECTED'],
]

/** Names of gRPC statuses that mean one thing in A2A. */
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
  // 1.0.0 answered these two where 1.0.1 answers 400.
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
    known(found.reason) ??
    known(codeOfErrorName(error['type'])) ??
    known(codeOfClass(error['error'])) ??
    spoken(error['code'], message) ??
    codeOfNumber.get(error['code']) ??
    byStatusName.get(error['status']) ??
    byHttp[httpStatus ?? Number(error['status'] ?? error['code'])] ??
    'INTERNAL'
  const status = httpStatus === undefined ? '' : ` (HTTP ${httpStatus})`
  return new A2AError(code, message ?? `The peer answered with an error${status}`, found.details)
}

/** JSON-RPC gives the error itself, 1.0 REST wraps it, some 0.3 servers wrap it too. */
function unwrap(body: unknown): Bag {
  if (!isBag(body)) return {}
  return isBag(body['error']) ? body['error'] : body
}

function known(reason: string | undefined): ErrorCode | undefined {
  return reason !== undefined && Object.hasOwn(errorTable, reason) && !ownCodes.has(reason)
    ? (reason as ErrorCode)
    : undefined
}

/** Free text stands in the same place with other peers, so only what is named like a class counts. */
function codeOfClass(name: unknown): string | undefined {
  return typeof name === 'string' && /^[\w.]+Error(_v0_3)?$/.test(name) ? codeOfErrorName(name) : undefined
}

function spoken(number: unknown, message: string | undefined): ErrorCode | undefined {
  if (message === undefined || typeof number !== 'number' || number > -32_001 || number < -32_004) return undefined
  return byMessage.find(([words]) => words.test(message))?.[1]
}

function firstText(...values: unknown[]): string | undefined {
  return values.find((value): value is string => typeof value === 'string' && value !== '')
}
