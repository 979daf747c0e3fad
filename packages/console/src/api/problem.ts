/** An error as the console shows it: what happened, why, and the details that support needs. */
import type { Error as ErrorResponse } from './admin.ts'

type ProblemCode = ErrorResponse['error']['code'] | 'UNREACHABLE'

export class Problem extends Error {
  override readonly name = Problem.name
  readonly code: ProblemCode
  readonly status: number | undefined
  readonly violations: NonNullable<ErrorResponse['error']['violations']>
  /** For example `GET /admin/tasks`. */
  readonly request: string

  constructor(
    message: string,
    details: {
      code: ProblemCode
      status?: number
      request: string
      violations?: Problem['violations']
      cause?: unknown
    },
  ) {
    super(message, { cause: details.cause })
    this.code = details.code
    this.status = details.status
    this.request = details.request
    this.violations = details.violations ?? []
  }
}

export function unreachableProblem(request: string, cause: unknown): Problem {
  return new Problem('The hub cannot be reached. It may be restarting.', { code: 'UNREACHABLE', request, cause })
}

export function isProblem(reason: unknown, ...codes: readonly ProblemCode[]): reason is Problem {
  return reason instanceof Problem && (codes.length === 0 || codes.includes(reason.code))
}

/** Converts any thrown value to a Problem. */
export function toProblem(reason: unknown, request = ''): Problem {
  if (reason instanceof Problem) return reason
  const message = reason instanceof Error ? reason.message : String(reason)
  return new Problem(message, { code: 'INTERNAL', request, cause: reason })
}
