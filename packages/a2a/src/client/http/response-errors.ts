/** Interprets a response that is not a result: the error it contains, or the meaning of its status and the text of its page. */
import { A2AError, type ErrorCode } from '../../model/error.ts'
import type { HttpAnswer } from '../contract.ts'

/** Statuses that a proxy may send as well as the peer, and that mean the same whatever the body is. */
const codesByStatus: Readonly<Record<number, ErrorCode>> = {
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  413: 'PAYLOAD_TOO_LARGE',
  429: 'RATE_LIMITED',
}

/** The error, with details that are only in the response's head: the status, and when to retry. */
export function withResponseDetails(reason: unknown, text: string, { status, headers }: HttpAnswer): unknown {
  const error = reason instanceof SyntaxError ? notJsonError(text, status) : reason
  const retryAfter = headers.get('retry-after')
  if (!(error instanceof A2AError) || (status < 400 && retryAfter === null)) return error
  const seconds = Number(retryAfter)
  const waitMs = Number.isNaN(seconds) ? Date.parse(retryAfter ?? '') - Date.now() : seconds * 1_000
  const { wireCode } = error
  const detailed = new A2AError(
    error.code,
    error.message,
    {
      ...error.details,
      ...(status >= 400 ? { status: String(status) } : {}),
      ...(retryAfter !== null && waitMs >= 0 ? { retryAfterMs: String(waitMs) } : {}),
    },
    { cause: error },
  )
  return wireCode === undefined ? detailed : Object.assign(detailed, { wireCode })
}

export function notJsonError(text: string, status: number): A2AError {
  const code = codesByStatus[status] ?? (status >= 500 ? 'UNAVAILABLE' : 'INVALID_AGENT_RESPONSE')
  const excerpt = excerptOf(text)
  const what = excerpt === '' ? 'nothing' : 'content that is not JSON'
  const details = { status: String(status), ...(excerpt !== '' ? { excerpt } : {}) }
  return new A2AError(code, `The peer answered HTTP ${status} with ${what}`, details)
}

/** The text of a page without its markup, shortened. */
function excerptOf(text: string): string {
  return (
    text
      .slice(0, 4_096)
      .replace(/<(script|style)[^]*?(<\/\1>|$)/gi, ' ')
      .replace(/<[^>]*>?/g, ' ')
      .replace(/[\s\p{Cc}]+/gu, ' ')
      // Debug pages show the request, and with it the credentials.
      .replace(/\b(bearer|basic|api[-_ ]?key|token)([\s:="']+)[^\s"'<]+/gi, '$1$2…')
      .trim()
      .slice(0, 200)
  )
}
