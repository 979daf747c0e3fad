/**
 * How an artifact update and a status change a task: one rule for the log of a server, the stream of a client and the replay in the
 * console. The cost depends on the update alone: nothing here copies or walks the existing task.
 */
import type { Artifact, Message, Part, Struct, TaskStatus } from './task.ts'

/** An artifact that chunks are added to. */
export interface GrowingArtifact {
  artifactId: string
  name?: string
  description?: string
  parts: Part[]
  metadata?: Struct
  extensions?: readonly string[]
}

/** With `append` the chunk adds to its artifact; without, or if the artifact does not exist, it becomes the artifact (B-100). */
export function applyArtifact(artifacts: Map<string, GrowingArtifact>, chunk: Artifact, append: boolean): void {
  const grown = append ? artifacts.get(chunk.artifactId) : undefined
  if (grown === undefined) {
    artifacts.set(chunk.artifactId, { ...chunk, parts: [...chunk.parts] })
    return
  }
  const { parts, metadata, extensions, ...fields } = chunk
  for (const part of parts) appendPart(grown.parts, part)
  Object.assign(grown, fields)
  if (metadata !== undefined) grown.metadata = { ...grown.metadata, ...metadata }
  if (extensions !== undefined) grown.extensions = [...new Set([...(grown.extensions ?? []), ...extensions])]
}

/** Joins text with the text before it, so that a reply of 16,000 tokens is one part. */
export function appendPart(parts: Part[], part: Part): void {
  const last = parts.at(-1)
  if (last !== undefined && isBareText(last) && isBareText(part)) {
    parts[parts.length - 1] = { text: last.text + part.text }
  } else {
    parts.push(part)
  }
}

/** Whether it has nothing but its text: a name, a type or metadata of one chunk would be lost or apply to others. */
export function isBareText(part: Part): part is { readonly text: string } {
  if (!('text' in part)) return false
  for (const key in part) if (key !== 'text' && part[key as keyof Part] !== undefined) return false
  return true
}

/** The status of a task, and its messages before. */
export interface StatusHistory {
  status?: TaskStatus
  readonly history: Message[]
  /** The history already contains the status message: a question, before the message that answered it. */
  isArchived?: boolean
}

/** The message of a replaced status moves to the history (B-47). Without a new status it moves there now: a question precedes its answer. */
export function replaceStatus(task: StatusHistory, status?: TaskStatus): void {
  const message = task.status?.message
  if (message && !task.isArchived) task.history.push(message)
  task.isArchived = status === undefined
  if (status) task.status = status
}
