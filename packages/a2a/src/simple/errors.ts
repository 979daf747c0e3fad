/**
 * Errors by kind, as programs of the simple module catch them. Each is an `A2AError` and carries its code; everywhere else in
 * the SDK there is the one class.
 */
import { A2AError } from '../model/error.ts'
import type { ErrorCode, ErrorDetails } from '../model/error.ts'

/** A remote agent cannot be reached or answers with something else than expected. `details.status` is the HTTP status, if there was one. */
export class ExternalServiceError extends A2AError {
  override readonly name = 'ExternalServiceError'

  constructor(message: string, details: ErrorDetails = {}, options?: ErrorOptions & { readonly code?: ErrorCode }) {
    super(options?.code ?? 'UNAVAILABLE', message, details, options)
  }
}

/** Something that was given or fetched is not valid. `details.violations` names the fields. */
export class ValidationError extends A2AError {
  override readonly name = 'ValidationError'

  constructor(message: string, details: ErrorDetails = {}, options?: ErrorOptions & { readonly code?: ErrorCode }) {
    super(options?.code ?? 'INVALID_PARAMS', message, details, options)
  }
}

/** What a task needs does not exist: an agent with a default project. */
export class NotFoundError extends A2AError {
  override readonly name = 'NotFoundError'

  constructor(message: string, details: ErrorDetails = {}, options?: ErrorOptions & { readonly code?: ErrorCode }) {
    super(options?.code ?? 'AGENT_UNAVAILABLE', message, details, options)
  }
}
