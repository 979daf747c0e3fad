/**
 * The ProtoJSON of 1.0 for the objects of a client, whatever binding and version brought them: the fields in the order of the proto,
 * defaults omitted as proto3 omits them, the `kind` of a `TaskResponse` left out, and unknown fields, if they were kept, at the end.
 * The dialect of 1.0 does not need it: a server writes canonical objects as they are.
 */
import type { AgentCard } from '../../model/card.ts'
import type {
  ListTaskPushNotificationConfigsResponse,
  ListTasksResponse,
  SendMessageResponse,
  TaskPushNotificationConfig,
} from '../../model/operation.ts'
import { isStruct } from '../../model/struct.ts'
import type { Artifact, Message, Part, StreamEvent, Struct, Task } from '../../model/task.ts'
import { unknownFieldsOf } from '../unknown-fields.ts'

/** The messages of the proto that `toProtoJson` writes, by name. */
export interface ProtoMessages {
  readonly AgentCard: AgentCard
  readonly Artifact: Artifact
  readonly ListTaskPushNotificationConfigsResponse: ListTaskPushNotificationConfigsResponse
  readonly ListTasksResponse: ListTasksResponse
  readonly Message: Message
  readonly Part: Part
  readonly SendMessageResponse: SendMessageResponse
  readonly StreamResponse: StreamEvent
  readonly Task: Task
  readonly TaskPushNotificationConfig: TaskPushNotificationConfig
}

/** A field is a value that is written as it is, or a message; `?`: omitted if it holds its default. */
type FieldKind = 'value' | 'value?' | MessageFields | readonly [MessageFields, 'required'?]
interface MessageFields {
  readonly [name: string]: FieldKind
}

const part: MessageFields = {
  text: 'value',
  raw: 'value',
  url: 'value',
  data: 'value',
  metadata: 'value',
  filename: 'value?',
  mediaType: 'value?',
}
const message: MessageFields = {
  messageId: 'value',
  contextId: 'value?',
  taskId: 'value?',
  role: 'value',
  parts: [part, 'required'],
  metadata: 'value',
  extensions: 'value?',
  referenceTaskIds: 'value?',
}
const artifact: MessageFields = {
  artifactId: 'value',
  name: 'value?',
  description: 'value?',
  parts: [part, 'required'],
  metadata: 'value',
  extensions: 'value?',
}
const status: MessageFields = { state: 'value', message, timestamp: 'value' }
const task: MessageFields = {
  id: 'value',
  contextId: 'value?',
  status,
  artifacts: [artifact],
  history: [message],
  metadata: 'value',
}
const statusUpdate: MessageFields = { taskId: 'value', contextId: 'value', status, metadata: 'value' }
const artifactUpdate: MessageFields = {
  taskId: 'value',
  contextId: 'value',
  artifact,
  append: 'value?',
  lastChunk: 'value?',
  metadata: 'value',
}
const pushConfig: MessageFields = {
  tenant: 'value?',
  id: 'value?',
  taskId: 'value?',
  url: 'value',
  token: 'value?',
  authentication: { scheme: 'value', credentials: 'value?' },
}
const extension: MessageFields = { uri: 'value', description: 'value?', required: 'value?', params: 'value' }
const skill: MessageFields = {
  id: 'value',
  name: 'value',
  description: 'value',
  tags: 'value',
  examples: 'value?',
  inputModes: 'value?',
  outputModes: 'value?',
  securityRequirements: 'value?',
}

/** The fields of the card that 1.0 has, in the order of the proto. */
const cardFields = {
  name: 'value',
  description: 'value',
  supportedInterfaces: [
    { url: 'value', protocolBinding: 'value', tenant: 'value?', protocolVersion: 'value' },
    'required',
  ],
  provider: { url: 'value', organization: 'value' },
  version: 'value',
  documentationUrl: 'value',
  capabilities: {
    streaming: 'value',
    pushNotifications: 'value',
    extensions: [extension],
    extendedAgentCard: 'value',
  },
  securitySchemes: 'value',
  securityRequirements: 'value?',
  defaultInputModes: 'value',
  defaultOutputModes: 'value',
  skills: [skill, 'required'],
  signatures: [{ protected: 'value', signature: 'value', header: 'value' }],
  iconUrl: 'value',
} satisfies { readonly [K in keyof AgentCard]-?: FieldKind }

const messages: { readonly [K in keyof ProtoMessages]: MessageFields } = {
  AgentCard: cardFields,
  Artifact: artifact,
  ListTaskPushNotificationConfigsResponse: { configs: [pushConfig, 'required'], nextPageToken: 'value?' },
  ListTasksResponse: {
    tasks: [task, 'required'],
    nextPageToken: 'value',
    pageSize: 'value',
    totalSize: 'value',
  },
  Message: message,
  Part: part,
  SendMessageResponse: { task, message },
  StreamResponse: { task, message, statusUpdate, artifactUpdate },
  Task: task,
  TaskPushNotificationConfig: pushConfig,
}

/**
 * Returns an object of a client as 1.0 writes it in JSON: the same for every binding and version that it came by. Fields that this SDK
 * does not know are included if the client kept them (`keepUnknownFields`).
 *
 * @example
 * ```ts
 * import { toProtoJson } from '@parley/a2a'
 * import { connect } from '@parley/a2a/client'
 *
 * const agent = await connect('https://agent.example.com')
 * console.log(JSON.stringify(toProtoJson('Task', await agent.get('task-1'))))
 * ```
 */
export function toProtoJson<K extends keyof ProtoMessages>(name: K, value: ProtoMessages[K]): Struct {
  return encode(messages[name], value) as Struct
}

function encode(fields: MessageFields, value: object): Record<string, unknown> {
  const from = value as Readonly<Record<string, unknown>>
  const out: Record<string, unknown> = {}
  for (const [name, kind] of Object.entries(fields)) {
    const given = from[name]
    if (given === undefined) continue
    if (typeof kind === 'string') {
      if (kind === 'value' || !isDefault(given)) out[name] = given
    } else if (!isList(kind)) {
      out[name] = isStruct(given) ? encode(kind, given) : given
    } else if (Array.isArray(given) && (given.length > 0 || kind[1] === 'required')) {
      out[name] = (given as readonly object[]).map((each) => encode(kind[0], each))
    }
  }
  // Defined, not assigned: `__proto__` and `constructor` are names like any other.
  for (const [name, given] of Object.entries(unknownFieldsOf(value)))
    if (!Object.hasOwn(out, name))
      Object.defineProperty(out, name, { value: given, enumerable: true, writable: true, configurable: true })
  return out
}

function isList(kind: Exclude<FieldKind, string>): kind is readonly [MessageFields, 'required'?] {
  return Array.isArray(kind)
}

function isDefault(value: unknown): boolean {
  return value === false || value === '' || (Array.isArray(value) && value.length === 0)
}
