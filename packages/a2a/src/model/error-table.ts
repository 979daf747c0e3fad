/** How each error looks on every wire. A separate file, so that a web page loads it only with the first protocol version. */

interface ErrorMapping {
  readonly jsonrpc: number
  readonly http: number
  /** The name of the gRPC status, which 1.0 REST bodies also carry. */
  readonly grpc: string
}

/**
 * HTTP and gRPC statuses are those of 1.0.1. Codes from -32090 down are ours (the range below -32080 keeps clear of future official
 * ones).
 */
export const errorTable = {
  PARSE_ERROR: { jsonrpc: -32700, http: 400, grpc: 'INVALID_ARGUMENT' },
  INVALID_REQUEST: { jsonrpc: -32600, http: 400, grpc: 'INVALID_ARGUMENT' },
  METHOD_NOT_FOUND: { jsonrpc: -32601, http: 404, grpc: 'UNIMPLEMENTED' },
  /** The request names an unknown agent, or no agent while there is no default. JSON-RPC and HTTP have no closer code. */
  AGENT_NOT_FOUND: { jsonrpc: -32601, http: 404, grpc: 'NOT_FOUND' },
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
  RATE_LIMITED: { jsonrpc: -32092, http: 429, grpc: 'RESOURCE_EXHAUSTED' },
  AGENT_UNAVAILABLE: { jsonrpc: -32093, http: 503, grpc: 'UNAVAILABLE' },
  INPUT_TIMEOUT: { jsonrpc: -32094, http: 504, grpc: 'DEADLINE_EXCEEDED' },
  TOOL_EXECUTION_FAILED: { jsonrpc: -32095, http: 500, grpc: 'INTERNAL' },
  /** A contextId that cannot be accepted (B-56). */
  CONTEXT_REJECTED: { jsonrpc: -32602, http: 400, grpc: 'INVALID_ARGUMENT' },
  /** A messageId that was used before with other content (B-163). */
  MESSAGE_ID_REUSED: { jsonrpc: -32602, http: 400, grpc: 'INVALID_ARGUMENT' },
  PAYLOAD_TOO_LARGE: { jsonrpc: -32600, http: 413, grpc: 'INVALID_ARGUMENT' },
  /** The Content-Type of the request, not that of a part: the same JSON-RPC code, but HTTP has its own status for it (B-41). */
  UNSUPPORTED_MEDIA_TYPE: { jsonrpc: -32005, http: 415, grpc: 'INVALID_ARGUMENT' },
  /** The server cannot serve now: it is shutting down, or its store does not respond. */
  UNAVAILABLE: { jsonrpc: -32603, http: 503, grpc: 'UNAVAILABLE' },
  /** Clients create these; they never cross the wire. */
  CARD_NOT_FOUND: { jsonrpc: -32603, http: 404, grpc: 'NOT_FOUND' },
  INTERRUPTED: { jsonrpc: -32603, http: 500, grpc: 'UNAVAILABLE' },
  TASK_FAILED: { jsonrpc: -32603, http: 500, grpc: 'INTERNAL' },
  INPUT_REQUIRED: { jsonrpc: -32603, http: 500, grpc: 'FAILED_PRECONDITION' },
  TIMEOUT: { jsonrpc: -32603, http: 504, grpc: 'DEADLINE_EXCEEDED' },
  /** The reason of a turn's signal after a cancel. Peers know no such code: `wireCodeOf` replaces it. */
  CANCELED: { jsonrpc: -32004, http: 400, grpc: 'FAILED_PRECONDITION' },
} as const satisfies Record<string, ErrorMapping>

/** The code that peers see in place of `code`. */
export function wireCodeOf(code: keyof typeof errorTable): keyof typeof errorTable {
  return code === 'CANCELED' ? 'UNSUPPORTED_OPERATION' : code
}
