/** One error class and one closed set of codes. error-table.ts defines how each code looks on the wire. */
import type { errorTable } from './error-table.ts'

/**
 * The code of an `A2AError`: one closed set for servers, agents and clients. Each has a fixed JSON-RPC code, HTTP status and gRPC
 * status (`error-table.ts`).
 */
export type ErrorCode = keyof typeof errorTable

/** The same call may succeed later without a change. */
const retryable: ReadonlySet<ErrorCode> = new Set([
  'RATE_LIMITED',
  'AGENT_UNAVAILABLE',
  'UNAVAILABLE',
  'INTERRUPTED',
  'TIMEOUT',
])

/** One invalid field of a request. `field` uses the spelling of the caller: `message.parts[0].text`. */
export interface Violation {
  readonly field: string
  readonly description: string
}

/** The details that programs read most, typed separately from violations. */
type DetailName =
  | 'reason'
  | 'cause'
  | 'status'
  | 'taskId'
  | 'contextId'
  | 'state'
  | 'messageId'
  | 'lastEventId'
  | 'retryAfterMs'

/** Details of an `A2AError`: strings by name, and `violations`. They are sent to the caller. */
export interface ErrorDetails extends Partial<Readonly<Record<DetailName, string | undefined>>> {
  readonly violations?: readonly Violation[]
  readonly [key: string]: string | readonly Violation[] | undefined
}

/**
 * The error of this SDK: a code, a message for people, and details for programs.
 *
 * A server sends it to the caller, an agent may throw it, and a client throws it for every failure. `retryable` says whether the
 * same call may succeed later.
 *
 * @example
 * ```ts
 * import { A2AError, connect } from '@parley/a2a/client'
 *
 * const agent = await connect('https://agent.example.com')
 * try {
 *   await agent.cancel('task-1')
 * } catch (error) {
 *   if (!(error instanceof A2AError) || error.code !== 'TASK_NOT_FOUND') throw error
 * }
 * ```
 */
export class A2AError extends Error {
  override readonly name: string = 'A2AError'
  readonly code: ErrorCode
  /** Sent to the caller. Never put a secret or an internal path here. */
  readonly details: ErrorDetails
  /**
   * The code as the peer sent it: the number of JSON-RPC, or the reason or the name of the status over the other bindings.
   * Only set on errors that a client received; never sent on.
   */
  declare readonly wireCode?: string | number

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}, options?: ErrorOptions) {
    super(message, options)
    this.code = code
    this.details = details
  }

  /**
   * Whether the same call may succeed later without a change: RATE_LIMITED, AGENT_UNAVAILABLE, UNAVAILABLE, INTERRUPTED or TIMEOUT.
   * False for a simple task that the peer refused: it has no id, so a repeat could do the work twice.
   */
  get retryable(): boolean {
    return retryable.has(this.code)
  }

  /** Wraps any other error as an internal one: the caller learns nothing, and the log keeps `cause`. */
  static from(reason: unknown): A2AError {
    return reason instanceof A2AError ? reason : new A2AError('INTERNAL', 'Internal error', {}, { cause: reason })
  }
}

/** "Not found" and "not yours" are the same response (B-160). */
export const taskNotFound = (taskId: string): A2AError => new A2AError('TASK_NOT_FOUND', 'Task not found', { taskId })

export const invalidParams = (violations: readonly Violation[]): A2AError =>
  new A2AError(
    'INVALID_PARAMS',
    `Invalid parameters: ${violations.map((v) => `${v.field} ${v.description}`).join('; ')}`,
    { violations },
  )

// When a caller may retry: `Retry-After` over HTTP, `RetryInfo` over gRPC.

/**
 * The seconds that the error states; by default one second. An unavailable agent returns none: its recovery time is unknown, and
 * clients take the header as an invitation to send the same request again.
 */
export function retryAfterSeconds({ code, details }: A2AError): string | undefined {
  const said = details['retryAfterSeconds']
  // A detail may be any text; only digits may reach the header.
  if (typeof said === 'string' && /^\d{1,9}$/.test(said)) return said
  return code === 'AGENT_UNAVAILABLE' ? undefined : '1'
}
