/** Responses of every dialect in one form, with the original beside it. Reads leniently: whether it is right is for the checks. */
import type { Dialect, JsonObject } from './spelling.ts'
import { isObject } from './encode-request.ts'

export interface TaskView {
  readonly id: string | undefined
  readonly contextId: string | undefined
  /** In the names of 1.0, such as `TASK_STATE_COMPLETED`; another text as it was. */
  readonly state: string | undefined
  readonly timestamp: string | undefined
  readonly statusMessage: MessageView | undefined
  readonly artifacts: readonly ArtifactView[]
  /** `undefined`: the field is absent. */
  readonly history: readonly MessageView[] | undefined
  readonly raw: JsonObject
}

export interface MessageView {
  readonly messageId: string | undefined
  readonly contextId: string | undefined
  readonly taskId: string | undefined
  /** `ROLE_USER` or `ROLE_AGENT`; another text as it was. */
  readonly role: string | undefined
  readonly parts: readonly JsonObject[]
  /** All its text parts. */
  readonly text: string
  readonly raw: JsonObject
}

export interface ArtifactView {
  readonly artifactId: string | undefined
  readonly parts: readonly JsonObject[]
  readonly text: string
  readonly raw: JsonObject
}

/** A result of a send, or one event of a stream. */
export type ResultView =
  | { readonly kind: 'task'; readonly task: TaskView; readonly raw: unknown }
  | { readonly kind: 'message'; readonly message: MessageView; readonly raw: unknown }
  | {
      readonly kind: 'status'
      readonly taskId: string | undefined
      readonly contextId: string | undefined
      readonly state: string | undefined
      readonly message: MessageView | undefined
      /** 0.x only. */
      readonly isFinal: boolean | undefined
      readonly raw: unknown
    }
  | {
      readonly kind: 'artifact'
      readonly taskId: string | undefined
      readonly contextId: string | undefined
      readonly artifact: ArtifactView
      readonly append: boolean
      readonly lastChunk: boolean
      readonly raw: unknown
    }
  | { readonly kind: 'unknown'; readonly raw: unknown }

export const terminalStates: ReadonlySet<string | undefined> = new Set([
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
  'TASK_STATE_REJECTED',
])
export const interruptedStates: ReadonlySet<string | undefined> = new Set([
  'TASK_STATE_INPUT_REQUIRED',
  'TASK_STATE_AUTH_REQUIRED',
])

const members = {
  task: 'task',
  message: 'message',
  msg: 'message',
  statusUpdate: 'status',
  artifactUpdate: 'artifact',
} as const
const kinds: Readonly<Record<string, 'task' | 'message' | 'status' | 'artifact'>> = {
  task: 'task',
  message: 'message',
  'status-update': 'status',
  'artifact-update': 'artifact',
}

export function readResult(dialect: Dialect, raw: unknown): ResultView {
  if (!isObject(raw)) return { kind: 'unknown', raw }
  if (dialect === '0.x json') {
    const kind = typeof raw['kind'] === 'string' ? kinds[raw['kind']] : undefined
    return kind === undefined ? { kind: 'unknown', raw } : viewOf(dialect, kind, raw, raw)
  }
  for (const [member, kind] of Object.entries(members)) {
    const value = raw[member]
    if (isObject(value)) return viewOf(dialect, kind, value, raw)
  }
  return { kind: 'unknown', raw }
}

function viewOf(
  dialect: Dialect,
  kind: 'task' | 'message' | 'status' | 'artifact',
  value: JsonObject,
  raw: unknown,
): ResultView {
  const [taskId, contextId] = [stringOf(value['taskId']), stringOf(value['contextId'])]
  switch (kind) {
    case 'task':
      return { kind, task: readTask(dialect, value), raw }
    case 'message':
      return { kind, message: readMessage(dialect, value), raw }
    case 'status': {
      const status = isObject(value['status']) ? value['status'] : {}
      const message = isObject(status['message']) ? readMessage(dialect, status['message']) : undefined
      // Protobuf omits `false`.
      const isFinal = typeof value['final'] === 'boolean' ? value['final'] : dialect === '0.3 proto' ? false : undefined
      return { kind, taskId, contextId, state: readState(status['state']), message, isFinal, raw }
    }
    case 'artifact':
      return {
        kind,
        taskId,
        contextId,
        artifact: readArtifact(dialect, isObject(value['artifact']) ? value['artifact'] : {}),
        append: value['append'] === true,
        lastChunk: value['lastChunk'] === true,
        raw,
      }
  }
}

export function readTask(dialect: Dialect, raw: unknown): TaskView {
  const value = isObject(raw) ? raw : {}
  const status = isObject(value['status']) ? value['status'] : {}
  return {
    id: stringOf(value['id']),
    contextId: stringOf(value['contextId']),
    state: readState(status['state']),
    timestamp: stringOf(status['timestamp']),
    statusMessage: isObject(status['message']) ? readMessage(dialect, status['message']) : undefined,
    artifacts: objects(value['artifacts']).map((artifact) => readArtifact(dialect, artifact)),
    history:
      value['history'] === undefined
        ? undefined
        : objects(value['history']).map((message) => readMessage(dialect, message)),
    raw: value,
  }
}

export function readMessage(dialect: Dialect, raw: JsonObject): MessageView {
  const parts = objects(dialect === '0.3 proto' ? (raw['content'] ?? raw['parts']) : raw['parts'])
  const role = stringOf(raw['role'])
  return {
    messageId: stringOf(raw['messageId']),
    contextId: stringOf(raw['contextId']),
    taskId: stringOf(raw['taskId']),
    role: role === 'user' ? 'ROLE_USER' : role === 'agent' ? 'ROLE_AGENT' : role,
    parts,
    text: textOf(parts),
    raw,
  }
}

function readArtifact(_dialect: Dialect, raw: JsonObject): ArtifactView {
  const parts = objects(raw['parts'])
  return { artifactId: stringOf(raw['artifactId']), parts, text: textOf(parts), raw }
}

function readState(state: unknown): string | undefined {
  if (typeof state !== 'string') return undefined
  if (state === 'TASK_STATE_CANCELLED') return 'TASK_STATE_CANCELED'
  if (state === 'unknown') return 'TASK_STATE_UNSPECIFIED'
  return /^[a-z-]+$/.test(state) ? `TASK_STATE_${state.replaceAll('-', '_').toUpperCase()}` : state
}

const textOf = (parts: readonly JsonObject[]): string =>
  parts.flatMap(({ text }) => (typeof text === 'string' ? [text] : [])).join('')

const objects = (value: unknown): readonly JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : [])
const stringOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)
