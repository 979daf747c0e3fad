/**
 * The simple REST façade: one text in, one flat task out, with four states and everything that was said (S0-1…S0-5). A codec
 * like those of the versions: pure, and shared by the hub's routes and `@parley/a2a/simple`. The calling half is simple-peer.ts.
 */
import { newId } from '../model/id.ts'
import type { LogRecord } from '../model/record.ts'
import { isInterrupted } from '../model/state.ts'
import type { TaskState } from '../model/state.ts'
import type { Artifact, Message, Part, Task } from '../model/task.ts'
import { complain, integer, isBag, list, readRequest, text, then } from './read.ts'
import type { Read } from './read.ts'
import { required, shape } from './shape.ts'

/** The state of a flat task. It only moves forward: `submitted`, `working`, then `completed` or `failed`. */
export type A2ATaskState = 'submitted' | 'working' | 'completed' | 'failed'

/** A message of a flat task: its role and its texts. */
export interface A2AMessage {
  role: 'user' | 'agent'
  parts: { type: 'text'; text: string }[]
}

/** A flat task: its state beside what was said, instead of a status with a message, artifacts and a history. */
export interface A2ATask {
  id: string
  state: A2ATaskState
  messages: A2AMessage[]
  /** The session, or the context of the protocol; `null` until there is one. */
  sessionId: string | null
  /** What the session was opened for: `agent` for tasks that came by these routes. */
  source?: string
  /** ISO 8601. */
  createdAt: string
  /** ISO 8601. Moves with the state and with every message. */
  updatedAt: string
}

/** The body of `POST /a2a/tasks/send`. The members of `params` are also read without the envelope. */
export interface A2ATaskSendRequest {
  method?: 'tasks/send'
  params: {
    message: string
    /** Of the card's skills, the one that is meant. */
    skill?: string
    /** Default: 300,000. */
    timeoutMs?: number
  }
}

/** A request as it was read: the texts of its message, and what it asks for. */
export interface TaskSend {
  readonly texts: readonly string[]
  readonly skill?: string
  readonly timeoutMs: number
}

const defaultTimeoutMs = 300_000
const maxTimeoutMs = 86_400_000

/** What waits for the caller is still at work (S0-15). */
const flatStates: Readonly<Partial<Record<TaskState, A2ATaskState>>> = {
  TASK_STATE_SUBMITTED: 'submitted',
  TASK_STATE_COMPLETED: 'completed',
  TASK_STATE_FAILED: 'failed',
  TASK_STATE_CANCELED: 'failed',
  TASK_STATE_REJECTED: 'failed',
}

const nonEmpty: Read<string> = (reader, value) =>
  value === '' ? complain(reader, 'must not be empty') : text(reader, value)

const texts: Read<readonly string[]> = (reader, value) => {
  if (isBag(value)) return textParts(reader, value)
  const said = nonEmpty(reader, value)
  return said === undefined ? undefined : [said]
}
const textParts = then(
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
  const inner = isBag(body) && isBag(body['params']) ? body['params'] : body
  const { message, skill, timeoutMs = defaultTimeoutMs } = readRequest(taskSend, inner)
  return { texts: message, ...(skill !== undefined ? { skill } : {}), timeoutMs }
}

/** The message that a submission means. Sessions opened for agents are told apart from those of people (S0-27). */
export function messageOfTaskSend({ texts: said, skill }: TaskSend): Message {
  return {
    messageId: newId(),
    role: 'ROLE_USER',
    parts: said.map((each) => ({ text: each })),
    metadata: { source: 'agent', ...(skill !== undefined ? { skillId: skill } : {}) },
  }
}

/** What the log adds to a task for its flat form. */
export interface FlatTaskOptions {
  /** The task's records, as far as the log still has them: `updatedAt` is the time of the last one that shows. */
  readonly records?: readonly LogRecord[]
  /** Whether each text that the agent yields is a message of its own, rather than a piece of one. Default false. */
  readonly textsAreMessages?: boolean
}

/** A task of the protocol in its flat form. */
export function flatTask(task: Task, { records = [], textsAreMessages = false }: FlatTaskOptions = {}): A2ATask {
  const { id, contextId, status, history = [], artifacts = [] } = task
  const changed = records.findLast(({ body }) => /^(status|artifact|message)$/.test(body.type))
  const updatedAt = changed === undefined ? (status.timestamp ?? timeAt(0)) : timeAt(changed.at)
  const said = (artifact: Artifact): A2AMessage[] => {
    const pieces = textsAreMessages ? piecesOf(artifact, records) : []
    return pieces.length > 0 ? pieces : messageOf(artifact.parts, 'agent')
  }
  return {
    id,
    state: flatStates[status.state] ?? 'working',
    messages: [...history.flatMap(flatMessage), ...artifacts.flatMap(said), ...lastWord(task)],
    sessionId: contextId ?? null,
    source: sourceOf(history),
    createdAt: createdAtOf(id) ?? updatedAt,
    updatedAt,
  }
}

const timeAt = (at: number): string => new Date(at).toISOString()

function flatMessage(message: Message): A2AMessage[] {
  return messageOf(message.parts, message.role === 'ROLE_USER' ? 'user' : 'agent')
}

/** As it was yielded, one message for each; none where the log was pruned or the artifact was begun anew by another turn. */
function piecesOf({ artifactId }: Artifact, records: readonly LogRecord[]): A2AMessage[] {
  const chunks = records.flatMap(({ body }) =>
    body.type === 'artifact' && body.artifact.artifactId === artifactId ? [body] : [],
  )
  const begins = chunks.findLastIndex(({ append }) => append !== true)
  return begins < 0 ? [] : chunks.slice(begins).flatMap(({ artifact }) => messageOf(artifact.parts, 'agent'))
}

/** The status message is in the history only once the next one has come. */
function lastWord({ status, history = [] }: Task): A2AMessage[] {
  const { message, state } = status
  const isKept = history.some(({ messageId }) => messageId === message?.messageId)
  if (message === undefined || isKept) return []
  // An answer that is also there as an artifact is not to hide behind "working on it".
  return flatStates[state] === undefined && !isInterrupted(state) ? [] : messageOf(message.parts, 'agent')
}

function messageOf(parts: readonly Part[], role: A2AMessage['role']): A2AMessage[] {
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

/** Ids made here begin with the time (UUIDv7). */
function createdAtOf(id: string): string | undefined {
  const time = /^([\da-f]{8})-([\da-f]{4})-7/.exec(id)
  return time === null ? undefined : timeAt(Number.parseInt(`${time[1]}${time[2]}`, 16))
}
