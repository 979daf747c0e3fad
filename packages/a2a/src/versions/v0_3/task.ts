/** Tasks and events of 0.x: bare objects with a `kind` in JSON-RPC, wrapped under a member's name in the proto. */
import { isStruct } from '../../model/struct.ts'
import { type TaskState } from '../../model/state.ts'
import { transitionsKey } from '../../model/state-transition.ts'
import type {
  Json,
  Message,
  StreamEvent,
  Struct,
  Task,
  TaskArtifactUpdateEvent,
  TaskStatus,
  TaskStatusUpdateEvent,
} from '../../model/task.ts'
import { required, shape, state, copyFields } from '../shape.ts'
import {
  type JsonRecord,
  type FieldReader,
  type ReadContext,
  addViolation,
  flag,
  list,
  nonEmptyText,
  struct,
  timestamp,
  optionalText,
} from '../read.ts'
import { vocabularyOf, type LegacyForm } from './form.ts'
import type { BaseTask } from '../v1_0/objects.ts'
import { artifactReader, messageReader, writeArtifact, writeMessage } from './message.ts'

export interface TaskReaders {
  readonly task: FieldReader<Task>
  readonly event: FieldReader<StreamEvent>
}

export function taskReaders(form: LegacyForm): TaskReaders {
  const message = messageReader(form)
  const artifact = artifactReader(form)
  const status = shape<TaskStatus>({
    state: required(state, { fallback: 'TASK_STATE_UNSPECIFIED' }),
    // The proto's own name for it.
    message: { read: message, names: ['message', 'update'] },
    timestamp,
  })
  const task = shape<BaseTask>({
    id: required(nonEmptyText, { names: ['id', 'taskId'] }),
    contextId: optionalText,
    status: required(status),
    artifacts: list(artifact),
    history: list(message),
    metadata: struct,
  })
  const updateFields = {
    taskId: required(nonEmptyText, { names: ['taskId', 'id'] }),
    contextId: required(nonEmptyText, { fallback: '' }),
    metadata: struct,
  }
  const statusUpdate = shape<TaskStatusUpdateEvent>({ ...updateFields, status: required(status) })
  const artifactFields = shape<TaskArtifactUpdateEvent>({
    ...updateFields,
    artifact: required(artifact),
    append: flag,
    lastChunk: flag,
  })
  const members: EventMembers = {
    task,
    message,
    statusUpdate,
    artifactUpdate: (reader, value) => artifactFields(reader, isStruct(value) ? withArtifact(value) : value),
  }
  return { task, event: (reader, value) => readEvent(reader, value, members) }
}

interface EventMembers {
  readonly task: FieldReader<Task>
  readonly message: FieldReader<Message>
  readonly statusUpdate: FieldReader<TaskStatusUpdateEvent>
  readonly artifactUpdate: FieldReader<TaskArtifactUpdateEvent>
}

const kinds = new Map<unknown, keyof EventMembers>([
  ['task', 'task'],
  ['message', 'message'],
  ['status-update', 'statusUpdate'],
  ['artifact-update', 'artifactUpdate'],
])

const wrappers: readonly (readonly [string, keyof EventMembers])[] = [
  ['task', 'task'],
  ['message', 'message'],
  ['msg', 'message'],
  ['statusUpdate', 'statusUpdate'],
  ['status_update', 'statusUpdate'],
  ['artifactUpdate', 'artifactUpdate'],
  ['artifact_update', 'artifactUpdate'],
]

function readEvent(reader: ReadContext, value: unknown, members: EventMembers): StreamEvent | undefined {
  if (!isStruct(value)) return addViolation(reader, 'must be an object')
  const named = kinds.get(value['kind'])
  if (named !== undefined) return wrap(named, members[named](reader, value))
  const wrapper = wrappers.find(([spelling]) => isStruct(value[spelling]))
  if (wrapper !== undefined) {
    const [spelling, member] = wrapper
    reader.path.push(spelling)
    const read = members[member](reader, value[spelling])
    reader.path.pop()
    return wrap(member, read)
  }
  const guessed = guessMember(value)
  if (guessed === undefined) return addViolation(reader, 'must be a task, a message or an update of a task')
  return wrap(guessed, members[guessed](reader, value))
}

