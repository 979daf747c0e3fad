/** What the routes of the hub's own answer: JSON, never kept by a cache, with errors in one shape. */
import type { Violation } from '@parley/a2a'

export interface Answer {
  readonly status: number
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export const errorCodes = [
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

export type Refusal = (typeof errorCodes)[number]

const statusOf: Readonly<Record<Refusal, number>> = {
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
  readonly code: Refusal
  readonly violations: readonly Violation[]
  readonly headers: Readonly<Record<string, string>>

  constructor(
    code: Refusal,
    message: string,
    more: { readonly violations?: readonly Violation[]; readonly headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(message)
    this.code = code
    this.violations = more.violations ?? []
    this.headers = more.headers ?? {}
  }
}

export function refusal({ code, message, violations, headers }: RouteError): Answer {
  const error = { code, message, ...(violations.length > 0 ? { violations } : {}) }
  return { status: statusOf[code], body: { error }, headers }
}

export function notFound(): RouteError {
  return new RouteError('NOT_FOUND', 'There is nothing at this path')
}

/** Milliseconds since the epoch as people and programs read them. */
export function time(at: number): string {
  return new Date(at).toISOString()
}
