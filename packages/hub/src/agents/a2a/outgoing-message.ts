/** Builds the message for the remote agent: the content of the caller's message, under ids of this connection. */
import { delegationExtension, omitUndefined } from '@parley/a2a'
import type { AgentCard, Caller, Message, Turn } from '@parley/a2a'
import type { CallOptions, MessageInput, SendOptions } from '@parley/a2a/client'
import type { A2AEntry } from './entry.ts'
import { requestedExtensions, forwardedMetadata } from './hop-by-hop.ts'
import type { RequestedPushConfig } from './push-receiver.ts'
import type { RemoteCheckpoint } from './checkpoint.ts'

export interface OutgoingMessage {
  readonly message: MessageInput
  readonly options: SendOptions
}

export interface OutgoingMessageOptions {
  readonly checkpoint: RemoteCheckpoint
  /** Omitted if the remote agent chooses it, or if the task implies it. */
  readonly contextId: string | undefined
  readonly referenceTaskIds: readonly string[]
  readonly push: RequestedPushConfig | undefined
  /** Names the subject of the call, for a hub that trusts this one. */
  readonly hopToken: string | undefined
  readonly traceparent: string
}

export function createOutgoingMessage(
  turn: Turn,
  card: AgentCard,
  entry: A2AEntry,
  to: OutgoingMessageOptions,
): OutgoingMessage {
  const { checkpoint, contextId, push, hopToken, traceparent } = to
  const extensions = requestedExtensions(card, turn, entry.extensions)
  const usedExtensions = (turn.message.extensions ?? []).filter((uri) => extensions.includes(uri))
  const forwarded = forwardedMetadata(turn.message.metadata)
  const metadata = hopToken === undefined ? forwarded : { ...forwarded, [delegationExtension]: { hop: hopToken } }
  // A hub that trusts this one identifies the parent task by its id.
  const referenceTaskIds = [...to.referenceTaskIds, ...(hopToken === undefined ? [] : [turn.task.id])]
  const message: Pick<Message, 'parts'> & Partial<Message> = {
    messageId: checkpoint.messageId,
    parts: turn.message.parts,
    ...(checkpoint.taskId !== undefined ? { taskId: checkpoint.taskId } : contextId !== undefined ? { contextId } : {}),
    ...omitUndefined({ metadata }),
    ...(usedExtensions.length > 0 ? { extensions: usedExtensions } : {}),
    ...(referenceTaskIds.length > 0 ? { referenceTaskIds } : {}),
  }
  const request = forwardedMetadata(turn.metadata)
  return {
    message,
    options: {
      ...callOptions(turn, card, entry, traceparent, hopToken === undefined ? [] : [delegationExtension]),
      ...(turn.acceptedOutputModes.length > 0 ? { acceptedOutputModes: turn.acceptedOutputModes } : {}),
      ...(request !== undefined && Object.keys(request).length > 0 ? { metadata: request } : {}),
      ...omitUndefined({ push }),
    },
  }
}

/** Options of every remote call of a turn. */
export function callOptions(
  turn: Turn,
  card: AgentCard,
  entry: A2AEntry,
  traceparent: string,
  ownExtensions: readonly string[] = [],
): CallOptions {
  const extensions = [...requestedExtensions(card, turn, entry.extensions), ...ownExtensions]
  const { headers } = callerHeaders(turn.caller, entry)
  const { tracestate } = turn
  return {
    headers: { ...headers, traceparent, ...omitUndefined({ tracestate }) },
    ...(extensions.length > 0 ? { extensions } : {}),
  }
}

export function callerHeaders({ id }: Pick<Caller, 'id'>, { forwardCaller }: A2AEntry): CallOptions {
  if (forwardCaller === undefined) return {}
  // The issuer of the identity chose the id, so it may contain characters that a header cannot.
  return { headers: { [forwardCaller]: id.replaceAll(/[^\x20-\x7e]+/gu, encodeURIComponent) } }
}