/** Official examples of 0.2 sometimes leave `kind` out. */
function guessMember(value: JsonRecord): keyof EventMembers | undefined {
  if (isStruct(value['artifact']) || isStruct(value['part'])) return 'artifactUpdate'
  if (isStruct(value['status'])) {
    return value['id'] === undefined || value['final'] !== undefined ? 'statusUpdate' : 'task'
  }
  return Array.isArray(value['parts'] ?? value['content']) ? 'message' : undefined
}

function wrap(member: keyof EventMembers, value: unknown): StreamEvent | undefined {
  return value === undefined ? undefined : ({ [member]: value } as unknown as StreamEvent)
}

/** A draft sends one part with an index instead of an artifact. */
function withArtifact(value: JsonRecord): JsonRecord {
  const part = value['part']
  if (value['artifact'] !== undefined || !isStruct(part)) return value
  const index = typeof value['index'] === 'number' ? value['index'] : 0
  const artifactId = value['artifactId'] ?? `artifact-${index}`
  return { append: part['append'], ...value, artifact: { artifactId, parts: [part] } }
}

function writeStatus(status: TaskStatus, form: LegacyForm): Record<string, unknown> {
  const out: Record<string, unknown> = { state: vocabularyOf[form].states[status.state] }
  if (status.message !== undefined) out['message'] = writeMessage(status.message, form)
  return copyFields(out, status, 'timestamp')
}

export function writeTask(task: Task, form: LegacyForm): Record<string, unknown> {
  const out: Record<string, unknown> = form === 'json' ? { kind: 'task' } : {}
  copyFields(out, task, 'id', 'contextId')
  out['status'] = writeStatus(task.status, form)
  if (task.artifacts !== undefined) out['artifacts'] = task.artifacts.map((artifact) => writeArtifact(artifact, form))
  if (task.history !== undefined) out['history'] = task.history.map((message) => writeMessage(message, form))
  if (task.metadata !== undefined) out['metadata'] = writeMetadata(task.metadata, form)
  return out
}

/**
 * Unchanged, except for the states that the task went through: they are written in the vocabulary of 0.x, like its own state.
 */
function writeMetadata(metadata: Struct, form: LegacyForm): Struct {
  const told = metadata[transitionsKey]
  if (!Array.isArray(told)) return metadata
  const { states } = vocabularyOf[form]
  const transitions = (told as readonly Json[]).map((one) => {
    const state = isStruct(one) ? one['state'] : undefined
    return typeof state === 'string' && Object.hasOwn(states, state)
      ? { ...(one as Struct), state: states[state as TaskState] }
      : one
  })
  return { ...metadata, [transitionsKey]: transitions }
}

export function writeEvent(event: StreamEvent, form: LegacyForm): Record<string, unknown> {
  const json = form === 'json'
  if ('task' in event) return json ? writeTask(event.task, form) : { task: writeTask(event.task, form) }
  if ('message' in event)
    return json ? writeMessage(event.message, form) : { message: writeMessage(event.message, form) }
  if ('statusUpdate' in event) {
    const update = event.statusUpdate
    const out = copyFields(json ? { kind: 'status-update' } : {}, update, 'taskId', 'contextId')
    out['status'] = writeStatus(update.status, form)
    copyFields(out, update, 'metadata')
    return json ? out : { statusUpdate: out }
  }
  const update = event.artifactUpdate
  const out = copyFields(json ? { kind: 'artifact-update' } : {}, update, 'taskId', 'contextId')
  out['artifact'] = writeArtifact(update.artifact, form)
  copyFields(out, update, 'append', 'lastChunk', 'metadata')
  return json ? out : { artifactUpdate: out }
}

/**
 * Adds `final`, which is true on a stream's last status and differs from stream to stream, to bytes that all streams share. The
 * status update is the innermost open object of the text, so it goes before the closing braces.
 */
export function seal(json: string, event: StreamEvent, final: boolean, form: LegacyForm): string {
  if (!('statusUpdate' in event)) return json
  return form === 'json' ? `${json.slice(0, -1)},"final":${final}}` : `${json.slice(0, -2)},"final":${final}}}`
}
