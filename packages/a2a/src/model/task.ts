/**
 * The A2A data model in the terms and the JSON shape of 1.0. The log holds these objects, and a 1.0 peer reads them unchanged.
 * Other versions are codecs to and from them.
 */
import type { TaskState } from './state.ts'

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }
export type Struct = { readonly [key: string]: Json }

export type Role = 'ROLE_UNSPECIFIED' | 'ROLE_USER' | 'ROLE_AGENT'

interface PartBase {
  readonly metadata?: Struct
  readonly filename?: string
  readonly mediaType?: string
}
export interface TextPart extends PartBase {
  readonly text: string
}
/** Inline bytes as standard base64 with padding. */
export interface RawPart extends PartBase {
  readonly raw: string
}
export interface UrlPart extends PartBase {
  readonly url: string
}
/** `null` is a legal value: distinguish parts by the presence of the key (J-6). */
export interface DataPart extends PartBase {
  readonly data: Json
}
export type Part = TextPart | RawPart | UrlPart | DataPart

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

export interface Artifact {
  readonly artifactId: string
  readonly name?: string
  readonly description?: string
  readonly parts: readonly Part[]
  readonly metadata?: Struct
  readonly extensions?: readonly string[]
}

export interface TaskStatus {
  readonly state: TaskState
  readonly message?: Message
  /** UTC with milliseconds and `Z` (J-3). */
  readonly timestamp?: string
}

export interface Task {
  readonly id: string
  readonly contextId?: string
  readonly status: TaskStatus
  readonly artifacts?: readonly Artifact[]
  readonly history?: readonly Message[]
  readonly metadata?: Struct
}

export interface TaskStatusUpdateEvent {
  readonly taskId: string
  readonly contextId: string
  readonly status: TaskStatus
  readonly metadata?: Struct
}

export interface TaskArtifactUpdateEvent {
  readonly taskId: string
  readonly contextId: string
  readonly artifact: Artifact
  readonly append?: boolean
  readonly lastChunk?: boolean
  readonly metadata?: Struct
}

/** An event of a stream: exactly one member. */
export type StreamEvent =
  | { readonly task: Task }
  | { readonly message: Message }
  | { readonly statusUpdate: TaskStatusUpdateEvent }
  | { readonly artifactUpdate: TaskArtifactUpdateEvent }
