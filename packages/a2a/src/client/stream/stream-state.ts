/**
 * The task, its artifacts, or the one message that the events of a stream add up to (B-100). The cost of an event depends only
 * on its own size: nothing here copies or walks what the task already holds.
 */
import { hasSettled, type TaskState } from '../../model/state.ts'
import type { Artifact, Message, StreamEvent, Struct, Task } from '../../model/task.ts'
import { applyArtifact, replaceStatus, type GrowingArtifact, type StatusHistory } from '../../model/task-changes.ts'
import { toAgentResponse, textOfParts } from '../agent-response.ts'
import type { AgentResponse, EventFrame } from '../contract.ts'

export interface StreamState extends StatusHistory {
  /** Undefined until an event contains it; so are the next two. */
  taskId?: string | undefined
  contextId?: string | undefined
  metadata?: Struct | undefined
  history: Message[]
  artifacts: Map<string, GrowingArtifact>
  /** A direct reply. */
  message?: Message
}

export function createStreamState(): StreamState {
  return { history: [], artifacts: new Map() }
}

/** Returns the text that this event adds to the text of the response. */
export function applyEvent(into: StreamState, event: StreamEvent): string {
  if ('message' in event) {
    into.message = event.message
    into.contextId ??= event.message.contextId
    if (into.taskId !== undefined) into.history.push(event.message)
    return ''
  }
  if ('task' in event) return replaceTask(into, event.task)
  const update = 'statusUpdate' in event ? event.statusUpdate : event.artifactUpdate
  into.taskId ??= update.taskId
  into.contextId ??= update.contextId
  if ('artifact' in update) {
    if (update.append !== true) return setArtifact(into, update.artifact)
    applyArtifact(into.artifacts, update.artifact, true)
    return textOfParts(update.artifact.parts)
  }
  // The peer may have put the message of the replaced status into the history already.
  if (into.history.at(-1)?.messageId === into.status?.message?.messageId) into.isArchived = true
  replaceStatus(into, update.status)
  return ''
}

/** Returns the text that this frame adds to the text of the turn. */
export function applyFrame(into: StreamState, { event, isEarlier }: EventFrame): string {
  const text = applyEvent(into, event)
  return isEarlier === true ? '' : text
}

/** A task does not remove what it leaves out: peers send tasks without their artifacts, or without their history. */
function replaceTask(into: StreamState, task: Task): string {
  into.taskId = task.id
  into.contextId = task.contextId ?? into.contextId
  into.status = task.status
  into.metadata = task.metadata ?? into.metadata
  if (task.history !== undefined) into.history = [...task.history]
  const said = task.status?.message?.messageId
  into.isArchived = into.history.some(({ messageId }) => messageId === said)
  if (task.artifacts === undefined) return ''
  const before = into.artifacts
  into.artifacts = new Map()
  return task.artifacts.map((artifact) => setArtifact(into, artifact, before)).join('')
}

/** If the artifact only extends the previous one, as with peers that send all of it each time, the remainder is new. */
function setArtifact(
  { artifacts }: StreamState,
  artifact: Artifact,
  before: StreamState['artifacts'] = artifacts,
): string {
  const known = textOfParts(before.get(artifact.artifactId)?.parts)
  applyArtifact(artifacts, artifact, false)
  const text = textOfParts(artifact.parts)
  return text.startsWith(known) ? text.slice(known.length) : text
}

export function artifactsOf({ artifacts }: StreamState): Artifact[] {
  return [...artifacts.values()].map((artifact) => ({ ...artifact, parts: [...artifact.parts] }))
}

/** The task as far as it is known, or the message that was sent in its place. */
export function responseFrom(from: StreamState): AgentResponse | undefined {
  const {
    taskId: id,
    contextId,
    message,
    metadata,
    history,
    artifacts,
    status = { state: 'TASK_STATE_UNSPECIFIED' },
  } = from
  if (message !== undefined && !hasSettled(status.state)) return toAgentResponse({ message })
  if (id === undefined) return undefined
  return toAgentResponse({
    task: {
      id,
      ...(contextId !== undefined && { contextId }),
      status,
      ...(artifacts.size > 0 && { artifacts: artifactsOf(from) }),
      ...(history.length > 0 && { history: [...history] }),
      ...(metadata && { metadata }),
    },
  })
}

export function taskStateOf(event: StreamEvent): TaskState | undefined {
  if ('task' in event) return event.task.status.state
  return 'statusUpdate' in event ? event.statusUpdate.status.state : undefined
}
