/**
 * What may be retried, and when. A read is retried whenever a response might come. An operation that changes something is
 * repeated only if the peer certainly did nothing: it said so (429, 503), or no connection was made. An unavailable agent
 * (AGENT_UNAVAILABLE) is left to the caller, unless the peer says when to retry. A message whose response got lost is sent
 * again only to a peer whose card says that it recognizes repeats, as ours do, and only within its idempotency window (B-163,
 * B-164): other peers would do the work twice. Such an error has its messageId in `details`, for a caller that knows more.
 */
import type { AgentCard } from '../model/card.ts'
import { backoffMs } from '../model/backoff.ts'
import { A2AError } from '../model/error.ts'
import { canResend, type SentMessage } from '../model/idempotency.ts'
import type { Operation } from '../model/operation.ts'
import type { ClientLimits } from './contract.ts'

/** `sent`: the message of a send, with its age when it would be sent again. */
export function canRetry(error: unknown, operation: Operation, card: AgentCard, sent?: SentMessage): boolean {
  if (!(error instanceof A2AError) || !error.retryable) return false
  if (isReadOperation(operation) || hasNoEffect(error)) return true
  if (error.code === 'AGENT_UNAVAILABLE') return false
  return isSendOperation(operation) && error.code !== 'TIMEOUT' && sent !== undefined && canResend(card, sent)
}

export const isSendOperation = (operation: Operation): boolean => operation.startsWith('Send')
export const isReadOperation = (operation: Operation): boolean => /^(Get|List|Sub)/.test(operation)

function hasNoEffect(error: A2AError): boolean {
  const { reason, retryAfterMs, status } = error.details
  if (reason === 'NETWORK') return isConnectFailure(error)
  // A gateway's 502 and 504 leave open what happened behind it, unless it says when to retry.
  if (retryAfterMs !== undefined) return true
  return error.code === 'RATE_LIMITED' || (error.code === 'UNAVAILABLE' && (status ?? '503') === '503')
}

/** Messages of Node, Bun, Deno and @grpc/grpc-js for a failed connection. Browsers do not reveal it. */
const connectFailurePattern =
  /No connection established|Name resolution failed|ECONNREFUSED|ENOTFOUND|EAI_AGAIN|E(HOST|NET)UNREACH|UND_ERR_CONNECT|ConnectionRefused|FailedToOpenSocket|\(Connect\)/

/** Whether the request failed before a byte of it was sent. */
export function isConnectFailure(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if ('code' in error && connectFailurePattern.test(String(error.code))) return true
  return connectFailurePattern.test(error.message) || isConnectFailure(error.cause)
}

/** Never sooner than the peer asks. `undefined`: the wait would be too long, give up. */
export function backoffDelayMs(
  attempt: number,
  error: A2AError,
  { firstDelayMs, maxDelayMs }: ClientLimits,
): number | undefined {
  const asked = Number(error.details['retryAfterMs'] ?? 0)
  if (asked > maxDelayMs) return undefined
  return asked + backoffMs(attempt, firstDelayMs, maxDelayMs - asked)
}
