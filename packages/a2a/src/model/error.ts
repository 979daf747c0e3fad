/** One error class, one closed set of codes, one table that says how each code looks on every wire. */

interface Mapping {
  readonly jsonrpc: number
  readonly http: number
  /** The gRPC status by name, which 1.0 REST bodies carry too. */
  readonly grpc: string
  /** Whether the same call may work later without a change. */
  readonly retryable?: true
}

/**
 * HTTP and gRPC statuses are those of 1.0.1. Codes from -32090 down are ours
 * (the range below -32080 keeps clear of future official ones).
 */
export const errorTable = {
  PARSE_ERROR: { jsonrpc: -32700, http: 400, grpc: 'INVALID_ARGUMENT' },
  INVALID_REQUEST: { jsonrpc: -32600, http: 400, grpc: 'INVALID_ARGUMENT' },
  METHOD_NOT_FOUND: { jsonrpc: -32601, http: 404, grpc: 'UNIMPLEMENTED' },
  METHOD_NOT_ALLOWED: { jsonrpc: -32601, http: 405, grpc: 'UNIMPLEMENTED' },
  INVALID_PARAMS: { jsonrpc: -32602, http: 400, grpc: 'INVALID_ARGUMENT' },
  INTERNAL: { jsonrpc: -32603, http: 500, grpc: 'INTERNAL' },
  TASK_NOT_FOUND: { jsonrpc: -32001, http: 404, grpc: 'NOT_FOUND' },
  TASK_NOT_CANCELABLE: { jsonrpc: -32002, http: 400, grpc: 'FAILED_PRECONDITION' },
  PUSH_NOTIFICATION_NOT_SUPPORTED: { jsonrpc: -32003, http: 400, grpc: 'FAILED_PRECONDITION' },
  UNSUPPORTED_OPERATION: { jsonrpc: -32004, http: 400, grpc: 'FAILED_PRECONDITION' },
  CONTENT_TYPE_NOT_SUPPORTED: { jsonrpc: -32005, http: 400, grpc: 'INVALID_ARGUMENT' },
  INVALID_AGENT_RESPONSE: { jsonrpc: -32006, http: 500, grpc: 'INTERNAL' },
  EXTENDED_AGENT_CARD_NOT_CONFIGURED: { jsonrpc: -32007, http: 400, grpc: 'FAILED_PRECONDITION' },
  EXTENSION_SUPPORT_REQUIRED: { jsonrpc: -32008, http: 400, grpc: 'FAILED_PRECONDITION' },
  VERSION_NOT_SUPPORTED: { jsonrpc: -32009, http: 400, grpc: 'FAILED_PRECONDITION' },
  UNAUTHENTICATED: { jsonrpc: -32090, http: 401, grpc: 'UNAUTHENTICATED' },
  PERMISSION_DENIED: { jsonrpc: -32091, http: 403, grpc: 'PERMISSION_DENIED' },
  RATE_LIMITED: { jsonrpc: -32092, http: 429, grpc: 'RESOURCE_EXHAUSTED', retryable: true },
  AGENT_UNAVAILABLE: { jsonrpc: -32093, http: 503, grpc: 'UNAVAILABLE', retryable: true },
  INPUT_TIMEOUT: { jsonrpc: -32094, http: 504, grpc: 'DEADLINE_EXCEEDED' },
  TOOL_EXECUTION_FAILED: { jsonrpc: -32095, http: 500, grpc: 'INTERNAL' },
  /** A contextId that cannot be accepted (B-56). */
  CONTEXT_REJECTED: { jsonrpc: -32602, http: 400, grpc: 'INVALID_ARGUMENT' },
  /** A messageId that came before with other content (B-163). */
  MESSAGE_ID_REUSED: { jsonrpc: -32602, http: 400, grpc: 'INVALID_ARGUMENT' },
  PAYLOAD_TOO_LARGE: { jsonrpc: -32600, http: 413, grpc: 'INVALID_ARGUMENT' },
  /** The request's own Content-Type, not that of a part: the same number, but HTTP has a status for it (B-41). */
  UNSUPPORTED_MEDIA_TYPE: { jsonrpc: -32005, http: 415, grpc: 'INVALID_ARGUMENT' },
  /** The server itself cannot serve now: shutting down, or its store does not answer. */
  UNAVAILABLE: { jsonrpc: -32603, http: 503, grpc: 'UNAVAILABLE', retryable: true },
  /** These are made by clients and never cross the wire. */
  CARD_NOT_FOUND: { jsonrpc: -32603, http: 404, grpc: 'NOT_FOUND' },
  INTERRUPTED: { jsonrpc: -32603, http: 500, grpc: 'UNAVAILABLE', retryable: true },
  TASK_FAILED: { jsonrpc: -32603, http: 500, grpc: 'INTERNAL' },
  INPUT_REQUIRED: { jsonrpc: -32603, http: 500, grpc: 'FAILED_PRECONDITION' },
  TIMEOUT: { jsonrpc: -32603, http: 504, grpc: 'DEADLINE_EXCEEDED', retryable: true },
} as const satisfies Record<string, Mapping>

export type ErrorCode = keyof typeof errorTable

/** What is wrong with one field of a request. The path is in the spelling the caller used: `message.parts[0].text`. */
export interface Violation {
  readonly field: string
  readonly description: string
}

export interface ErrorDetails {
  readonly violations?: readonly Violation[]
  readonly [key: string]: string | readonly Violation[] | undefined
}

export class A2AError extends Error {
  override readonly name = 'A2AError'
  readonly code: ErrorCode
  /** Sent to the caller. Never put a secret or an internal path here. */
  readonly details: ErrorDetails

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}, options?: ErrorOptions) {
    super(message, options)
    this.code = code
    this.details = details
  }

  get retryable(): boolean {
    return 'retryable' in errorTable[this.code]
  }

  /** Anything that is not already ours is our fault: the caller learns nothing, the log keeps `cause`. */
  static from(reason: unknown): A2AError {
    return reason instanceof A2AError ? reason : new A2AError('INTERNAL', 'Internal error', {}, { cause: reason })
  }
}

/** "Not found" and "not yours" are the same answer (B-160). */
export const taskNotFound = (taskId: string): A2AError => new A2AError('TASK_NOT_FOUND', 'Task not found', { taskId })

export const invalidParams = (violations: readonly Violation[]): A2AError =>
  new A2AError(
    'INVALID_PARAMS',
    `Invalid parameters: ${violations.map((v) => `${v.field} ${v.description}`).join('; ')}`,
    { violations },
  )
