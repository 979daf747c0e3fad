/** A turn's message as the remote agent gets it: what the caller said, under ids of the line between the two of us. */
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
}

export function outgoing(turn: Turn, card: AgentCard, entry: A2AEntry, to: Addressed): Outgoing {
  const { place, contextId, referenceTaskIds, push } = to
  const extensions = extensionsFor(card, turn, entry.extensions)
  const used = (turn.message.extensions ?? []).filter((uri) => extensions.includes(uri))
  const metadata = metadataOnward(turn.message.metadata)
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
      ...callOptions(turn, card, entry),
      ...(turn.acceptedOutputModes.length > 0 ? { acceptedOutputModes: turn.acceptedOutputModes } : {}),
      ...(request !== undefined && Object.keys(request).length > 0 ? { metadata: request } : {}),
      ...(push !== undefined ? { push } : {}),
    },
  }
}

/** What goes with every call of a turn. */
export function callOptions(turn: Turn, card: AgentCard, entry: A2AEntry): CallOptions {
  const extensions = extensionsFor(card, turn, entry.extensions)
  return { ...onBehalfOf(turn.caller, entry), ...(extensions.length > 0 ? { extensions } : {}) }
}

export function onBehalfOf({ id }: Pick<Caller, 'id'>, { forwardCaller }: A2AEntry): CallOptions {
  if (forwardCaller === undefined) return {}
  // It was made by whoever issued it, and may hold what a header cannot.
  return { headers: { [forwardCaller]: id.replaceAll(/[^\x20-\x7e]+/gu, encodeURIComponent) } }
}
