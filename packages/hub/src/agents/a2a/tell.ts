/**
 * The remote agent's events as reports of ours. A peer may leave out what the protocol wants, and says some things to us
 * only: what is told here is what our own callers may be told, once, and in an order that our log takes.
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
import { extensionsOnward, metadataOnward } from './hop.ts'

export interface Teller {
  /** Each event makes at most one report, and the same event one or none whenever: who counts them knows their place. */
  tell(event: StreamEvent, inTask: boolean): Promise<Report | undefined>
  /** From here on the other side shows how things stand, and with it what it said last. */
  rejoin(): void
  /** The remote task as our own log has it, in their terms. */
  known(): Promise<Pick<Task, 'artifacts'>>
  /** How the remote task stands, once it is at rest. */
  readonly rest: TaskStatus | undefined
}

/** `round`: see Place. Its artifacts are kept apart from those of the rounds before. */
export function createTeller(turn: Turn, round: number): Teller {
  const mark = round > 1 ? `~${round}` : ''
  /** Artifacts begun in this process, and whether they are closed. */
  const begun = new Map<string, boolean>()
  let before: ReadonlySet<string> | undefined
  let rest: TaskStatus | undefined
  let said: readonly Part[] | undefined = turn.resumed?.task.status.message?.parts
  let mayRepeat = false

  return {
    async tell(event, inTask) {
      if ('artifactUpdate' in event) return chunk(event.artifactUpdate)
      if ('statusUpdate' in event) return status(event.statusUpdate)
      const message = 'message' in event ? messageOf(event.message) : undefined
      if (message === undefined) return undefined
      // Without a task it is the answer; inside of one it is only said on the way.
      return inTask ? { state: 'TASK_STATE_WORKING', message } : { reply: message }
    },
    rejoin() {
      mayRepeat = true
    },
    async known() {
      const artifacts = (await turn.artifacts()).flatMap((artifact) => {
        const artifactId = theirs(artifact.artifactId)
        return artifactId === undefined ? [] : [{ ...artifact, artifactId }]
      })
      return { artifacts }
    },
    get rest() {
      return rest
    },
  }

  async function chunk(update: TaskArtifactUpdateEvent): Promise<Report> {
    const artifactId = update.artifact.artifactId + mark
    const metadata = metadataOnward(update.metadata)
    const artifact = artifactOf({ ...update.artifact, artifactId })
    const last = update.lastChunk === true
    const isClosed = begun.get(artifactId)
    const appends = update.append === true && (isClosed !== undefined || (await isOfBefore(artifactId)))
    begun.set(artifactId, last)
    const about = { ...(last ? { lastChunk: true } : {}), ...(metadata !== undefined ? { metadata } : {}) }
    if (!appends) return { artifact, ...about }
    // Said to be complete, and yet it goes on: it is begun anew with all there is (B-100).
    if (isClosed === true) return { artifact: await continued(artifact), ...about }
    return { artifact, append: true, ...about }
  }

  async function isOfBefore(artifactId: string): Promise<boolean> {
    before ??= new Set((await turn.artifacts()).map((artifact) => artifact.artifactId))
    return before.has(artifactId)
  }

  async function continued(artifact: Artifact): Promise<Artifact> {
    const known = (await turn.artifacts()).find(({ artifactId }) => artifactId === artifact.artifactId)
    return { ...known, ...artifact, parts: [...(known?.parts ?? []), ...artifact.parts] }
  }

  function status(update: TaskStatusUpdateEvent): Report | undefined {
    const { state } = update.status
    const metadata = metadataOnward(update.metadata)
    const message = messageOf(update.status.message)
    const about = { ...(message !== undefined ? { message } : {}), ...(metadata !== undefined ? { metadata } : {}) }
    if (hasSettled(state)) {
      rest = update.status
      return { state, ...about }
    }
    rest = undefined
    // At work it is already, with us; and what a state means that we do not know nobody can say (B-174).
    const isRepeated = mayRepeat && isDeepStrictEqual(message?.parts, said)
    mayRepeat = false
    said = message?.parts
    if (isRepeated || (message === undefined && metadata === undefined)) return undefined
    return { state: 'TASK_STATE_WORKING', ...about }
  }

  function theirs(artifactId: string): string | undefined {
    if (mark === '') return artifactId
    return artifactId.endsWith(mark) ? artifactId.slice(0, -mark.length) : undefined
  }
}

function artifactOf(artifact: Artifact): Artifact {
  const { metadata: said, extensions: used, parts, ...rest } = artifact
  const metadata = metadataOnward(said)
  const extensions = extensionsOnward(used)
  return {
    ...rest,
    parts: partsOf(parts),
    ...(metadata !== undefined ? { metadata } : {}),
    ...(extensions.length > 0 ? { extensions } : {}),
  }
}

/** Nothing of it but what was said: ids are of their house, and ours has its own. */
function messageOf(message: Message | undefined): AgentMessage | undefined {
  if (message === undefined || message.parts.length === 0) return undefined
  const metadata: Struct | undefined = metadataOnward(message.metadata)
  const extensions = extensionsOnward(message.extensions)
  return {
    parts: message.parts,
    ...(metadata !== undefined ? { metadata } : {}),
    ...(extensions.length > 0 ? { extensions } : {}),
  }
}

/** A chunk that only closes an artifact may have none; ours has at least an empty text. */
function partsOf(parts: readonly Part[]): readonly Part[] {
  return parts.length > 0 ? parts : [{ text: '' }]
}
