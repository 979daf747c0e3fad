/** What a notice says about a problem: what failed, the cause for operators, and what to do. One table, by error code. */
import type { Problem } from '../../api/problem.ts'
import { statusStrings } from './strings.ts'

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
  if (code === 'INTERNAL' && unexplained.test(message)) return { ...statusStrings.internal, details }
  const known: { readonly title?: string; readonly advice?: string } = statusStrings.problems[code]
  return { title: message, ...known, details }
}
