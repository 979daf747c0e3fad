/** Functions that build reports. Each returns a plain object. */
import { bytesToBase64 } from '../client/attachment-part.ts'
import { newId } from '../model/id.ts'
import { withAuthRequest, withSecretRequest } from '../model/secrets.ts'
import type { CredentialRequest } from '../model/secrets.ts'
import type { Artifact, Json, Part, Struct } from '../model/task.ts'
import type { AgentMessage, Report } from './agent.ts'

/**
 * Structured data, as an artifact of its own. Accepts anything that JSON can hold. The type is `unknown` because an interface is
 * not assignable to a JSON object type.
 */
export function data(value: unknown, options: { readonly mediaType?: string; readonly metadata?: Struct } = {}): Part {
  return { data: value as Json, ...options }
}

export interface FileOptions {
  readonly name?: string
  readonly mediaType?: string
  readonly metadata?: Struct
}

/** A file by its bytes, or by a URL that the client can fetch. */
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

/** A named artifact, whole or in chunks. */
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

export type StateReport = Extract<Report, { readonly state: unknown }>

/** A WORKING update with a message. */
export function status(message: string | AgentMessage, metadata?: Struct): StateReport {
  return { state: 'TASK_STATE_WORKING', message, ...(metadata !== undefined ? { metadata } : {}) }
}

export interface InputOptions {
  /** The answer is a secret: the next turn receives it, and it is stored nowhere. */
  readonly sensitive?: boolean
}

/** Pauses the task until the client's next message, which starts the next turn. */
export function inputRequired(question: string | AgentMessage, options: InputOptions = {}): StateReport {
  const message = options.sensitive === true ? withSecretRequest(toAgentMessageInput(question), newId()) : question
  return { state: 'TASK_STATE_INPUT_REQUIRED', message }
}

/**
 * Pauses the task until the client has obtained what the message explains and `schemes` describes for programs. With `inBand` the
 * client may send the credentials in its next message: the next turn receives them, and they are stored nowhere.
 */
export function authRequired(explanation: string | AgentMessage, options: CredentialRequest = {}): StateReport {
  const asksMore = Object.values(options).some((option) => option !== undefined && option !== false)
  const message = asksMore ? withAuthRequest(toAgentMessageInput(explanation), options) : explanation
  return { state: 'TASK_STATE_AUTH_REQUIRED', message }
}

function toAgentMessageInput(said: string | AgentMessage): AgentMessage {
  return typeof said === 'string' ? { parts: [{ text: said }] } : said
}

export function reject(reason: string | AgentMessage): StateReport {
  return { state: 'TASK_STATE_REJECTED', message: reason }
}

export function fail(reason: string | AgentMessage): StateReport {
  return { state: 'TASK_STATE_FAILED', message: reason }
}

/** A direct message instead of a task, if it is the first report. */
export function reply(message: string | AgentMessage): { readonly reply: string | AgentMessage } {
  return { reply: message }
}
