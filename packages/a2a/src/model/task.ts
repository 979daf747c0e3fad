/**
 * The A2A data model in the terms and the JSON shape of 1.0. The log holds these objects, and a 1.0 peer reads them unchanged.
 * Other versions are codecs to and from them.
 */
import type { TaskState } from './state.ts'

/** Any JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }
/** A JSON object, as `metadata` and data parts hold it. */
export type Struct = { readonly [key: string]: Json }

/** Who wrote a message: `ROLE_USER` is the client, `ROLE_AGENT` the agent. */
export type Role = 'ROLE_UNSPECIFIED' | 'ROLE_USER' | 'ROLE_AGENT'

interface PartBase {
  readonly metadata?: Struct
  readonly filename?: string
  readonly mediaType?: string
}
/** A part with text. */
export interface TextPart extends PartBase {
  readonly text: string
}
/** A part with inline bytes, as standard base64 with padding. */
export interface RawPart extends PartBase {
  readonly raw: string
}
/** A part with the URL of a file; the reader fetches it. */
export interface UrlPart extends PartBase {
  readonly url: string
}
/** A part with a JSON value. `null` is a legal value: distinguish parts by the presence of the key (J-6). */
export interface DataPart extends PartBase {
  readonly data: Json
}
/** One piece of content of a message or an artifact: `text`, `raw`, `url` or `data`. */
export type Part = TextPart | RawPart | UrlPart | DataPart

/**
 * One message between a client and an agent. The sender chooses `messageId`; the same id with the same content is the same message.
 */
export interface Message {
  readonly messageId: string
  readonly contextId?: string
  readonly taskId?: string
  readonly role: Role
  readonly parts: readonly Part[]
  readonly metadata?: Struct
  readonly extensions?: readonly string[]
  readonly referenceTaskIds?: readonly string[]
}

/** A result of a task: a named list of parts. */
export interface Artifact {
  readonly artifactId: string
  readonly name?: string
  readonly description?: string
  readonly parts: readonly Part[]
  readonly metadata?: Struct
  readonly extensions?: readonly string[]
}

/** The state of a task, with the message that explains it and the time it was set. */
export interface TaskStatus {
  readonly state: TaskState
  readonly message?: Message
  /** UTC with milliseconds and `Z` (J-3). */
  readonly timestamp?: string
}

/** A task: its status, artifacts and messages. `history` and `artifacts` may be omitted or shortened by the request. */
export interface Task {
  readonly id: string
  readonly contextId?: string
  readonly status: TaskStatus
  readonly artifacts?: readonly Artifact[]
  readonly history?: readonly Message[]
  readonly metadata?: Struct
}

/** Stream event: the status of the task changed. */
export interface TaskStatusUpdateEvent {
  readonly taskId: string
  readonly contextId: string
  readonly status: TaskStatus
  readonly metadata?: Struct
}

/**
 * Stream event: an artifact, or a chunk of one. With `append` its parts are added to the artifact with the same id; without, they
 * replace it. `lastChunk` marks the end of the artifact.
 */
export interface TaskArtifactUpdateEvent {
  readonly taskId: string
  readonly contextId: string
  readonly artifact: Artifact
  readonly append?: boolean
  readonly lastChunk?: boolean
  readonly metadata?: Struct
}

/** One event of a stream: exactly one member. */
export type StreamEvent =
  | { readonly task: Task }
  | { readonly message: Message }
  | { readonly statusUpdate: TaskStatusUpdateEvent }
  | { readonly artifactUpdate: TaskArtifactUpdateEvent }

/** The id of the task that an event belongs to; undefined for a direct message. */
export function taskIdOfEvent(event: StreamEvent): string | undefined {
  if ('task' in event) return event.task.id
  if ('statusUpdate' in event) return event.statusUpdate.taskId
  return 'artifactUpdate' in event ? event.artifactUpdate.taskId : undefined
}
