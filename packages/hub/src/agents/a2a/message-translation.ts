/**
 * Translates between our callers and the remote agent. A message goes out with the content of the caller's message, under
 * ids of this connection. Events come back as reports: a peer may omit required fields or send data that is meant for us
 * only, so the translator emits what our callers may see, once, and in an order that our log accepts.
 */
import { isDeepStrictEqual } from 'node:util'
import {
  cursorExtension,
  timestampsExtension,
  type AgentCard,
  type AgentMessage,
  type Artifact,
  type Caller,
  type Message,
  type Part,
  type Report,
  type StreamEvent,
  type Struct,
  type Task,
  type TaskArtifactUpdateEvent,
  type TaskStatus,
  type TaskStatusUpdateEvent,
  type Turn,
} from '@parley/a2a'
import { delegationExtension, hasSettled, traceExtension } from '@parley/a2a/internal'
import type { CallOptions, MessageInput, SendOptions } from '@parley/a2a/client'
import type { RemoteCheckpoint } from './checkpoint.ts'
import type { A2AEntry } from './entry.ts'
import type { RequestedPushConfig } from './push-receiver.ts'

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
): { readonly message: MessageInput; readonly options: SendOptions } {
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
    ...(metadata !== undefined ? { metadata } : {}),
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
      ...(push !== undefined ? { push } : {}),
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
    headers: { ...headers, traceparent, ...(tracestate !== undefined ? { tracestate } : {}) },
    ...(extensions.length > 0 ? { extensions } : {}),
  }
}

export function callerHeaders({ id }: Pick<Caller, 'id'>, { forwardCaller }: A2AEntry): CallOptions {
  if (forwardCaller === undefined) return {}
  // The issuer of the identity chose the id, so it may contain characters that a header cannot.
  return { headers: { [forwardCaller]: id.replaceAll(/[^\x20-\x7e]+/gu, encodeURIComponent) } }
}

export interface EventTranslator {
  /**
   * Returns at most one report per event. The same event always gives the same number of reports, so that their
   * count is the position.
   */
  translate(event: StreamEvent, inTask: boolean): Promise<Report | undefined>
  /** The next events repeat the current state of the remote task, including its last message. */
  expectRepeat(): void
  /** The artifacts of the remote task as our log has them, with remote ids. */
  knownArtifacts(): Promise<Pick<Task, 'artifacts'>>
  /** The status of the remote task once it has settled. */
  readonly settledStatus: TaskStatus | undefined
  /** The last text of the agent in this turn that was a status message, unless the turn has an artifact. */
  readonly lastStatusText: string | undefined
}

/** `round`: see RemoteCheckpoint. Artifacts of a later round have separate ids. */
export function createEventTranslator(turn: Turn, round: number): EventTranslator {
  const roundSuffix = round > 1 ? `~${round}` : ''
  /** Artifacts that this process has started, and whether they are closed. */
  const openArtifacts = new Map<string, boolean>()
  let before: ReadonlySet<string> | undefined
  let rest: TaskStatus | undefined
  let said: readonly Part[] | undefined = turn.resumed?.task.status.message?.parts
  let lastText = textIn(said)
  let mayRepeat = false

  return {
    async translate(event, inTask) {
      if ('artifactUpdate' in event) return artifactReport(event.artifactUpdate)
      if ('statusUpdate' in event) return statusReport(event.statusUpdate)
      const message = 'message' in event ? messageOf(event.message) : undefined
      if (message === undefined) return undefined
      lastText = textIn(message.parts) ?? lastText
      // Without a task the message is the response; within a task it is a status message.
      return inTask ? { state: 'TASK_STATE_WORKING', message } : { reply: message }
    },
    expectRepeat() {
      mayRepeat = true
    },
    async knownArtifacts() {
      const artifacts = (await turn.artifacts()).flatMap((artifact) => {
        const artifactId = remoteArtifactId(artifact.artifactId)
        return artifactId === undefined ? [] : [{ ...artifact, artifactId }]
      })
      return { artifacts }
    },
    get settledStatus() {
      return rest
    },
    get lastStatusText() {
      return openArtifacts.size === 0 ? lastText : undefined
    },
  }

  async function artifactReport(update: TaskArtifactUpdateEvent): Promise<Report> {
    const artifactId = update.artifact.artifactId + roundSuffix
    const metadata = forwardedMetadata(update.metadata)
    const artifact = artifactOf({ ...update.artifact, artifactId })
    const last = update.lastChunk === true
    const isClosed = openArtifacts.get(artifactId)
    const appends = update.append === true && (isClosed !== undefined || (await isFromEarlierRun(artifactId)))
    openArtifacts.set(artifactId, last)
    const about = { ...(last ? { lastChunk: true } : {}), ...(metadata !== undefined ? { metadata } : {}) }
    if (!appends) return { artifact, ...about }
    // The artifact was closed and yet continues: it is replaced by one with all its parts (B-100).
    if (isClosed === true) return { artifact: await reopenedArtifact(artifact), ...about }
    return { artifact, append: true, ...about }
  }

  async function isFromEarlierRun(artifactId: string): Promise<boolean> {
    before ??= new Set((await turn.artifacts()).map((artifact) => artifact.artifactId))
    return before.has(artifactId)
  }

  async function reopenedArtifact(artifact: Artifact): Promise<Artifact> {
    const known = (await turn.artifacts()).find(({ artifactId }) => artifactId === artifact.artifactId)
    return { ...known, ...artifact, parts: [...(known?.parts ?? []), ...artifact.parts] }
  }

  function statusReport(update: TaskStatusUpdateEvent): Report | undefined {
    const { state } = update.status
    const metadata = forwardedMetadata(update.metadata)
    const message = messageOf(update.status.message)
    const about = { ...(message !== undefined ? { message } : {}), ...(metadata !== undefined ? { metadata } : {}) }
    if (hasSettled(state)) {
      rest = update.status
      return { state, ...about }
    }
    rest = undefined
    // The task is already working, and the meaning of an unknown state is undefined (B-174).
    const isRepeated = mayRepeat && isDeepStrictEqual(message?.parts, said)
    mayRepeat = false
    said = message?.parts
    // Some peers show the message of the caller as that of the first status.
    if (update.status.message?.role !== 'ROLE_USER') lastText = textIn(said) ?? lastText
    if (isRepeated || (message === undefined && metadata === undefined)) return undefined
    return { state: 'TASK_STATE_WORKING', ...about }
  }

  function remoteArtifactId(artifactId: string): string | undefined {
    if (roundSuffix === '') return artifactId
    return artifactId.endsWith(roundSuffix) ? artifactId.slice(0, -roundSuffix.length) : undefined
  }
}

