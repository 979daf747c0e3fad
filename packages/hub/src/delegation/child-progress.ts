/**
 * Reports the progress of a delegated task in its parent: the child's messages under its id (S2-12), and its artifacts as they
 * arrive. After a restart, and in a later turn, the child is read in its current state; what the parent's log already has is not
 * repeated.
 */
import { isDeepStrictEqual } from 'node:util'
import type {
  AgentMessage,
  Artifact,
  Message,
  Part,
  Report,
  StreamEvent,
  Struct,
  TaskArtifactUpdateEvent,
  TaskState,
  Turn,
} from '@parley/a2a'
import { delegationExtension as uri, type StateReport } from '@parley/a2a/internal'
import type { HopResult } from './hop.ts'

export interface ChildProgressDeps {
  readonly turn: Turn
  readonly agent: string
  /** The child replaces the parent's turn. */
  readonly replacesTurn?: boolean
  /** The name of the child's artifact in the parent; must be unique. */
  artifactName(artifactId: string): string
  /** Whether the parent's log may already contain output of the child. */
  readonly mayBeRecorded: boolean
}

export function createChildProgress({
  turn,
  agent,
  replacesTurn = false,
  artifactName,
  mayBeRecorded,
}: ChildProgressDeps): { reports(event: StreamEvent): Promise<readonly Report[]> } {
  /** Artifacts of the child that were started, in this run or before. */
  const started = new Set<string>()
  let isAnnounced = mayBeRecorded

  return {
    async reports(event) {
      if ('artifactUpdate' in event) return [chunk(event.artifactUpdate)]
      if ('task' in event) {
        const { id, artifacts = [] } = event.task
        return [...firstReport(id), ...(await newArtifacts(artifacts))]
      }
      if (!('statusUpdate' in event)) return []
      const { taskId, status, metadata } = event.statusUpdate
      if (status.state !== 'TASK_STATE_WORKING' || status.message === undefined) return []
      const end = { taskId, status, ...(metadata !== undefined ? { metadata } : {}) }
      return [childStateReport('TASK_STATE_WORKING', agent, end, replacesTurn)]
    },
  }

  /** From here on readers of the parent know the child. */
  function firstReport(taskId: string): readonly Report[] {
    if (isAnnounced) return []
    isAnnounced = true
    const metadata = delegationMetadata(agent, taskId, replacesTurn)
    const message = { parts: [{ text: `Delegated to ${agent}` }], referenceTaskIds: [taskId], metadata }
    return [{ state: 'TASK_STATE_WORKING', message, metadata }]
  }

  async function newArtifacts(artifacts: readonly Artifact[]): Promise<readonly Report[]> {
    if (artifacts.length === 0) return []
    const known = mayBeRecorded || started.size > 0 ? await turn.artifacts() : []
    return artifacts.flatMap((artifact) => {
      const artifactId = artifactName(artifact.artifactId)
      const before = known.find((one) => one.artifactId === artifactId)
      started.add(artifact.artifactId)
      const more = before === undefined ? undefined : appendedParts(before.parts, artifact.parts)
      if (more === undefined) return [{ artifact: { ...artifact, artifactId } }]
      return more.length === 0 ? [] : [{ artifact: { ...artifact, artifactId, parts: more }, append: true }]
    })
  }

  function chunk({ artifact, append, lastChunk, metadata }: TaskArtifactUpdateEvent): Report {
    const appends = append === true && started.has(artifact.artifactId)
    started.add(artifact.artifactId)
    return {
      artifact: { ...artifact, artifactId: artifactName(artifact.artifactId) },
      ...(appends ? { append: true } : {}),
      ...(lastChunk === true ? { lastChunk } : {}),
      ...(metadata !== undefined ? { metadata } : {}),
    }
  }
}

/** Converts a state of the child to one of the parent, with the child's message. */
export function childStateReport(
  state: TaskState,
  agent: string,
  { taskId, status, metadata }: HopResult,
  isInstead = false,
): StateReport {
  const { message } = status
  const delegated = delegationMetadata(agent, taskId, isInstead)
  return {
    state,
    ...(message !== undefined ? { message: toParentMessage(message, taskId, delegated) } : {}),
    metadata: { ...metadata, ...delegated },
  }
}

/** The content without ids and role: the parent assigns those. */
function toParentMessage({ parts, metadata, extensions }: Message, taskId: string, delegated: Struct): AgentMessage {
  return {
    parts,
    ...(extensions !== undefined ? { extensions } : {}),
    referenceTaskIds: [taskId],
    metadata: { ...metadata, ...delegated },
  }
}

function delegationMetadata(agent: string, taskId: string, isInstead: boolean): Struct {
  return { [uri]: { agent, taskId, ...(isInstead ? { instead: true } : {}) } }
}

/** What `now` has beyond `before`; `undefined` if it is not a continuation. */
export function appendedParts(before: readonly Part[], now: readonly Part[]): readonly Part[] | undefined {
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
