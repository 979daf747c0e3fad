/**
 * The error that a caller receives when the remote agent or the connection to it fails: a helpful sentence and a code for
 * programs. The peer's own message goes to the log. It is forwarded only if it is about the caller's message.
 */
import { A2AError, type ErrorCode, type Turn } from '@parley/a2a'
import type { StateReport } from '@parley/a2a/internal'
import { egressBlockedReason } from './upstream.ts'

const sentences: Partial<Readonly<Record<ErrorCode, string>>> = {
  UNAUTHENTICATED: 'The agent does not accept the credentials of this hub. The hub operator must renew them.',
  PERMISSION_DENIED: 'The agent denies this operation to the hub.',
  RATE_LIMITED: 'The agent accepts no more requests now. Try again later.',
  AGENT_UNAVAILABLE: 'The agent cannot be reached now. Try again later.',
  UNAVAILABLE: 'The agent cannot be reached now. Try again later.',
  CARD_NOT_FOUND: 'The agent no longer exists at its URL.',
  AGENT_NOT_FOUND: 'The agent no longer exists at its URL.',
  TIMEOUT: 'The agent did not answer in time.',
  INTERRUPTED: 'The connection to the agent broke and could not be restored.',
  TASK_NOT_FOUND: 'The agent no longer has this task.',
  VERSION_NOT_SUPPORTED: 'The agent and this hub share no protocol version.',
  EXTENSION_SUPPORT_REQUIRED: 'The agent requires a protocol extension that this hub does not forward.',
  INVALID_AGENT_RESPONSE: 'The agent returned an invalid response.',
  PAYLOAD_TOO_LARGE: 'The request or the response exceeds a size limit.',
  CONTENT_TYPE_NOT_SUPPORTED: 'The agent does not accept this content type.',
  UNSUPPORTED_OPERATION: 'The agent does not accept this message now.',
  INVALID_PARAMS: 'The agent refused the message as invalid.',
}

/** Errors about the message itself; the peer's text is meant for its author. */
const messageErrorCodes: ReadonlySet<ErrorCode> = new Set(['INVALID_PARAMS', 'CONTENT_TYPE_NOT_SUPPORTED'])
const longestQuote = 300

export function remoteFailure(reason: unknown, turn: Turn): StateReport {
  const error = A2AError.from(reason)
  turn.log.warn('the remote agent failed', { taskId: turn.task.id, code: error.code, cause: reason })
  if (error.details.reason === egressBlockedReason)
    return { ...failed(egressBlockedMessage, error.code), cause: reason }
  // Why a delegation was refused is meant for the caller who started the chain.
  const { reason: why } = error.details
  if (why?.startsWith('DELEGATION_') === true) return failed(shortened(error.message), why)
  return { ...failed(sentences[error.code] ?? 'The agent failed.', codeFor(error), quoteOf(error)), cause: reason }
}

/** To our caller, a remote server that cannot serve is an unavailable agent. UNAVAILABLE would mean this hub. */
function codeFor({ code }: A2AError): ErrorCode {
  return code === 'UNAVAILABLE' ? 'AGENT_UNAVAILABLE' : code
}

const egressBlockedMessage = "Blocked: the agent's card names a disallowed address. The hub operator can allow it."

/** The message was sent, and it is unknown whether it arrived. Sending it again might do the work twice. */
export function deliveryUnknown(): StateReport {
  const text = 'The connection broke before the agent confirmed the message. The agent may or may not be working on it.'
  return failed(text, 'INTERRUPTED')
}

export function secretLost(): StateReport {
  const text =
    'The hub restarted before a secret in this message reached the agent. Secrets are not stored: send it again.'
  return failed(text, 'INTERRUPTED')
}

function failed(text: string, reason: string, quote = ''): StateReport {
  return {
    state: 'TASK_STATE_FAILED',
    message: { parts: [{ text: quote === '' ? text : `${text} The agent reported: ${quote}` }] },
    metadata: { reason },
  }
}

function quoteOf({ code, message }: A2AError): string {
  if (!messageErrorCodes.has(code)) return ''
  return shortened(message)
}

function shortened(text: string): string {
  return text.length > longestQuote ? `${text.slice(0, longestQuote)}…` : text
}
