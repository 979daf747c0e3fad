/**
 * What a caller is told when the remote agent, or the way to it, fails: a sentence that helps, and the code for programs.
 * What the peer said goes to the log; only about the caller's own message it is passed on, as it is meant for the caller.
 */
import { A2AError } from '@parley/a2a'
import type { ErrorCode, StateReport, Turn } from '@parley/a2a'
import { outOfBoundsReason } from './way-out.ts'

const sentences: Partial<Readonly<Record<ErrorCode, string>>> = {
  UNAUTHENTICATED: 'The agent does not accept the credentials of this hub. Whoever runs the hub has to renew them.',
  PERMISSION_DENIED: 'The agent does not permit this to the hub.',
  RATE_LIMITED: 'The agent takes no more requests now. Try again later.',
  AGENT_UNAVAILABLE: 'The agent cannot be reached now. Try again later.',
  UNAVAILABLE: 'The agent cannot be reached now. Try again later.',
  CARD_NOT_FOUND: 'The agent cannot be found where it used to be.',
  AGENT_NOT_FOUND: 'The agent cannot be found where it used to be.',
  TIMEOUT: 'The agent did not answer in time.',
  INTERRUPTED: 'The connection to the agent broke and could not be made again.',
  TASK_NOT_FOUND: 'The agent does not know this task any more.',
  VERSION_NOT_SUPPORTED: 'The agent speaks no version of the protocol that this hub speaks.',
  EXTENSION_SUPPORT_REQUIRED: 'The agent requires a protocol extension that this hub does not pass on.',
  INVALID_AGENT_RESPONSE: 'The agent answered with something that is not understood.',
  PAYLOAD_TOO_LARGE: 'This is more than the agent takes, or more than is taken from it.',
  CONTENT_TYPE_NOT_SUPPORTED: 'The agent does not take content of this kind.',
  UNSUPPORTED_OPERATION: 'The agent does not take this message now.',
  INVALID_PARAMS: 'The agent refused the message as invalid.',
}

/** About the message itself: the peer's words are for whoever wrote it. */
const aboutTheMessage: ReadonlySet<ErrorCode> = new Set(['INVALID_PARAMS', 'CONTENT_TYPE_NOT_SUPPORTED'])
const longestQuote = 300

export function failureOf(reason: unknown, turn: Turn): StateReport {
  const error = A2AError.from(reason)
  turn.log.warn('the remote agent failed', { taskId: turn.task.id, code: error.code, cause: reason })
  if (error.details.reason === outOfBoundsReason) return failed(outOfBounds, error.code)
  // Why agents may not call one another any further is for whoever made them do so.
  const { reason: why } = error.details
  if (why?.startsWith('DELEGATION_') === true) return failed(shortened(error.message), why)
  return failed(sentences[error.code] ?? 'The agent failed.', codeFor(error), quoteOf(error))
}

/** A server that cannot serve is, seen from our caller, an agent that is not available: UNAVAILABLE would be this hub. */
function codeFor({ code }: A2AError): ErrorCode {
  return code === 'UNAVAILABLE' ? 'AGENT_UNAVAILABLE' : code
}

const outOfBounds =
  "The agent's card leads to an address that this hub does not go to. Whoever runs the hub can allow it."

/** The message left, and nobody knows whether it arrived: to send it again might do the work twice. */
export function lostOnTheWay(): StateReport {
  const text =
    'The connection broke before the agent confirmed the message. It may be at work on it, or may never have got it.'
  return failed(text, 'INTERRUPTED')
}

export function secretIsGone(): StateReport {
  const text =
    'The hub was restarted before a secret in this message reached the agent, and keeps no secrets. Send it again.'
  return failed(text, 'INTERRUPTED')
}

function failed(text: string, reason: string, quote = ''): StateReport {
  return {
    state: 'TASK_STATE_FAILED',
    message: { parts: [{ text: quote === '' ? text : `${text} It says: ${quote}` }] },
    metadata: { reason },
  }
}

function quoteOf({ code, message }: A2AError): string {
  if (!aboutTheMessage.has(code)) return ''
  return shortened(message)
}

function shortened(text: string): string {
  return text.length > longestQuote ? `${text.slice(0, longestQuote)}…` : text
}
