/**
 * What may be tried again, and when. A question is asked again whenever an answer might come. Whatever changes something
 * is repeated only if the peer certainly did nothing: it said so (429, 503), or no connection came about. An agent that is
 * down (AGENT_UNAVAILABLE) is a matter for the caller, unless the peer says when to come back. A message
 * whose answer got lost is sent again only to a peer whose card says that it recognises repeats, as ours do, and only as
 * long as it does (B-163, B-164): others would do the work twice. Such an error has its messageId in `details`, for a caller that knows better.
 */
import type { AgentCard } from '../model/card.ts'
import { A2AError } from '../model/error.ts'
import { mayResend, type SentMessage } from '../model/idempotency.ts'
import type { Operation } from '../model/operation.ts'
import type { ClientLimits } from './contract.ts'

/** `sent`: the message of a send, with its age when it would be sent again. */
export function mayRepeat(error: unknown, operation: Operation, card: AgentCard, sent?: SentMessage): boolean {
  if (!(error instanceof A2AError) || !error.retryable) return false
  if (isRead(operation) || didNothing(error)) return true
  if (error.code === 'AGENT_UNAVAILABLE') return false
  return isSend(operation) && error.code !== 'TIMEOUT' && sent !== undefined && mayResend(card, sent)
}

export const isSend = (operation: Operation): boolean => operation.startsWith('Send')
export const isRead = (operation: Operation): boolean => /^(Get|List|Sub)/.test(operation)

function didNothing(error: A2AError): boolean {
  const { reason, retryAfterMs, status } = error.details
  if (reason === 'NETWORK') return neverSent(error)
  // A gateway's 502 and 504 leave open what happened behind it, unless it invites to come back.
  if (retryAfterMs !== undefined) return true
  return error.code === 'RATE_LIMITED' || (error.code === 'UNAVAILABLE' && (status ?? '503') === '503')
}

/** As Node, Bun and Deno say that there was no connection. Browsers do not say. */
const noConnection =
  /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|E(HOST|NET)UNREACH|UND_ERR_CONNECT|ConnectionRefused|FailedToOpenSocket|\(Connect\)/

/** Whether the request failed before a byte of it went out. */
export function neverSent(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if ('code' in error && noConnection.test(String(error.code))) return true
  return noConnection.test(error.message) || neverSent(error.cause)
}

/** Full jitter, and never sooner than the peer asks. `undefined`: do not wait that long, give up. */
export function retryDelay(
  attempt: number,
  error: A2AError,
  { firstDelayMs, maxDelayMs }: ClientLimits,
  random: () => number = Math.random,
): number | undefined {
  const asked = Number(error.details['retryAfterMs'] ?? 0)
  if (asked > maxDelayMs) return undefined
  return asked + random() * Math.min(maxDelayMs - asked, firstDelayMs * 2 ** (attempt - 1))
}
