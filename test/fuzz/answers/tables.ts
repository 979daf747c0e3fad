/**
 * What each version's answers look like, field by field, as the protocol's own tables
 * have it. Data for `shape.ts`, and nothing else.
 */
import type { Check } from './shape.ts'
import {
  anything,
  base64,
  byKind,
  count,
  exactlyOne,
  flag,
  list,
  object,
  oneOf,
  struct,
  text,
  timestamp,
  words,
} from './shape.ts'

export type VersionId = '0.2' | '0.3' | '1.0'
export type Binding = 'jsonrpc' | 'rest'

export interface Shapes {
  readonly sendResult: Check
  readonly event: Check
  readonly task: Check
  /** 0.x has no list. */
  readonly page: Check | undefined
}

const names = ['SUBMITTED', 'WORKING', 'COMPLETED', 'FAILED', 'INPUT_REQUIRED', 'REJECTED', 'AUTH_REQUIRED']

/** UNSPECIFIED and `unknown` are for readers; a server never writes them. */
const states = {
  current: oneOf(...names.map((name) => `TASK_STATE_${name}`), 'TASK_STATE_CANCELED'),
  // The proto of 0.3 writes two Ls.
  proto: oneOf(...names.map((name) => `TASK_STATE_${name}`), 'TASK_STATE_CANCELLED'),
  legacy: oneOf(...names.map((name) => name.toLowerCase().replace('_', '-')), 'canceled'),
}

const roles = { current: oneOf('ROLE_USER', 'ROLE_AGENT'), legacy: oneOf('user', 'agent') }

const about = { 'metadata?': struct, 'extensions?': list(text) }

function current(): Shapes {
  const common = { 'metadata?': struct, 'filename?': text, 'mediaType?': text }
  const part = exactlyOne({ text, raw: base64, url: words, data: anything }, common)
  const message = object({
    messageId: words,
    'contextId?': words,
    'taskId?': words,
    role: roles.current,
    parts: list(part, 1),
    'referenceTaskIds?': list(text),
    ...about,
  })
  const artifact = object({ artifactId: words, 'name?': text, 'description?': text, parts: list(part, 1), ...about })
  const status = object({ state: states.current, 'message?': message, timestamp })
  const taskFields = { id: words, contextId: words, status, 'history?': list(message), 'metadata?': struct }
  const task = object({ ...taskFields, 'artifacts?': list(artifact) })
  const statusUpdate = object({ taskId: words, contextId: words, status, 'metadata?': struct })
  const artifactUpdate = object({
    taskId: words,
    contextId: words,
    artifact,
    'append?': flag,
    'lastChunk?': flag,
    'metadata?': struct,
  })
  return {
    sendResult: exactlyOne({ task, message }),
    event: exactlyOne({ task, message, statusUpdate, artifactUpdate }),
    task,
    page: object({ tasks: list(task), nextPageToken: text, pageSize: count(1, 100), totalSize: count(0) }),
  }
}

/** JSON-RPC of 0.2 and 0.3. */
function legacy(): Shapes {
  const file = exactlyOne({ bytes: base64, uri: words }, { 'name?': text, 'mimeType?': text })
  const part = byKind('kind', {
    text: object({ kind: text, text, 'metadata?': struct }),
    file: object({ kind: text, file, 'metadata?': struct }),
    data: object({ kind: text, data: struct, 'metadata?': struct }),
  })
  const message = object({
    kind: oneOf('message'),
    messageId: words,
    'contextId?': words,
    'taskId?': words,
    role: roles.legacy,
    parts: list(part, 1),
    'referenceTaskIds?': list(text),
    ...about,
  })
  const artifact = object({ artifactId: words, 'name?': text, 'description?': text, parts: list(part, 1), ...about })
  const status = object({ state: states.legacy, 'message?': message, timestamp })
  const task = object({
    kind: oneOf('task'),
    id: words,
    contextId: words,
    status,
    'artifacts?': list(artifact),
    'history?': list(message),
    'metadata?': struct,
  })
  const update = { kind: text, taskId: words, contextId: words, 'metadata?': struct }
  const artifactUpdate = object({ ...update, artifact, 'append?': flag, 'lastChunk?': flag })
  return {
    sendResult: byKind('kind', { task, message }),
    event: byKind('kind', {
      task,
      message,
      'status-update': object({ ...update, status, final: flag }),
      'artifact-update': artifactUpdate,
    }),
    task,
    page: undefined,
  }
}

/** REST of 0.2 and 0.3, which is ProtoJSON. */
function proto(): Shapes {
  const file = exactlyOne({ fileWithBytes: base64, fileWithUri: words }, { 'name?': text, 'mimeType?': text })
  const part = exactlyOne({ text, file, data: object({ data: struct }) }, { 'metadata?': struct })
  const message = object({
    messageId: words,
    'contextId?': words,
    'taskId?': words,
    role: roles.current,
    content: list(part, 1),
    ...about,
  })
  const artifact = object({ artifactId: words, 'name?': text, 'description?': text, parts: list(part, 1), ...about })
  const status = object({ state: states.proto, 'message?': message, timestamp })
  const task = object({
    id: words,
    contextId: words,
    status,
    'artifacts?': list(artifact),
    'history?': list(message),
    'metadata?': struct,
  })
  const update = { taskId: words, contextId: words, 'metadata?': struct }
  const statusUpdate = object({ ...update, status, final: flag })
  const artifactUpdate = object({ ...update, artifact, 'append?': flag, 'lastChunk?': flag })
  return {
    sendResult: exactlyOne({ task, message }),
    event: exactlyOne({ task, message, statusUpdate, artifactUpdate }),
    task,
    page: undefined,
  }
}

const tables = { current: current(), legacy: legacy(), proto: proto() }

export function shapesOf(version: VersionId, binding: Binding): Shapes {
  if (version === '1.0') return tables.current
  return binding === 'jsonrpc' ? tables.legacy : tables.proto
}

const modes = list(words, 1)
const skill = { id: words, name: words, description: words, tags: list(words, 1) }

/** Only what every card must have: a merged one has the fields of both generations. */
export function checkCard(
  card: unknown,
  version: VersionId | 'merged',
  complain: (path: string, what: string) => void,
): void {
  const has = (fields: Readonly<Record<string, Check>>): void => {
    const bag = typeof card === 'object' && card !== null ? (card as Record<string, unknown>) : {}
    for (const [name, check] of Object.entries(fields)) check(bag[name], `card.${name}`, complain)
  }
  const skills = list((value, path, report) => {
    for (const [name, check] of Object.entries(skill))
      check((value as Record<string, unknown>)[name], `${path}.${name}`, report)
  }, 1)
  has({ name: words, description: words, version: words, capabilities: struct, skills })
  has({ defaultInputModes: modes, defaultOutputModes: modes })
  if (version === '1.0' || version === 'merged') {
    const face = object({
      url: words,
      protocolBinding: words,
      protocolVersion: oneOf('0.2', '0.3', '1.0'),
      'tenant?': text,
    })
    has({ supportedInterfaces: list(face, 1) })
  }
  if (version !== '1.0') has({ url: words, protocolVersion: words })
}
