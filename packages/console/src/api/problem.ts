/** What went wrong, in words that help: what happened, why, and what somebody who supports the user would like to know. */
import type { Error as Told } from './admin.ts'

type Code = Told['error']['code'] | 'UNREACHABLE'

export class Problem extends Error {
  readonly code: Code
  readonly status: number | undefined
  readonly violations: readonly { readonly field: string; readonly description: string }[]
  /** Such as `GET /admin/tasks`. */
  readonly request: string

  constructor(
    message: string,
    about: { code: Code; status?: number; request: string; violations?: Problem['violations']; cause?: unknown },
  ) {
    super(message, { cause: about.cause })
    this.name = 'Problem'
    this.code = about.code
    this.status = about.status
    this.request = about.request
    this.violations = about.violations ?? []
  }
}

export function isProblem(reason: unknown, ...codes: readonly Code[]): reason is Problem {
  return reason instanceof Problem && (codes.length === 0 || codes.includes(reason.code))
}

/** Whatever was thrown, as a problem. */
export function problemOf(reason: unknown, request = ''): Problem {
  if (reason instanceof Problem) return reason
  const message = reason instanceof Error ? reason.message : String(reason)
  return new Problem(message, { code: 'INTERNAL', request, cause: reason })
}
