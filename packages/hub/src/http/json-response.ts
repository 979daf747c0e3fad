/** Responses of the hub's own routes: JSON, never cached, with one error format. */
import type { Violation } from '@parley/a2a'

export interface JsonResponse {
  readonly status: number
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export const routeErrorCodes = [
  'INVALID_PARAMS',
  'UNAUTHENTICATED',
  'PERMISSION_DENIED',
  'NOT_FOUND',
  'METHOD_NOT_ALLOWED',
  'CONFLICT',
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  'RATE_LIMITED',
  'UNAVAILABLE',
  'INTERNAL',
] as const

export type RouteErrorCode = (typeof routeErrorCodes)[number]

const statusByCode: Readonly<Record<RouteErrorCode, number>> = {
  INVALID_PARAMS: 400,
  UNAUTHENTICATED: 401,
  PERMISSION_DENIED: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  CONFLICT: 409,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  RATE_LIMITED: 429,
  UNAVAILABLE: 503,
  INTERNAL: 500,
}

/** Thrown by a route; `message` is for the caller. */
export class RouteError extends Error {
  override readonly name = 'RouteError'
  readonly code: RouteErrorCode
  readonly violations: readonly Violation[]
  readonly headers: Readonly<Record<string, string>>

  constructor(
    code: RouteErrorCode,
    message: string,
    more: { readonly violations?: readonly Violation[]; readonly headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(message)
    this.code = code
    this.violations = more.violations ?? []
    this.headers = more.headers ?? {}
  }
}

export function errorResponse({ code, message, violations, headers }: RouteError): JsonResponse {
  const error = { code, message, ...(violations.length > 0 ? { violations } : {}) }
  return { status: statusByCode[code], body: { error }, headers }
}

export function notFoundError(): RouteError {
  return new RouteError('NOT_FOUND', 'Not found')
}

/** Formats milliseconds since the epoch as ISO 8601. */
export function isoTime(at: number): string {
  return new Date(at).toISOString()
}
