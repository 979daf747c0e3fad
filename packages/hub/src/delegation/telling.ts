/**
 * What a task says of work that it handed on: the child's words under its id (S2-12), and its artifacts as they come. After a
 * restart, and in a later turn, the child is shown as it stands; what of that the parent's log has already is not said again.
 */
import { isDeepStrictEqual } from 'node:util'
import { delegationExtension as uri } from '@parley/a2a'
import type {
  AgentMessage,
  Artifact,
  Message,
  Part,
  Report,
  StateReport,
  StreamEvent,
  Struct,
  TaskArtifactUpdateEvent,
  TaskState,
  Turn,
} from '@parley/a2a'
import type { HopEnd } from './hop.ts'

export interface TellingParts {
  readonly turn: Turn
  readonly agent: string
  /** The child takes the place of the parent. */
  readonly isInstead?: boolean
  /** The child's artifact by the name that it has with the parent: no other artifact has it. */
  named(artifactId: string): string
  /** Whether the parent's log may hold something of the child. */
  readonly isKnown: boolean
}

export interface Telling {
  reports(event: StreamEvent): Promise<readonly Report[]>
}

export function createTelling({ turn, agent, isInstead = false, named, isKnown }: TellingParts): Telling {
  /** The child's artifacts that were begun, here or before. */
  const begun = new Set<string>()
  let isTold = isKnown

  return {
    async reports(event) {
      if ('artifactUpdate' in event) return [chunk(event.artifactUpdate)]
      if ('task' in event) {
        const { id, artifacts = [] } = event.task
        return [...firstWord(id), ...(await news(artifacts))]
      }
      if (!('statusUpdate' in event)) return []
      const { taskId, status, metadata } = event.statusUpdate
      if (status.state !== 'TASK_STATE_WORKING' || status.message === undefined) return []
      const end = { taskId, status, ...(metadata !== undefined ? { metadata } : {}) }
      return [said('TASK_STATE_WORKING', agent, end, isInstead)]
    },
  }

  /** From here on whoever watches knows the child. */
  function firstWord(taskId: string): readonly Report[] {
    if (isTold) return []
    isTold = true
    const metadata = handedOn(agent, taskId, isInstead)
    const message = { parts: [{ text: `Handed on to ${agent}` }], referenceTaskIds: [taskId], metadata }
    return [{ state: 'TASK_STATE_WORKING', message, metadata }]
  }

  async function news(artifacts: readonly Artifact[]): Promise<readonly Report[]> {
    if (artifacts.length === 0) return []
    const known = isKnown || begun.size > 0 ? await turn.artifacts() : []
    return artifacts.flatMap((artifact) => {
      const artifactId = named(artifact.artifactId)
      const before = known.find((one) => one.artifactId === artifactId)
      begun.add(artifact.artifactId)
      const more = before === undefined ? undefined : difference(before.parts, artifact.parts)
      if (more === undefined) return [{ artifact: { ...artifact, artifactId } }]
      return more.length === 0 ? [] : [{ artifact: { ...artifact, artifactId, parts: more }, append: true }]
    })
  }

  function chunk({ artifact, append, lastChunk, metadata }: TaskArtifactUpdateEvent): Report {
    const appends = append === true && begun.has(artifact.artifactId)
    begun.add(artifact.artifactId)
    return {
      artifact: { ...artifact, artifactId: named(artifact.artifactId) },
      ...(appends ? { append: true } : {}),
      ...(lastChunk === true ? { lastChunk } : {}),
      ...(metadata !== undefined ? { metadata } : {}),
    }
  }
}

/** A state of the child as one of the parent, in the child's words. */
export function said(
  state: TaskState,
  agent: string,
  { taskId, status, metadata }: HopEnd,
  isInstead = false,
): StateReport {
  const { message } = status
  const handed = handedOn(agent, taskId, isInstead)
  return {
    state,
    ...(message !== undefined ? { message: asSaid(message, taskId, handed) } : {}),
    metadata: { ...metadata, ...handed },
  }
}

/** What was said, without whose message it was: ids and roles are the parent's to give. */
function asSaid({ parts, metadata, extensions }: Message, taskId: string, handed: Struct): AgentMessage {
  return {
    parts,
    ...(extensions !== undefined ? { extensions } : {}),
    referenceTaskIds: [taskId],
    metadata: { ...metadata, ...handed },
  }
}

function handedOn(agent: string, taskId: string, isInstead: boolean): Struct {
  return { [uri]: { agent, taskId, ...(isInstead ? { instead: true } : {}) } }
}

/** What `now` has beyond `before`; nothing at all if it is no continuation. */
export function difference(before: readonly Part[], now: readonly Part[]): readonly Part[] | undefined {
  const last = before.length - 1
  for (const [index, part] of before.entries()) {
    const other = now[index]
    if (isDeepStrictEqual(part, other)) continue
    if (index !== last || other === undefined || !('text' in part) || !('text' in other)) return undefined
    const { text, ...rest } = other
    const { text: known, ...knownRest } = part
    if (!text.startsWith(known) || !isDeepStrictEqual(rest, knownRest)) return undefined
    return [{ ...rest, text: text.slice(known.length) }, ...now.slice(index + 1)]
  }
  return now.slice(before.length)
}
