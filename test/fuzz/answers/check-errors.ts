/** The required form of an error in each version and binding, and the errors that a caller may cause. */
import type { JsonObject } from './shape.ts'
import { isJsonObject } from './shape.ts'
import type { VersionId } from './tables.ts'

interface ErrorSpelling {
  readonly number: number
  readonly http: number
  readonly grpc: string
  /** Another code before 1.0. */
  readonly legacyNumber?: number
}

/** By reason. Server failures (-32603, 5xx) are not included: no request may cause them. */
const known: Readonly<Record<string, ErrorSpelling>> = {
  PARSE_ERROR: { number: -32700, http: 400, grpc: 'INVALID_ARGUMENT' },
  INVALID_REQUEST: { number: -32600, http: 400, grpc: 'INVALID_ARGUMENT' },
  PAYLOAD_TOO_LARGE: { number: -32600, http: 413, grpc: 'INVALID_ARGUMENT' },
  UNSUPPORTED_MEDIA_TYPE: { number: -32005, http: 415, grpc: 'INVALID_ARGUMENT' },
  METHOD_NOT_FOUND: { number: -32601, http: 404, grpc: 'UNIMPLEMENTED' },
  AGENT_NOT_FOUND: { number: -32601, http: 404, grpc: 'NOT_FOUND' },
  METHOD_NOT_ALLOWED: { number: -32601, http: 405, grpc: 'UNIMPLEMENTED' },
  INVALID_PARAMS: { number: -32602, http: 400, grpc: 'INVALID_ARGUMENT' },
  CONTEXT_REJECTED: { number: -32602, http: 400, grpc: 'INVALID_ARGUMENT' },
  MESSAGE_ID_REUSED: { number: -32602, http: 400, grpc: 'INVALID_ARGUMENT' },
  TASK_NOT_FOUND: { number: -32001, http: 404, grpc: 'NOT_FOUND' },
  TASK_NOT_CANCELABLE: { number: -32002, http: 400, grpc: 'FAILED_PRECONDITION' },
  PUSH_NOTIFICATION_NOT_SUPPORTED: { number: -32003, http: 400, grpc: 'FAILED_PRECONDITION' },
  UNSUPPORTED_OPERATION: { number: -32004, http: 400, grpc: 'FAILED_PRECONDITION' },
  CONTENT_TYPE_NOT_SUPPORTED: { number: -32005, http: 400, grpc: 'INVALID_ARGUMENT' },
  EXTENDED_AGENT_CARD_NOT_CONFIGURED: { number: -32007, http: 400, grpc: 'FAILED_PRECONDITION' },
  EXTENSION_SUPPORT_REQUIRED: { number: -32008, http: 400, grpc: 'FAILED_PRECONDITION', legacyNumber: -32600 },
  VERSION_NOT_SUPPORTED: { number: -32009, http: 400, grpc: 'FAILED_PRECONDITION' },
  UNAUTHENTICATED: { number: -32090, http: 401, grpc: 'UNAUTHENTICATED' },
  PERMISSION_DENIED: { number: -32091, http: 403, grpc: 'PERMISSION_DENIED' },
  RATE_LIMITED: { number: -32092, http: 429, grpc: 'RESOURCE_EXHAUSTED' },
}

/** JSON-RPC errors travel in a 200, except for what concerns the transport (F-3). */
const transportStatuses = [401, 403, 413, 415, 429]

const errorInfo = 'type.googleapis.com/google.rpc.ErrorInfo'
const badRequest = 'type.googleapis.com/google.rpc.BadRequest'

/** The reason that was found, and the violations in its form. */
export interface ErrorVerdict {
  readonly reason: string
  readonly complaints: readonly string[]
}

/** `error` is the member of a JSON-RPC envelope. */
export function checkRpcError(error: unknown, version: VersionId, status: number): ErrorVerdict {
  const complaints: string[] = []
  if (!isJsonObject(error)) return { reason: '', complaints: ['error is not an object'] }
  checkKeys(error, ['code', 'message', 'data'], 'error', complaints)
  checkMessage(error['message'], 'error.message', complaints)
  const reason = reasonOf(error['data'], version, 'error.data', complaints)
  const row = known[reason]
  if (row === undefined)
    return { reason, complaints: [...complaints, `error.data has the reason ${reason || 'nothing'}`] }
  const number = version === '1.0' ? row.number : (row.legacyNumber ?? row.number)
  if (error['code'] !== number) complaints.push(`error.code is ${String(error['code'])}, which is not ${reason}`)
  const expected = transportStatuses.includes(row.http) ? row.http : 200
  if (status !== expected) complaints.push(`${reason} came with HTTP ${status} instead of ${expected}`)
  return { reason, complaints }
}

