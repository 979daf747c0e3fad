/**
 * Finds out what became of a message whose response was lost, because the connection broke or this process restarted. If
 * the peer still deduplicates the message, it is sent again (B-163). Other peers are queried and never made to do the work
 * twice.
 */
import { isInterrupted, type A2AError, type Message } from '@parley/a2a'
import { canResend, isLegacyVersion } from '@parley/a2a/internal'
import type { CallOptions, RemoteAgent } from '@parley/a2a/client'
import type { RemoteCheckpoint } from './checkpoint.ts'

export type SendReconciliation =
  /** The message arrived; this is its task. */
  | { readonly taskId: string }
  /** The message must be sent, again or for the first time. */
  | 'send'
  | 'unknown'

export async function reconcileSend(
  remote: RemoteAgent,
  checkpoint: RemoteCheckpoint,
  contextId: string | undefined,
  options: CallOptions,
  now: number,
): Promise<SendReconciliation> {
  // The checkpoint from before the send contains its time.
  const agoMs = now - (checkpoint.span?.startedAt ?? 0)
  if (canResend(remote.card, { messageId: checkpoint.messageId, agoMs })) return 'send'
  if (checkpoint.taskId !== undefined) return reconcileAnswer(remote, checkpoint, checkpoint.taskId, options)
  if (contextId === undefined || isLegacyVersion(remote.interface.version)) return 'unknown'
  const { tasks } = await remote.list({ contextId, historyLength: 100 }, options)
  const found = tasks.find(({ history }) => includesMessage(history, checkpoint))
  return found === undefined ? 'unknown' : { taskId: found.id }
}

/** If the same question is still open and the message is not in the history, the answer did not arrive. */
async function reconcileAnswer(
  remote: RemoteAgent,
  checkpoint: RemoteCheckpoint,
  taskId: string,
  options: CallOptions,
): Promise<SendReconciliation> {
  const { status, history } = await remote.get(taskId, { ...options, historyLength: 100 })
  const { asked } = checkpoint
  const isSameQuestion = asked?.state === status.state && asked.timestamp === status.timestamp
  return isSameQuestion && asked.messageId === status.message?.messageId && !includesMessage(history, checkpoint)
    ? 'send'
    : { taskId }
}

function includesMessage(history: readonly Message[] | undefined, { messageId }: RemoteCheckpoint): boolean {
  return history?.some((message) => message.messageId === messageId) === true
}

/**
 * Whether the task that asked has continued without us or has ended, as a refusal of the answer suggests. Then the turn reports
 * that (B-43, B-156).
 */
export async function hasMovedOn(
  remote: RemoteAgent,
  taskId: string,
  { code }: A2AError,
  options: CallOptions,
): Promise<boolean> {
  if (!/^(UNSUPPORTED_OPERATION|INVALID_PARAMS|INVALID_REQUEST)$/.test(code)) return false
  const task = await remote.get(taskId, options).catch(() => undefined)
  return task !== undefined && !isInterrupted(task.status.state)
}

/** Whether a retry may succeed. Errors that a peer calls internal are often transient. */
export function isTransient(error: A2AError): boolean {
  return error.retryable || error.code === 'INTERNAL'
}

/** The errors with which Node reports that no connection was made. */
const noConnection = /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|E(HOST|NET)UNREACH|UND_ERR_CONNECT/

/** Whether a message may have arrived although sending it failed. */
export function mayHaveArrived(error: A2AError): boolean {
  if (!error.retryable || error.code === 'RATE_LIMITED' || error.code === 'AGENT_UNAVAILABLE') return false
  const { status, retryAfterMs } = error.details
  if (retryAfterMs !== undefined || status === '503') return false
  return !wasNeverSent(error)
}

function wasNeverSent(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if ('code' in error && noConnection.test(String(error.code))) return true
  return noConnection.test(error.message) || wasNeverSent(error.cause)
}
