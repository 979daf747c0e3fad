/** Messages, artifacts, tasks and events as 1.0 shapes them, which is the canonical shape (§1.2). */
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
import { role, state } from '../names.ts'
import { bytes, complain, flag, isBag, json, link, list, name, struct, text, timestamp, word, words } from '../read.ts'
import type { Bag, Read } from '../read.ts'
import { required, shape } from '../shape.ts'
import { toolPart, unknownPart } from '../tool-part.ts'

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
  url: link,
  data: { read: json, nullable: true },
  metadata: struct,
  filename: word,
  mediaType: word,
})

/** Exactly one content, told by which key is there: `data` may be null and still be the content (J-6, J-12, T-17). */
export const part: Read<Part> = (reader, value) => {
  if (!isBag(value)) return complain(reader, 'must be an object')
  const contents = count(value, 'text') + count(value, 'raw') + count(value, 'url')
  if (contents === 1) {
    if (value['data'] === undefined) return partFields(reader, value) as Part | undefined
    // Writers that spell out every absent field as null mean it here too.
    if (value['data'] === null) return partFields(reader, { ...value, data: undefined }) as Part | undefined
  }
  if (contents === 0 && value['data'] !== undefined) return partFields(reader, value) as Part | undefined
  if (contents > 0) return complain(reader, 'must have only one of text, raw, url and data')
  return toolPart(reader, value) ?? unknownPart(reader, value, 'must have one of text, raw, url and data')
}

function count(value: Bag, key: string): number {
  return value[key] === undefined || value[key] === null ? 0 : 1
}

export const message: Read<Message> = shape<Message>({
  messageId: required(name, { fallback: '' }),
  contextId: word,
  taskId: word,
  role: required(role, { fallback: 'ROLE_AGENT' }),
  parts: required(list(part, 1), { fallback: [] }),
  metadata: struct,
  extensions: words,
  referenceTaskIds: words,
})

export const artifact: Read<Artifact> = shape<Artifact>({
  artifactId: required(name, { fallback: '' }),
  name: word,
  description: word,
  parts: required(list(part, 1), { fallback: [] }),
  metadata: struct,
  extensions: words,
})

export const status: Read<TaskStatus> = shape<TaskStatus>({
  state: required(state, { fallback: 'TASK_STATE_UNSPECIFIED' }),
  message,
  timestamp,
})

export const task: Read<Task> = shape<Task>({
  id: required(name, { names: ['id', 'taskId'] }),
  contextId: word,
  status: required(status),
  artifacts: list(artifact),
  history: list(message),
  metadata: struct,
})

const statusUpdate: Read<TaskStatusUpdateEvent> = shape<TaskStatusUpdateEvent>({
  taskId: required(name),
  contextId: required(name, { fallback: '' }),
  status: required(status),
  metadata: struct,
})

const artifactUpdate: Read<TaskArtifactUpdateEvent> = shape<TaskArtifactUpdateEvent>({
  taskId: required(name),
  contextId: required(name, { fallback: '' }),
  artifact: required(artifact),
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

const eventFields = shape<AnyEvent>({ task, message, statusUpdate, artifactUpdate })

/** Exactly one member, told by its name; members that nobody knows are ignored (B-99). */
export const event: Read<StreamEvent> = (reader, value) => {
  if (isBag(value) && looksBare(value)) {
    return Array.isArray(value['parts']) ? wrap('message', message(reader, value)) : wrap('task', task(reader, value))
  }
  const found = eventFields(reader, value)
  if (found === undefined) return undefined
  const members = Object.keys(found).length
  if (members === 1 || reader.violations.length > 0) return found as StreamEvent
  return complain(reader, 'must have exactly one of task, message, statusUpdate and artifactUpdate')
}

/** Some servers forget the wrapper around a Task or a Message. */
function looksBare(value: Bag): boolean {
  return (typeof value['id'] === 'string' && isBag(value['status'])) || Array.isArray(value['parts'])
}

function wrap<K extends string, V>(key: K, value: V | undefined): StreamEvent | undefined {
  return value === undefined ? undefined : ({ [key]: value } as unknown as StreamEvent)
}