/** `body` is the whole response. */
export function checkRestError(body: unknown, version: VersionId, status: number): ErrorVerdict {
  const complaints: string[] = []
  const error = version === '1.0' && isJsonObject(body) ? body['error'] : body
  if (!isJsonObject(error)) return { reason: '', complaints: ['the body of the error is not an object'] }
  checkMessage(error['message'], 'error.message', complaints)
  const details = version === '1.0' ? 'details' : 'data'
  const reason = reasonOf(error[details], version, `error.${details}`, complaints)
  const row = known[reason]
  if (row === undefined)
    return { reason, complaints: [...complaints, `the error has the reason ${reason || 'nothing'}`] }
  if (status !== row.http) complaints.push(`${reason} came with HTTP ${status} instead of ${row.http}`)
  if (version === '1.0') {
    checkKeys(body as JsonObject, ['error'], 'body', complaints)
    checkKeys(error, ['code', 'status', 'message', 'details'], 'error', complaints)
    if (error['code'] !== status) complaints.push(`error.code is ${String(error['code'])} and HTTP says ${status}`)
    if (error['status'] !== row.grpc)
      complaints.push(`error.status is ${String(error['status'])}, which is not ${row.grpc}`)
  } else {
    checkKeys(error, ['code', 'message', 'data', 'type', 'error'], 'error', complaints)
    const { type } = error
    const isNamed =
      typeof type === 'string' && /^[A-Z]\w+Error$/.test(type) && String(error['error']).startsWith('io.a2a.')
    if (!isNamed) complaints.push('error names no class')
    const number = row.legacyNumber ?? row.number
    if (error['code'] !== number) complaints.push(`code is ${String(error['code'])}, which is not ${reason}`)
  }
  return { reason, complaints }
}

function checkKeys(bag: JsonObject, allowed: readonly string[], path: string, complaints: string[]): void {
  for (const key of Object.keys(bag))
    if (!allowed.includes(key)) complaints.push(`${path}.${key} does not belong there`)
}

function checkMessage(message: unknown, path: string, complaints: string[]): void {
  if (typeof message !== 'string' || message === '') complaints.push(`${path} says nothing`)
  // A megabyte of invalid input must not be echoed in an error text.
  else if (message.length > 4_000) complaints.push(`${path} is ${message.length} characters long`)
}

function reasonOf(details: unknown, version: VersionId, path: string, complaints: string[]): string {
  if (version === '1.0') return typedReason(details, path, complaints)
  if (!isJsonObject(details)) {
    complaints.push(`${path} is not an object`)
    return ''
  }
  if (details['violations'] !== undefined) checkViolations(details['violations'], `${path}.violations`, complaints)
  return typeof details['reason'] === 'string' ? details['reason'] : ''
}

function typedReason(details: unknown, path: string, complaints: string[]): string {
  if (!Array.isArray(details) || details.length === 0) {
    complaints.push(`${path} is not an array of details`)
    return ''
  }
  let reason = ''
  for (const detail of details as unknown[]) {
    const type = isJsonObject(detail) ? detail['@type'] : undefined
    if (!isJsonObject(detail) || typeof type !== 'string') complaints.push(`${path} has an element without @type`)
    else if (type === badRequest) checkViolations(detail['fieldViolations'], `${path}.fieldViolations`, complaints)
    else if (type === errorInfo) {
      checkKeys(detail, ['@type', 'reason', 'domain', 'metadata'], path, complaints)
      if (detail['domain'] !== 'a2a-protocol.org') complaints.push(`${path}.domain is not that of the protocol`)
      const metadata = detail['metadata'] ?? {}
      const isPlain = isJsonObject(metadata) && Object.values(metadata).every((value) => typeof value === 'string')
      if (!isPlain) complaints.push(`${path}.metadata is not a map of strings`)
      reason = typeof detail['reason'] === 'string' ? detail['reason'] : ''
    }
  }
  return reason
}

function checkViolations(violations: unknown, path: string, complaints: string[]): void {
  const isViolation = (one: unknown): boolean =>
    isJsonObject(one) &&
    typeof one['field'] === 'string' &&
    one['field'] !== '' &&
    typeof one['description'] === 'string'
  if (!Array.isArray(violations) || violations.length === 0 || !violations.every(isViolation)) {
    complaints.push(`${path} does not name what is wrong`)
  }
}
