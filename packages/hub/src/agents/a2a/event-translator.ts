/**
 * Translates events of the remote agent into reports. A peer may omit required fields or send data that is meant for us
 * only. The translator emits what our callers may see, once, and in an order that our log accepts.
 */
import { isDeepStrictEqual } from 'node:util'
import { hasSettled } from '@parley/a2a'
import type {
  AgentMessage,
  Artifact,
  Message,
  Part,
  Report,
  StreamEvent,
  Struct,
  Task,
  TaskArtifactUpdateEvent,
  TaskStatus,
  TaskStatusUpdateEvent,
  Turn,
} from '@parley/a2a'
import { forwardedExtensions, forwardedMetadata } from './hop-by-hop.ts'

export interface EventTranslator {
  /**
   * Returns at most one report per event. The same event always gives the same number of reports, so that counting them
   * tells the position.
   */
  translate(event: StreamEvent, inTask: boolean): Promise<Report | undefined>
  /** The next events repeat the current state of the remote task, including its last message. */
  expectRepeat(): void
  /** The artifacts of the remote task as our log has them, with remote ids. */
  knownArtifacts(): Promise<Pick<Task, 'artifacts'>>
  /** The status of the remote task once it has settled. */
  readonly settledStatus: TaskStatus | undefined
}

/** `round`: see RemoteCheckpoint. Artifacts of a later round have separate ids. */
export function createEventTranslator(turn: Turn, round: number): EventTranslator {
  const roundSuffix = round > 1 ? `~${round}` : ''
  /** Artifacts that this process has started, and whether they are closed. */
  const openArtifacts = new Map<string, boolean>()
  let before: ReadonlySet<string> | undefined
  let rest: TaskStatus | undefined
  let said: readonly Part[] | undefined = turn.resumed?.task.status.message?.parts
  let mayRepeat = false

  return {
    async translate(event, inTask) {
      if ('artifactUpdate' in event) return artifactReport(event.artifactUpdate)
      if ('statusUpdate' in event) return statusReport(event.statusUpdate)
      const message = 'message' in event ? messageOf(event.message) : undefined
      if (message === undefined) return undefined
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
    if (isRepeated || (message === undefined && metadata === undefined)) return undefined
    return { state: 'TASK_STATE_WORKING', ...about }
  }

  function remoteArtifactId(artifactId: string): string | undefined {
    if (roundSuffix === '') return artifactId
    return artifactId.endsWith(roundSuffix) ? artifactId.slice(0, -roundSuffix.length) : undefined
  }
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
