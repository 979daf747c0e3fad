/**
 * What the events of a stream add up to: the task, its artifacts, or the one message (B-100). Each event costs as much
 * as it is large, whatever came before it: nothing here copies or walks what the task already holds.
 */
import { hasSettled } from '../model/state.ts'
import type { TaskState } from '../model/state.ts'
import type { Artifact, Message, Part, StreamEvent, Struct, Task, TaskStatus } from '../model/task.ts'
import { answerOf, textOf } from './answer.ts'
import type { Answer } from './contract.ts'

interface OpenArtifact {
  artifactId: string
  name?: string
  description?: string
  parts: Part[]
  metadata?: Struct
  extensions?: readonly string[]
}

export interface Reduction {
  /** Undefined until an event has said it; so are the next two. */
  taskId: string | undefined
  contextId: string | undefined
  status: TaskStatus | undefined
  metadata: Struct | undefined
  history: Message[]
  artifacts: Map<string, OpenArtifact>
  /** A direct answer. */
  message: Message | undefined
}

export function emptyReduction(): Reduction {
  return {
    taskId: undefined,
    contextId: undefined,
    status: undefined,
    metadata: undefined,
    history: [],
    artifacts: new Map(),
    message: undefined,
  }
}

/** Answers with the text that this event adds to the answer's. */
export function reduce(into: Reduction, event: StreamEvent): string {
  if ('message' in event) {
    into.message = event.message
    into.contextId ??= event.message.contextId
    if (into.taskId !== undefined) into.history.push(event.message)
    return ''
  }
  if ('task' in event) return replace(into, event.task)
  const update = 'statusUpdate' in event ? event.statusUpdate : event.artifactUpdate
  into.taskId ??= update.taskId
  into.contextId ??= update.contextId
  if ('artifact' in update) return update.append === true ? append(into, update.artifact) : begin(into, update.artifact)
  move(into, update.status)
  return ''
}

/** What a task leaves out it has not taken back: peers send tasks without their artifacts, or without their history. */
function replace(into: Reduction, task: Task): string {
  into.taskId = task.id
  into.contextId = task.contextId ?? into.contextId
  into.status = task.status
  into.metadata = task.metadata ?? into.metadata
  if (task.history !== undefined) into.history = [...task.history]
  if (task.artifacts === undefined) return ''
  const before = into.artifacts
  into.artifacts = new Map()
  return task.artifacts.map((artifact) => begin(into, artifact, before)).join('')
}

/** Where it only continues what was there, as with peers that send all of it each time, the rest of it is new. */
function begin({ artifacts }: Reduction, artifact: Artifact, before: Reduction['artifacts'] = artifacts): string {
  const known = textOf(before.get(artifact.artifactId)?.parts)
  artifacts.set(artifact.artifactId, { ...artifact, parts: [...artifact.parts] })
  const text = textOf(artifact.parts)
  return text.startsWith(known) ? text.slice(known.length) : text
}

/** To an artifact that nobody has begun, it begins it. */
function append(into: Reduction, chunk: Artifact): string {
  const known = into.artifacts.get(chunk.artifactId)
  if (known === undefined) return begin(into, chunk)
  for (const part of chunk.parts) known.parts.push(part)
  if (chunk.name !== undefined) known.name = chunk.name
  if (chunk.description !== undefined) known.description = chunk.description
  if (chunk.metadata !== undefined) known.metadata = { ...known.metadata, ...chunk.metadata }
  if (chunk.extensions !== undefined)
    known.extensions = [...new Set([...(known.extensions ?? []), ...chunk.extensions])]
  return textOf(chunk.parts)
}

/** A status message that is replaced goes to the history (B-47), where some peers have put it already. */
function move(into: Reduction, status: TaskStatus): void {
  const said = into.status?.message
  if (said !== undefined && into.history.at(-1)?.messageId !== said.messageId) into.history.push(said)
  into.status = status
}

export function artifactsOf({ artifacts }: Reduction): Artifact[] {
  return [...artifacts.values()].map((artifact) => ({ ...artifact, parts: [...artifact.parts] }))
}

/** The task as far as it has been told, or the message that was said in its place. */
export function answerFrom(from: Reduction): Answer | undefined {
  const { taskId: id, contextId, message, metadata, history, artifacts } = from
  const { status = { state: 'TASK_STATE_UNSPECIFIED' } } = from
  if (message !== undefined && !hasSettled(status.state)) return answerOf({ message })
  if (id === undefined) return undefined
  return answerOf({
    task: {
      id,
      ...(contextId !== undefined ? { contextId } : {}),
      status,
      ...(artifacts.size > 0 ? { artifacts: artifactsOf(from) } : {}),
      ...(history.length > 0 ? { history: [...history] } : {}),
      ...(metadata !== undefined ? { metadata } : {}),
    },
  })
}

export function stateIn(event: StreamEvent): TaskState | undefined {
  if ('task' in event) return event.task.status.state
  return 'statusUpdate' in event ? event.statusUpdate.status.state : undefined
}
