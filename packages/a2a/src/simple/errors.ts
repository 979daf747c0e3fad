/**
 * Error classes by kind, for programs that use the simple module. Each is an `A2AError` and carries its code; the rest of the
 * SDK has only that one class.
 */
import { A2AError, type ErrorCode, type ErrorDetails } from '../model/error.ts'

/**
 * Thrown if a remote agent is unreachable or sends an unexpected response. `details.status` is the HTTP status, if there was one.
 */
export class ExternalServiceError extends A2AError {
  override readonly name = 'ExternalServiceError'

  constructor(message: string, details: ErrorDetails = {}, options?: ErrorOptions & { readonly code?: ErrorCode }) {
    super(options?.code ?? 'UNAVAILABLE', message, details, options)
  }
}

/** Thrown if an argument or a fetched document is invalid. `details.violations` names the fields. */
export class ValidationError extends A2AError {
  override readonly name = 'ValidationError'

  constructor(message: string, details: ErrorDetails = {}, options?: ErrorOptions & { readonly code?: ErrorCode }) {
    super(options?.code ?? 'INVALID_PARAMS', message, details, options)
  }
}

/** Thrown if something that a task needs does not exist: an agent with a default project. */
export class NotFoundError extends A2AError {
  override readonly name = 'NotFoundError'

  constructor(message: string, details: ErrorDetails = {}, options?: ErrorOptions & { readonly code?: ErrorCode }) {
    super(options?.code ?? 'AGENT_UNAVAILABLE', message, details, options)
  }
}
