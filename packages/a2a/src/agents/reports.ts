/** Functions that build reports. Each returns a plain object. */
import { bytesToBase64 } from '../client/attachment-part.ts'
import { newId } from '../model/id.ts'
import { withAuthRequest, withSecretRequest, type CredentialRequest } from '../model/secrets.ts'
import type { Artifact, Json, Part, Struct } from '../model/task.ts'
import type { AgentMessage, Report } from './agent.ts'

/**
 * Reports structured data, as an artifact of its own.
 *
 * Accepts anything that JSON can hold. The type is `unknown` because an interface is not assignable to a JSON object type.
 *
 * @example
 * ```ts
 * yield data({ city: 'Oslo', celsius: 4 })
 * ```
 */
export function data(value: unknown, options: { readonly mediaType?: string; readonly metadata?: Struct } = {}): Part {
  return { data: value as Json, ...options }
}

/** Options of `file`. */
export interface FileOptions {
  /** The file name that the client sees. */
  readonly name?: string
  readonly mediaType?: string
  readonly metadata?: Struct
}

/**
 * Reports a file, as an artifact of its own: by its bytes, or by a URL that the client can fetch. A string is a URL.
 *
 * @example
 * ```ts
 * yield file(new TextEncoder().encode('a,b\n1,2'), { name: 'table.csv', mediaType: 'text/csv' })
 * yield file('https://files.example.com/report.pdf', { mediaType: 'application/pdf' })
 * ```
 */
export function file(content: Uint8Array | ArrayBuffer | URL | string, options: FileOptions = {}): Part {
  const { name, mediaType, metadata } = options
  const about = {
    ...(name !== undefined ? { filename: name } : {}),
    ...(mediaType !== undefined ? { mediaType } : {}),
    ...(metadata !== undefined ? { metadata } : {}),
  }
  if (typeof content === 'string' || content instanceof URL) return { url: String(content), ...about }
  return { raw: bytesToBase64(content instanceof Uint8Array ? content : new Uint8Array(content)), ...about }
}

/** Options of `artifact`. The parts are `parts`, then `text`, then `data`; with none of them, an empty text. */
export interface ArtifactOptions {
  readonly text?: string
  readonly data?: unknown
  readonly parts?: readonly Part[]
  readonly name?: string
  readonly description?: string
  readonly metadata?: Struct
  /** Appends to the artifact instead of replacing it. */
  readonly append?: boolean
  /** This chunk is the last: the artifact is complete. */
  readonly last?: boolean
}

/**
 * Reports a named artifact, whole or in chunks. A report with an id that the task already has replaces that artifact unless it
 * sets `append`.
 *
 * @example
 * ```ts
 * yield artifact('report', { name: 'Report', text: 'First line\n' })
 * yield artifact('report', { text: 'Second line\n', append: true })
 * yield artifact('report', { last: true })
 * ```
 */
export function artifact(artifactId: string, options: ArtifactOptions): Exclude<Report, string | Part> {
  const { text, data: value, parts = [], name, description, metadata, append, last } = options
  const all: Part[] = [
    ...parts,
    ...(text !== undefined ? [{ text }] : []),
    ...(value !== undefined ? [{ data: value as Json }] : []),
  ]
  const body: Artifact = {
    artifactId,
    ...(name !== undefined ? { name } : {}),
    ...(description !== undefined ? { description } : {}),
    // A bare `{ last: true }` closes the artifact: an empty text adds nothing to it.
    parts: all.length > 0 ? all : [{ text: '' }],
    ...(metadata !== undefined ? { metadata } : {}),
  }
  const closesOnly = all.length === 0 && last === true
  return {
    artifact: body,
    ...(append === true || closesOnly ? { append: true } : {}),
    ...(last === true ? { lastChunk: true } : {}),
  }
}

/** A report that sets the state of the task, with an optional message. */
export type StateReport = Extract<Report, { readonly state: unknown }>

/**
 * Reports progress: sets WORKING with a message.
 *
 * @example
 * ```ts
 * yield status('Reading page 3 of 10')
 * ```
 */
export function status(message: string | AgentMessage, metadata?: Struct): StateReport {
  return { state: 'TASK_STATE_WORKING', message, ...(metadata !== undefined ? { metadata } : {}) }
}

/** Options of `inputRequired`. */
export interface InputOptions {
  /** The answer is a secret: the next turn receives it, and it is stored nowhere. */
  readonly sensitive?: boolean
}

/**
 * Pauses the task until the client's next message, which starts the next turn. The turn ends with this report. The question is
 * durable; to wait for the answer inside the turn, use `turn.ask`.
 *
 * @example
 * ```ts
 * if (!/\d/.test(text)) return inputRequired('For how many people?')
 * ```
 */
export function inputRequired(question: string | AgentMessage, options: InputOptions = {}): StateReport {
  const message = options.sensitive === true ? withSecretRequest(toAgentMessageInput(question), newId()) : question
  return { state: 'TASK_STATE_INPUT_REQUIRED', message }
}

/**
 * Pauses the task until the client has obtained credentials. The message explains which ones to a person, and `schemes` to a
 * program. With `inBand` the client may send them in its next message: the next turn receives them, and they are stored nowhere.
 *
 * @example
 * ```ts
 * yield authRequired('Sign in at https://id.example.com, then send any message')
 * ```
 */
export function authRequired(explanation: string | AgentMessage, options: CredentialRequest = {}): StateReport {
  return { state: 'TASK_STATE_AUTH_REQUIRED', message: withAuthRequest(toAgentMessageInput(explanation), options) }
}

function toAgentMessageInput(said: string | AgentMessage): AgentMessage {
  return typeof said === 'string' ? { parts: [{ text: said }] } : said
}

/** Ends the task as REJECTED: the agent does not do this work. The client gets the reason. */
export function reject(reason: string | AgentMessage): StateReport {
  return { state: 'TASK_STATE_REJECTED', message: reason }
}

/**
 * Ends the task as FAILED. The client gets the reason; put no secret into it. Operators also see `cause`, such as the error that the
 * agent caught: it is written to the log of the task and never sent.
 */
export function fail(reason: string | AgentMessage, { cause }: { readonly cause?: unknown } = {}): StateReport {
  return { state: 'TASK_STATE_FAILED', message: reason, ...(cause !== undefined ? { cause } : {}) }
}

/**
 * Answers with a direct Message instead of a task, if it is the first report. If the task is already open, the message becomes that
 * of COMPLETED.
 *
 * @example
 * ```ts
 * const greeter = () => reply('Hello!')
 * ```
 */
export function reply(message: string | AgentMessage): { readonly reply: string | AgentMessage } {
  return { reply: message }
}
