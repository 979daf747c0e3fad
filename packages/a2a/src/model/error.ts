/** One error class and one closed set of codes. error-table.ts defines how each code looks on the wire. */
import type { errorTable } from './error-table.ts'

export type ErrorCode = keyof typeof errorTable

/** The same call may succeed later without a change. */
const retryable: ReadonlySet<ErrorCode> = new Set([
  'RATE_LIMITED',
  'AGENT_UNAVAILABLE',
  'UNAVAILABLE',
  'INTERRUPTED',
  'TIMEOUT',
])

/** What is wrong with one field of a request. The path uses the spelling of the caller: `message.parts[0].text`. */
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

export interface ErrorDetails extends Partial<Readonly<Record<DetailName, string | undefined>>> {
  readonly violations?: readonly Violation[]
  readonly [key: string]: string | readonly Violation[] | undefined
}

export class A2AError extends Error {
  override readonly name: string = 'A2AError'
  readonly code: ErrorCode
  /** Sent to the caller. Never put a secret or an internal path here. */
  readonly details: ErrorDetails

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}, options?: ErrorOptions) {
    super(message, options)
    this.code = code
    this.details = details
  }

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
