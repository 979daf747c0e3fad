/** The required form of an error in each version and binding. The codes are those of the protocol, written by hand. */
import { isLegacy } from './spelling.ts'
import assert from 'node:assert/strict'
import type { CellBinding } from './cells.ts'
import type { RawAnswer } from './raw-client.ts'

const codes = {
  PARSE_ERROR: [-32_700, 400, 'INVALID_ARGUMENT'],
  INVALID_REQUEST: [-32_600, 400, 'INVALID_ARGUMENT'],
  METHOD_NOT_FOUND: [-32_601, 404, 'UNIMPLEMENTED'],
  INVALID_PARAMS: [-32_602, 400, 'INVALID_ARGUMENT'],
  TASK_NOT_FOUND: [-32_001, 404, 'NOT_FOUND'],
  TASK_NOT_CANCELABLE: [-32_002, 400, 'FAILED_PRECONDITION'],
  PUSH_NOTIFICATION_NOT_SUPPORTED: [-32_003, 400, 'FAILED_PRECONDITION'],
  UNSUPPORTED_OPERATION: [-32_004, 400, 'FAILED_PRECONDITION'],
  CONTENT_TYPE_NOT_SUPPORTED: [-32_005, 400, 'INVALID_ARGUMENT'],
  EXTENDED_AGENT_CARD_NOT_CONFIGURED: [-32_007, 400, 'FAILED_PRECONDITION'],
  EXTENSION_SUPPORT_REQUIRED: [-32_008, 400, 'FAILED_PRECONDITION'],
  VERSION_NOT_SUPPORTED: [-32_009, 400, 'FAILED_PRECONDITION'],
  UNAUTHENTICATED: [-32_090, 401, 'UNAUTHENTICATED'],
  PERMISSION_DENIED: [-32_091, 403, 'PERMISSION_DENIED'],
  RATE_LIMITED: [-32_092, 429, 'RESOURCE_EXHAUSTED'],
  CONTEXT_REJECTED: [-32_602, 400, 'INVALID_ARGUMENT'],
  MESSAGE_ID_REUSED: [-32_602, 400, 'INVALID_ARGUMENT'],
  PAYLOAD_TOO_LARGE: [-32_600, 413, 'INVALID_ARGUMENT'],
} as const

export type RefusalCode = keyof typeof codes

/** Statuses that JSON-RPC uses too, because proxies must see them (F-3). */
const transport: ReadonlySet<number> = new Set([401, 403, 413, 415, 429, 503])

export interface Refusal {
  readonly message: string
  /** The strings that go with the error. */
  readonly details: Readonly<Record<string, string>>
  /** The invalid fields, as the caller spelled them. */
  readonly fields: readonly string[]
}

/** Asserts the status, the media type and the whole body, and returns what a client learns. */
export function assertRefused(way: CellBinding, answer: RawAnswer, code: RefusalCode): Refusal {
  const [number, http, grpc] = codes[code]
  const { status, headers, body } = answer
  const context = JSON.stringify(body)
  const type = headers.get('content-type')
  const isNew = !isLegacy(way)
  if (way.binding === 'JSONRPC') {
    assert.equal(status, transport.has(http) ? http : 200, context)
    assert.equal(type, answer.isEvent === true ? 'text/event-stream' : 'application/json')
    assert.equal(body.jsonrpc, '2.0')
    assert.equal('result' in body, false, context)
    // 0.x has no code for this one.
    const expected = code === 'EXTENSION_SUPPORT_REQUIRED' && !isNew ? -32_600 : number
    assert.equal(body.error?.code, expected, context)
    return isNew ? readTyped(body.error, body.error.data, code) : readFree(body.error, code)
  }
  if (way.binding === 'GRPC') {
    const statuses = { INVALID_ARGUMENT: 3, NOT_FOUND: 5, PERMISSION_DENIED: 7, RESOURCE_EXHAUSTED: 8 } as const
    const others = { FAILED_PRECONDITION: 9, UNIMPLEMENTED: 12, UNAUTHENTICATED: 16 } as const
    const isOlder = !isNew && (code === 'UNSUPPORTED_OPERATION' || code === 'PUSH_NOTIFICATION_NOT_SUPPORTED')
    assert.equal(status, isOlder ? others.UNIMPLEMENTED : { ...statuses, ...others }[grpc], context)
    // Both formats, because before 1.0 it was not specified (§3.3).
    return readTyped(body, body.details, code)
  }
  assert.equal(status, http, context)
  assert.equal(type, isNew ? 'application/a2a+json' : 'application/json')
  if (isNew) {
    assert.deepEqual(Object.keys(body), ['error'])
    assert.deepEqual([body.error.code, body.error.status], [http, grpc])
    return readTyped(body.error, body.error.details, code)
  }
  assert.equal(body.code, code === 'EXTENSION_SUPPORT_REQUIRED' ? -32_600 : number, context)
  return readFree(body, code)
}

function readTyped({ message }: any, details: any, code: RefusalCode): Refusal {
  assert.ok(typeof message === 'string' && message !== '')
  const [info, ...others] = details
  assert.equal(info['@type'], 'type.googleapis.com/google.rpc.ErrorInfo')
  assert.deepEqual([info.reason, info.domain], [code, 'a2a-protocol.org'])
  const [request, ...more] = others.filter((one: any) => one['@type'] !== 'type.googleapis.com/google.rpc.RetryInfo')
  if (request !== undefined) assert.equal(request['@type'], 'type.googleapis.com/google.rpc.BadRequest')
  assert.deepEqual(more, [])
  return { message, details: info.metadata ?? {}, fields: fieldsOf(request?.fieldViolations) }
}

function readFree({ message, data }: any, code: RefusalCode): Refusal {
  assert.ok(typeof message === 'string' && message !== '')
  const { reason, violations, ...details } = data
  assert.equal(reason, code)
  return { message, details, fields: fieldsOf(violations) }
}

function fieldsOf(violations: any): string[] {
  return (violations ?? []).map(({ field }: { field: string }) => field)
}