function textIn(parts: readonly Part[] = []): string | undefined {
  const texts = parts.flatMap((part) => ('text' in part ? [part.text] : []))
  return texts.join('') === '' ? undefined : texts.join('')
}

function artifactOf(artifact: Artifact): Artifact {
  const { metadata: said, extensions: used, parts, ...rest } = artifact
  const metadata = forwardedMetadata(said)
  const extensions = forwardedExtensions(used)
  return {
    ...rest,
    parts: partsOf(parts),
    ...(metadata !== undefined ? { metadata } : {}),
    ...(extensions.length > 0 ? { extensions } : {}),
  }
}

/** Only the content: remote ids are not valid here. */
function messageOf(message: Message | undefined): AgentMessage | undefined {
  if (message === undefined || message.parts.length === 0) return undefined
  const metadata: Struct | undefined = forwardedMetadata(message.metadata)
  const extensions = forwardedExtensions(message.extensions)
  return {
    parts: message.parts,
    ...(metadata !== undefined ? { metadata } : {}),
    ...(extensions.length > 0 ? { extensions } : {}),
  }
}

/** A chunk that only closes an artifact may have no parts; ours needs at least an empty text. */
function partsOf(parts: readonly Part[]): readonly Part[] {
  return parts.length > 0 ? parts : [{ text: '' }]
}

/** What applies to one hop only: extensions about the connection between two peers mean nothing to the next one. */
const hopByHopExtensions: ReadonlySet<string> = new Set([
  cursorExtension,
  delegationExtension,
  timestampsExtension,
  traceExtension,
])

/** Removes what a peer says about its own log, traces and child tasks. Returns undefined if nothing is left. */
export function forwardedMetadata(metadata: Struct | undefined): Struct | undefined {
  if (metadata === undefined) return undefined
  // The trace extension repeats its ids next to its own entry.
  const mirrored = traceExtension in metadata ? ['traceId', 'spanId'] : []
  const kept = Object.entries(metadata).filter(([key]) => !hopByHopExtensions.has(key) && !mirrored.includes(key))
  return kept.length === 0 ? undefined : Object.fromEntries(kept)
}

/** The extensions of a message or an artifact that still apply for the next reader. */
export function forwardedExtensions(uris: readonly string[] | undefined): readonly string[] {
  return (uris ?? []).filter((uri) => !hopByHopExtensions.has(uri))
}

/**
 * The extensions to request from the remote agent: those that the caller uses and the agent supports, and those that the
 * agent requires if the configuration allows passing them through (B-142, B-144).
 */
export function requestedExtensions(
  card: AgentCard,
  { extensions, message }: Pick<Turn, 'extensions'> & { readonly message: Pick<Message, 'extensions'> },
  passThrough: readonly string[],
): readonly string[] {
  const wanted = new Set(forwardedExtensions([...extensions, ...(message.extensions ?? [])]))
  const declared = card.capabilities.extensions ?? []
  return declared
    .filter(({ uri, required }) => wanted.has(uri) || (required === true && passThrough.includes(uri)))
    .map(({ uri }) => uri)
    .filter((uri) => !hopByHopExtensions.has(uri))
}
