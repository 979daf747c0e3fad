/**
 * What became of a message whose answer never came: because the connection broke, or because we were restarted. A peer
 * that recognises it still can simply be sent it again (B-163); others are asked, and never made to do the work twice.
 */
import { cursorExtension, mayResend } from '@parley/a2a'
import type { A2AError, AgentCard, Message } from '@parley/a2a'
import type { CallOptions, RemoteAgent } from '@parley/a2a/client'
import type { Place } from './place.ts'

export type Whereabouts =
  /** Arrived, and this is the task. */
  | { readonly taskId: string }
  /** To be sent, again or for the first time. */
  | 'send'
  | 'unknown'

/** Whether it numbers events as we do, and goes on after one. */
export function isOurs({ capabilities }: AgentCard): boolean {
  return capabilities.extensions?.some(({ uri }) => uri === cursorExtension) ?? false
}

export async function whereabouts(
  remote: RemoteAgent,
  place: Place,
  contextId: string | undefined,
  options: CallOptions,
  now: number,
): Promise<Whereabouts> {
  // What was kept before anything was sent says when that was.
  const agoMs = now - (place.span?.startedAt ?? 0)
  if (mayResend(remote.card, { messageId: place.messageId, agoMs })) return 'send'
  if (place.taskId !== undefined) return ofAnAnswer(remote, place, place.taskId, options)
  if (contextId === undefined || remote.interface.version !== '1.0') return 'unknown'
  const { tasks } = await remote.list({ contextId, historyLength: 100 }, options)
  const found = tasks.find(({ history }) => holds(history, place))
  return found === undefined ? 'unknown' : { taskId: found.id }
}

/** As long as the same question stands, and the message does not, nobody has got the answer to it. */
async function ofAnAnswer(
  remote: RemoteAgent,
  place: Place,
  taskId: string,
  options: CallOptions,
): Promise<Whereabouts> {
  const { status, history } = await remote.get(taskId, { ...options, historyLength: 100 })
  const { asked } = place
  const stands = asked?.state === status.state && asked.timestamp === status.timestamp
  return stands && asked.messageId === status.message?.messageId && !holds(history, place) ? 'send' : { taskId }
}

function holds(history: readonly Message[] | undefined, { messageId }: Place): boolean {
  return history?.some((message) => message.messageId === messageId) === true
}

/** As Node says that there was no connection at all. */
const noConnection = /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|E(HOST|NET)UNREACH|UND_ERR_CONNECT/

/** Whether a message may have arrived although sending it failed. */
export function mayHaveArrived(error: A2AError): boolean {
  if (!error.retryable || error.code === 'RATE_LIMITED' || error.code === 'AGENT_UNAVAILABLE') return false
  const { status, retryAfterMs } = error.details
  if (retryAfterMs !== undefined || status === '503') return false
  return !neverLeft(error)
}

function neverLeft(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if ('code' in error && noConnection.test(String(error.code))) return true
  return noConnection.test(error.message) || neverLeft(error.cause)
}
