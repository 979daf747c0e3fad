/** Messages, artifacts, tasks and events as 1.0 shapes them, which is the canonical shape (§1.2). */
import { isStruct } from '../../model/struct.ts'
import type {
  Artifact,
  Json,
  Message,
  Part,
  StreamEvent,
  Task,
  TaskArtifactUpdateEvent,
  TaskStatus,
  TaskStatusUpdateEvent,
} from '../../model/task.ts'
import { type Fields, required, role, shape, state } from '../shape.ts'
import type { JsonRecord, FieldReader } from '../read.ts'
import {
  bytes,
  addViolation,
  flag,
  anyJson,
  httpUrl,
  list,
  nonEmptyText,
  struct,
  text,
  timestamp,
  optionalText,
  textList,
} from '../read.ts'
import { toolPart, unknownPart } from '../tool-parts.ts'

interface AnyPart {
  text?: string
  raw?: string
  url?: string
  data?: Json
  metadata?: Part['metadata']
  filename?: string
  mediaType?: string
}

const partFields = shape<AnyPart>({
  text,
  raw: bytes,
  url: httpUrl,
  data: { read: anyJson, nullable: true },
  metadata: struct,
  filename: optionalText,
  mediaType: optionalText,
})

/**
 * Exactly one content, determined by the key that is present: `data` may be null and still be the content (J-6, J-12, T-17).
 */
export const readPart: FieldReader<Part> = (reader, value) => {
  if (!isStruct(value)) return addViolation(reader, 'must be an object')
  const contents = count(value, 'text') + count(value, 'raw') + count(value, 'url')
  if (contents === 1) {
    if (value['data'] === undefined) return partFields(reader, value) as Part | undefined
    // For writers that write every absent field as null, null means absent here too.
    if (value['data'] === null) return partFields(reader, { ...value, data: undefined }) as Part | undefined
  }
  if (contents === 0 && value['data'] !== undefined) return partFields(reader, value) as Part | undefined
  if (contents > 0) return addViolation(reader, 'must have only one of text, raw, url and data')
  return toolPart(reader, value) ?? unknownPart(reader, value, 'must have one of text, raw, url and data')
}

function count(value: JsonRecord, key: string): number {
  return value[key] === undefined || value[key] === null ? 0 : 1
}

export const readMessage: FieldReader<Message> = shape<Message>({
  messageId: required(nonEmptyText, { fallback: '' }),
  contextId: optionalText,
  taskId: optionalText,
  role: required(role, { fallback: 'ROLE_AGENT' }),
  parts: required(list(readPart, 1), { fallback: [] }),
  metadata: struct,
  extensions: textList,
  referenceTaskIds: textList,
})

export const readArtifact: FieldReader<Artifact> = shape<Artifact>({
  artifactId: required(nonEmptyText, { fallback: '' }),
  name: optionalText,
  description: optionalText,
  parts: required(list(readPart, 1), { fallback: [] }),
  metadata: struct,
  extensions: textList,
})

export const readStatus: FieldReader<TaskStatus> = shape<TaskStatus>({
  state: required(state, { fallback: 'TASK_STATE_UNSPECIFIED' }),
  message: readMessage,
  timestamp,
})

/** The fields that a task has had since 0.2; a later version reads its own beside them. */
export type BaseTask = Pick<Task, 'id' | 'contextId' | 'status' | 'artifacts' | 'history' | 'metadata'>

export const taskFields: Fields<BaseTask> = {
  id: required(nonEmptyText, { names: ['id', 'taskId'] }),
  contextId: optionalText,
  status: required(readStatus),
  artifacts: list(readArtifact),
  history: list(readMessage),
  metadata: struct,
}

const statusUpdate: FieldReader<TaskStatusUpdateEvent> = shape<TaskStatusUpdateEvent>({
  taskId: required(nonEmptyText),
  contextId: required(nonEmptyText, { fallback: '' }),
  status: required(readStatus),
  metadata: struct,
})

const artifactUpdate: FieldReader<TaskArtifactUpdateEvent> = shape<TaskArtifactUpdateEvent>({
  taskId: required(nonEmptyText),
  contextId: required(nonEmptyText, { fallback: '' }),
  artifact: required(readArtifact),
  append: flag,
  lastChunk: flag,
  metadata: struct,
})

interface AnyEvent {
  task?: Task
  message?: Message
  statusUpdate?: TaskStatusUpdateEvent
  artifactUpdate?: TaskArtifactUpdateEvent
}

/** Exactly one member, determined by its name; unknown members are ignored (B-99). */
export function eventReader(readTask: FieldReader<Task>): FieldReader<StreamEvent> {
  const eventFields = shape<AnyEvent>({ task: readTask, message: readMessage, statusUpdate, artifactUpdate })
  return (reader, value) => {
    if (isStruct(value) && isBareEvent(value)) {
      return Array.isArray(value['parts'])
        ? wrap('message', readMessage(reader, value))
        : wrap('task', readTask(reader, value))
    }
    const event = eventFields(reader, value)
    if (event === undefined) return undefined
    const members = Object.keys(event).length
    if (members === 1 || reader.violations.length > 0) return event as StreamEvent
    return addViolation(reader, 'must have exactly one of task, message, statusUpdate and artifactUpdate')
  }
}

/** Some servers omit the wrapper around a Task or a Message. */
function isBareEvent(value: JsonRecord): boolean {
  return (typeof value['id'] === 'string' && isStruct(value['status'])) || Array.isArray(value['parts'])
}

function wrap<K extends string, V>(key: K, value: V | undefined): StreamEvent | undefined {
  return value === undefined ? undefined : ({ [key]: value } as unknown as StreamEvent)
}
