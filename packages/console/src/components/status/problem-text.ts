/** What a notice says about a problem: what failed, the cause for operators, and what to do. One table, by error code. */
import type { Problem } from '../../api/problem.ts'

const internal = { title: 'The hub failed to process the request', advice: 'The log of the hub has the cause.' }
const problems = {
  UNREACHABLE: {
    title: 'The hub cannot be reached',
    advice: 'It may be restarting. The console reconnects automatically.',
  },
  UNAUTHENTICATED: { advice: 'Sign in again to continue.' },
  PERMISSION_DENIED: { advice: 'Sign in with an admin key, or ask an admin of this hub.' },
  NOT_FOUND: { advice: 'It may have been removed. Check the address, or go back to the list.' },
  METHOD_NOT_ALLOWED: { advice: 'The console and the hub may have different versions. Reload the page.' },
  CONFLICT: { advice: 'Reload to see the current state, then try again.' },
  PAYLOAD_TOO_LARGE: { advice: 'Send less at once, or raise the limit in the configuration.' },
  UNSUPPORTED_MEDIA_TYPE: { advice: 'The console and the hub may have different versions. Reload the page.' },
  RATE_LIMITED: { advice: 'Wait a moment, then try again.' },
  UNAVAILABLE: {},
  INVALID_PARAMS: {},
  INTERNAL: {},
}

export interface ProblemText {
  readonly title: string
  readonly cause?: string
  readonly advice?: string
  /** For support: the request, its status and the code. */
  readonly details: string
}

/** The message of an error that the hub does not explain to callers. */
const unexplained = /^Internal error$/

export function problemText(problem: Problem): ProblemText {
  const { code, message, request, status } = problem
  const details = [request, status, code, message].filter((one) => one !== undefined && one !== '').join('\n')
  if (code === 'INTERNAL' && unexplained.test(message)) return { ...internal, details }
  const known: { readonly title?: string; readonly advice?: string } = problems[code]
  return { title: message, ...known, details }
}
