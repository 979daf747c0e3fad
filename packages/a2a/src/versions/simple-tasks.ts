/**
 * Simple tasks, a small REST API: one text in, one flat task out, with four states and all messages (S0-1…S0-5). A codec like those of
 * the versions: pure, and shared by the hub's routes and `@parley/a2a/simple`. The client side is simple-tasks-client.ts.
 */
import { isStruct } from '../model/struct.ts'
import { newId } from '../model/id.ts'
import type { LogRecord } from '../model/record.ts'
import { isInterrupted, type TaskState } from '../model/state.ts'
import type { Artifact, Message, Part, Task } from '../model/task.ts'
import { addViolation, integer, list, readRequestPayload, text, mapRead, type FieldReader } from './read.ts'
import { required, shape } from './shape.ts'

/** The state of a flat task. It only moves forward: `submitted`, `working`, then `completed` or `failed`. */
export type A2ATaskState = 'submitted' | 'working' | 'completed' | 'failed'

/** A message of a flat task: its role and its texts. */
export interface A2AMessage {
  role: 'user' | 'agent'
  parts: { type: 'text'; text: string }[]
}

/** A flat task: its state and messages, instead of a status with a message, artifacts and a history. */
export interface A2ATask {
  id: string
  state: A2ATaskState
  messages: A2AMessage[]
  /** The session, or the context of the protocol; `null` until there is one. */
  sessionId: string | null
  /** The origin of the session: `agent` for tasks from these routes. */
  source?: string
  /** ISO 8601. */
  createdAt: string
  /** ISO 8601. Changes with the state and with every message. */
  updatedAt: string
}

/** The body of `POST /a2a/tasks/send`. The members of `params` are also read without the envelope. */
export interface A2ATaskSendRequest {
  method?: 'tasks/send'
  params: {
    message: string
    /** The id of the skill of the card that the message is for. */
    skill?: string
    /** Default: 300,000. */
    timeoutMs?: number
  }
}

/** A decoded request: the texts of its message, and its options. */
export interface TaskSend {
  /** The text parts of the message, at least one. */
  readonly texts: readonly string[]
  /** The id of the skill that the message is for. */
  readonly skill?: string
  /** How long the task may take, in milliseconds: 300,000 if the request names none. */
  readonly timeoutMs: number
}

const defaultTimeoutMs = 300_000
const maxTimeoutMs = 86_400_000

/** A task that waits for the caller counts as working (S0-15). */
const flatStates: Readonly<Partial<Record<TaskState, A2ATaskState>>> = {
  TASK_STATE_SUBMITTED: 'submitted',
  TASK_STATE_COMPLETED: 'completed',
  TASK_STATE_FAILED: 'failed',
  TASK_STATE_CANCELED: 'failed',
  TASK_STATE_REJECTED: 'failed',
}

const nonEmpty: FieldReader<string> = (reader, value) =>
  value === '' ? addViolation(reader, 'must not be empty') : text(reader, value)

const texts: FieldReader<readonly string[]> = (reader, value) => {
  if (isStruct(value)) return textParts(reader, value)
  const said = nonEmpty(reader, value)
  return said === undefined ? undefined : [said]
}
const textParts = mapRead(
  shape<{ readonly parts: readonly { readonly text: string }[] }>({
    parts: required(list(shape<{ readonly text: string }>({ text: required(nonEmpty) }), 1)),
  }),
  ({ parts }) => (parts ?? []).map((part) => part.text),
)

interface TaskSendFields {
  readonly message: readonly string[]
  readonly skill?: string
  readonly timeoutMs?: number
}
const taskSend = shape<TaskSendFields>({
  message: required(texts),
  skill: nonEmpty,
  timeoutMs: integer(1, maxTimeoutMs),
})

/** Reads the body of a submission, in its envelope or bare (S0-4). Throws INVALID_PARAMS. */
export function readTaskSend(body: unknown): TaskSend {
  const inner = isStruct(body) && isStruct(body['params']) ? body['params'] : body
  const { message, skill, timeoutMs = defaultTimeoutMs } = readRequestPayload(taskSend, inner)
  return { texts: message, ...(skill !== undefined ? { skill } : {}), timeoutMs }
}

