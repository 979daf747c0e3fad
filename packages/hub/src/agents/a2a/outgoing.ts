/** A turn's message as the remote agent gets it: what the caller said, under ids of the line between the two of us. */
import { delegationExtension } from '@parley/a2a'
import type { AgentCard, Caller, Message, Turn } from '@parley/a2a'
import type { CallOptions, Saying, SendOptions } from '@parley/a2a/client'
import type { A2AEntry } from './entry.ts'
import { extensionsFor, metadataOnward } from './hop.ts'
import type { HookConfig } from './hooks.ts'
import type { Place } from './place.ts'

export interface Outgoing {
  readonly saying: Saying
  readonly options: SendOptions
}

/** What is decided elsewhere. */
export interface Addressed {
  readonly place: Place
  /** Left out where they choose it, and where the task says it. */
  readonly contextId: string | undefined
  readonly referenceTaskIds: readonly string[]
  readonly push: HookConfig | undefined
  /** On whose behalf we call, for a hub that believes us. */
  readonly hop: string | undefined
  readonly traceparent: string
}

export function outgoing(turn: Turn, card: AgentCard, entry: A2AEntry, to: Addressed): Outgoing {
  const { place, contextId, push, hop, traceparent } = to
  const extensions = extensionsFor(card, turn, entry.extensions)
  const used = (turn.message.extensions ?? []).filter((uri) => extensions.includes(uri))
  const said = metadataOnward(turn.message.metadata)
  const metadata = hop === undefined ? said : { ...said, [delegationExtension]: { hop } }
  // Whoever believes us knows the task that this is for by its id.
  const referenceTaskIds = [...to.referenceTaskIds, ...(hop === undefined ? [] : [turn.task.id])]
  const message: Pick<Message, 'parts'> & Partial<Message> = {
    messageId: place.messageId,
    parts: turn.message.parts,
    ...(place.taskId !== undefined ? { taskId: place.taskId } : contextId !== undefined ? { contextId } : {}),
    ...(metadata !== undefined ? { metadata } : {}),
    ...(used.length > 0 ? { extensions: used } : {}),
    ...(referenceTaskIds.length > 0 ? { referenceTaskIds } : {}),
  }
  const request = metadataOnward(turn.metadata)
  return {
    saying: message,
    options: {
      ...callOptions(turn, card, entry, traceparent, hop === undefined ? [] : [delegationExtension]),
      ...(turn.acceptedOutputModes.length > 0 ? { acceptedOutputModes: turn.acceptedOutputModes } : {}),
      ...(request !== undefined && Object.keys(request).length > 0 ? { metadata: request } : {}),
      ...(push !== undefined ? { push } : {}),
    },
  }
}

/** What goes with every call of a turn. */
export function callOptions(
  turn: Turn,
  card: AgentCard,
  entry: A2AEntry,
  traceparent: string,
  ours: readonly string[] = [],
): CallOptions {
  const extensions = [...extensionsFor(card, turn, entry.extensions), ...ours]
  const { headers } = onBehalfOf(turn.caller, entry)
  const { tracestate } = turn
  return {
    headers: { ...headers, traceparent, ...(tracestate !== undefined ? { tracestate } : {}) },
    ...(extensions.length > 0 ? { extensions } : {}),
  }
}

export function onBehalfOf({ id }: Pick<Caller, 'id'>, { forwardCaller }: A2AEntry): CallOptions {
  if (forwardCaller === undefined) return {}
  // It was made by whoever issued it, and may hold what a header cannot.
  return { headers: { [forwardCaller]: id.replaceAll(/[^\x20-\x7e]+/gu, encodeURIComponent) } }
}
