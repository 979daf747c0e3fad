/**
 * Errors as gRPC carries them, both ways: a status and a message, and in `grpc-status-details-bin` the same details as in the other
 * bindings (§3.2, §3.3). The client looks at the reason first, because servers of 1.0.0 and 1.0.1 disagree on statuses.
 */
import { A2AError, retryAfterSeconds } from '../../model/error.ts'
import { errorTable } from '../../model/error-table.ts'
import { withWireCode } from '../../versions/decode-error.ts'
import { encodeDetails } from '../../versions/error-detail.ts'
import { codeOfErrorName } from '../../versions/error-names.ts'
import type { Dialect, GrpcSpelling } from '../../versions/version.ts'
import { decodeProtobuf, encodeProtobuf } from './codec.ts'

/** By number; the protocol defines the order. */
export const statusNames = [
  'OK',
  'CANCELLED',
  'UNKNOWN',
  'INVALID_ARGUMENT',
  'DEADLINE_EXCEEDED',
  'NOT_FOUND',
  'ALREADY_EXISTS',
  'PERMISSION_DENIED',
  'RESOURCE_EXHAUSTED',
  'FAILED_PRECONDITION',
  'ABORTED',
  'OUT_OF_RANGE',
  'UNIMPLEMENTED',
  'INTERNAL',
  'UNAVAILABLE',
  'DATA_LOSS',
  'UNAUTHENTICATED',
] as const

export interface GrpcStatus {
  readonly code: number
  readonly message: string
  /** The value of `grpc-status-details-bin`. */
  readonly details: Uint8Array | undefined
}

/** Trailers are header fields, and peers accept 8 kB of those in total; base64 adds a third. */
const maxDetailBytes = 4_000
const maxMessageChars = 1_000

export function grpcStatusOf(error: A2AError, { statuses }: Pick<GrpcSpelling, 'statuses'> = {}): GrpcStatus {
  const code = statusNames.indexOf(statuses?.[error.code] ?? errorTable[error.code].grpc)
  // Half a surrogate pair cannot be percent-encoded.
  const message = error.message.slice(0, maxMessageChars).toWellFormed()
  const [info, ...more] = [...encodeDetails(error), ...retryInfo(error)]
  // Details that do not fit are omitted, the last first; the reason always fits.
  const attempts = [[info, ...more], [info], [{ ...info, metadata: {} }]]
  for (const details of attempts) {
    const bytes = encodeProtobuf('google.rpc.Status', { code, message, details })
    if (bytes.length <= maxDetailBytes) return { code, message, details: bytes }
  }
  return { code, message, details: undefined }
}

/** Like `Retry-After` over HTTP: for rate limits, and for an unavailable server or agent. */
function retryInfo(error: A2AError): readonly object[] {
  const { grpc } = errorTable[error.code]
  const seconds = retryAfterSeconds(error)
  if (seconds === undefined || (grpc !== 'RESOURCE_EXHAUSTED' && grpc !== 'UNAVAILABLE')) return []
  return [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${seconds}s` }]
}

/** Converts a peer's status to an error. */
export function errorFromGrpcStatus({ code, message, details }: GrpcStatus, dialect: Dialect): A2AError {
  const listed = detailsIn(details)
  const status = statusNames[code] ?? 'UNKNOWN'
  const found = dialect.decodeError({ status, message, details: listed })
  const meant = listed.length > 0 ? found.code : codeWithoutDetails(status, message, found)
  const retryAfterMs = retryAfterIn(listed)
  const wait = retryAfterMs !== undefined ? { retryAfterMs } : {}
  return withWireCode(new A2AError(meant, found.message, { ...found.details, ...wait }), found.wireCode)
}

/** Python's 0.3 server uses UNIMPLEMENTED for most errors, and begins the message with the name of the error. */
const namedError = /^([A-Z][A-Za-z]+Error): /

function errorNamedIn(message: string): A2AError['code'] | undefined {
  const name = codeOfErrorName(namedError.exec(message)?.[1])
  return name !== undefined && Object.hasOwn(errorTable, name) ? (name as A2AError['code']) : undefined
}

/**
 * For a status without details. It comes from a server of 0.3, which has no details and no table, so the message must decide; or
 * from a library or a proxy.
 */
const codesByMessage: readonly (readonly [status: string, words: RegExp, code: A2AError['code']])[] = [
  ['FAILED_PRECONDITION', /cancell?able/i, 'TASK_NOT_CANCELABLE'],
  ['FAILED_PRECONDITION', /extended (agent )?card/i, 'EXTENDED_AGENT_CARD_NOT_CONFIGURED'],
  ['UNIMPLEMENTED', /push notification/i, 'PUSH_NOTIFICATION_NOT_SUPPORTED'],
  ['UNIMPLEMENTED', /unsupported operation|operation is not supported/i, 'UNSUPPORTED_OPERATION'],
  ['DEADLINE_EXCEEDED', /^/, 'TIMEOUT'],
  // Libraries use this status for a message beyond their limit, and a retry would not help.
  ['RESOURCE_EXHAUSTED', /larger than/, 'PAYLOAD_TOO_LARGE'],
]

function codeWithoutDetails(status: string, message: string, found: A2AError): A2AError['code'] {
  const byName = errorNamedIn(message)
  return byName ?? codesByMessage.find(([name, words]) => name === status && words.test(message))?.[2] ?? found.code
}

type Detail = Readonly<Record<string, unknown>>

function detailsIn(bytes: Uint8Array | undefined): readonly Detail[] {
  if (bytes === undefined) return []
  try {
    const { details = [] } = decodeProtobuf('google.rpc.Status', bytes) as { readonly details?: readonly Detail[] }
    return details
  } catch {
    // The details are unreadable; the status itself remains.
    return []
  }
}

function retryAfterIn(details: readonly Detail[]): string | undefined {
  const delay = details.find((detail) => typeof detail['retryDelay'] === 'string')?.['retryDelay']
  const seconds = typeof delay === 'string' ? Number(delay.replace(/s$/, '')) : Number.NaN
  return seconds >= 0 ? String(Math.round(seconds * 1_000)) : undefined
}