/**
 * Converts a submission to a message of the protocol. Its metadata `source: 'agent'` distinguishes sessions opened for
 * agents from those of people (S0-27).
 */
export function messageOfTaskSend({ texts: said, skill }: TaskSend): Message {
  return {
    messageId: newId(),
    role: 'ROLE_USER',
    parts: said.map((each) => ({ text: each })),
    metadata: { source: 'agent', ...(skill !== undefined ? { skillId: skill } : {}) },
  }
}

/** Data from the log for the flat form of a task. */
export interface FlatTaskOptions {
  /** The task's records, as far as the log still has them: `updatedAt` is the time of the last visible one. */
  readonly records?: readonly LogRecord[]
  /** Whether each text that the agent yields is a message of its own, rather than a piece of one. Default false. */
  readonly textsAreMessages?: boolean
}

/** Converts a task of the protocol to its flat form. */
export function flatTask(task: Task, { records = [], textsAreMessages = false }: FlatTaskOptions = {}): A2ATask {
  const { id, contextId, status, history = [], artifacts = [] } = task
  const changed = records.findLast(({ body }) => /^(status|artifact|message)$/.test(body.type))
  const updatedAt = changed === undefined ? (status.timestamp ?? isoTime(0)) : isoTime(changed.at)
  const said = (artifact: Artifact): A2AMessage[] => {
    const pieces = textsAreMessages ? yieldedMessages(artifact, records) : []
    return pieces.length > 0 ? pieces : flatMessageOf(artifact.parts, 'agent')
  }
  return {
    id,
    state: flatStates[status.state] ?? 'working',
    messages: [...history.flatMap(flatMessage), ...artifacts.flatMap(said), ...lastStatusMessage(task)],
    sessionId: contextId ?? null,
    source: sourceOf(history),
    createdAt: createdAtOf(id) ?? updatedAt,
    updatedAt,
  }
}

const isoTime = (at: number): string => new Date(at).toISOString()

function flatMessage(message: Message): A2AMessage[] {
  return flatMessageOf(message.parts, message.role === 'ROLE_USER' ? 'user' : 'agent')
}

/** One message per yielded text; none if the log was pruned or another turn restarted the artifact. */
function yieldedMessages({ artifactId }: Artifact, records: readonly LogRecord[]): A2AMessage[] {
  const chunks = records.flatMap(({ body }) =>
    body.type === 'artifact' && body.artifact.artifactId === artifactId ? [body] : [],
  )
  const begins = chunks.findLastIndex(({ append }) => append !== true)
  return begins < 0 ? [] : chunks.slice(begins).flatMap(({ artifact }) => flatMessageOf(artifact.parts, 'agent'))
}

/** The status message is in the history only once the next one has come. */
function lastStatusMessage({ status, history = [] }: Task): A2AMessage[] {
  const { message, state } = status
  const isKept = history.some(({ messageId }) => messageId === message?.messageId)
  if (message === undefined || isKept) return []
  // A response that is also an artifact must not be hidden behind "working on it".
  return flatStates[state] === undefined && !isInterrupted(state) ? [] : flatMessageOf(message.parts, 'agent')
}

function flatMessageOf(parts: readonly Part[], role: A2AMessage['role']): A2AMessage[] {
  const said = parts.flatMap((part) => {
    if ('text' in part) return part.text === '' ? [] : [part.text]
    return 'data' in part ? [JSON.stringify(part.data)] : []
  })
  return said.length === 0 ? [] : [{ role, parts: said.map((each) => ({ type: 'text', text: each })) }]
}

function sourceOf([first]: readonly Message[]): string {
  const source = first?.metadata?.['source']
  return typeof source === 'string' ? source : 'user'
}

/** Ids created here begin with the time (UUIDv7). */
function createdAtOf(id: string): string | undefined {
  const time = /^([\da-f]{8})-([\da-f]{4})-7/.exec(id)
  return time === null ? undefined : isoTime(Number.parseInt(`${time[1]}${time[2]}`, 16))
}
