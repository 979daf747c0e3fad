/**
 * Errors of a model, as messages that help the caller of the agent. The endpoint's own text may name hosts, accounts and
 * keys, so it is only the cause, for the operator's log.
 */
import { A2AError, type ErrorCode } from '@parley/a2a'
import { attempt } from '../../json/attempt.ts'

/** Limit of the endpoint's text in the log. */
const keptChars = 4_000

/** Transient: the request is retried as long as no text was reported. */
export const modelUnreachable = (cause: unknown): A2AError =>
  new A2AError('AGENT_UNAVAILABLE', 'The model is unavailable now', {}, { cause })

export const answerInterrupted = (cause?: unknown): A2AError =>
  new A2AError('AGENT_UNAVAILABLE', "The model's answer broke off", {}, { cause })

export const unreadableAnswer = (why: string, cause?: unknown): A2AError =>
  new A2AError(
    'INVALID_AGENT_RESPONSE',
    'The model returned a response that cannot be read',
    {},
    {
      cause: cause ?? new Error(why),
    },
  )

/** The provider blocks this prompt. The task is rejected, not failed. */
export const contentFiltered = (cause: unknown): A2AError =>
  new A2AError('PERMISSION_DENIED', 'The model provider refused this message', { reason: 'CONTENT_FILTER' }, { cause })

/** The error for a response that is not 2xx. */
export async function responseError(response: Response): Promise<A2AError> {
  const text = await readBeginning(response)
  return errorForStatus(response.status, text, retryAfterMs(response.headers))
}

/** The error for an error object in the middle of a stream, or in place of an answer. */
export function errorInBody(error: unknown): A2AError {
  const { code, status } = (typeof error === 'object' && error !== null ? error : {}) as Record<string, unknown>
  const given = [code, status].map(Number).find((number) => number >= 400 && number < 600)
  return errorForStatus(given ?? statusFromText(JSON.stringify(error)), JSON.stringify(error))
}

function errorForStatus(status: number, said: string, waitMs?: number): A2AError {
  const cause = new Error(`the endpoint returned ${status}: ${endpointText(said).slice(0, keptChars)}`)
  const wait = waitMs === undefined ? {} : { retryAfterMs: String(waitMs) }
  const failure = (code: ErrorCode, message: string): A2AError =>
    new A2AError(code, message, { status: String(status), ...wait }, { cause })

  if (/content_(filter|policy)|responsible_?ai/i.test(said) && status < 500) return contentFiltered(cause)
  if (/insufficient_quota|billing|payment/i.test(said) || status === 402)
    return failure('PERMISSION_DENIED', "The agent's account with its model provider is used up")
  if (status === 429) return failure('RATE_LIMITED', 'The model is busy: try again later')
  if (status === 408 || status === 425 || status >= 500)
    return failure('AGENT_UNAVAILABLE', 'The model is down: try again later')
  if (/context_length|context length|maximum context|too many tokens|prompt is too long/i.test(said) || status === 413)
    return failure('PAYLOAD_TOO_LARGE', 'The conversation is too long for the model')
  if (status === 401 || status === 403)
    return failure(
      'PERMISSION_DENIED',
      'The model provider rejected the credentials of this agent: ask the operator to check them',
    )
  if (status === 404)
    return failure('UNSUPPORTED_OPERATION', "The agent's model is unavailable: ask the operator to check it")
  return failure('UNSUPPORTED_OPERATION', 'The model does not accept this request')
}

/** The message of the usual error object, with the field and the code that it names; any other body as it is. */
function endpointText(said: string): string {
  const body = attempt(() => JSON.parse(said) as { readonly error?: unknown } | null)
  const { message, param, code } = Object(body?.error ?? body) as Readonly<Record<string, unknown>>
  if (typeof message !== 'string' || message === '') return said
  const about = [param, code].filter((one) => typeof one === 'string' && one !== '')
  return about.length === 0 ? message : `${message} (${about.join(', ')})`
}

/** For providers that answer 200 and fail in the stream, only the text contains the cause. */
function statusFromText(said: string): number {
  if (/rate.?limit|too many requests|overloaded/i.test(said)) return 429
  return /invalid|unsupported/i.test(said) ? 400 : 503
}

function retryAfterMs(headers: Headers): number | undefined {
  const exact = Number(headers.get('retry-after-ms') ?? Number.NaN)
  if (Number.isFinite(exact)) return Math.max(0, exact)
  const given = headers.get('retry-after')
  if (given === null) return undefined
  const seconds = Number(given)
  const wait = Number.isFinite(seconds) ? seconds * 1_000 : Date.parse(given) - Date.now()
  return Number.isFinite(wait) ? Math.max(0, wait) : undefined
}

async function readBeginning(response: Response): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  try {
    for await (const piece of (response.body ?? []) as AsyncIterable<Uint8Array>) {
      text += decoder.decode(piece, { stream: true })
      if (text.length > keptChars) break
    }
  } catch {
    // The connection was cut: uses what was received.
  }
  return text
}
