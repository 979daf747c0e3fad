/**
 * The records of a task log. `status` and `artifact` are visible: streams and webhooks carry them. The others are internal. Both
 * kinds share one seq, so gaps on the wire are legal.
 */
import type { Span } from './span.ts'
import type { Artifact, Json, Message, Struct, TaskStatus } from './task.ts'

/** The content of a record of a task log, distinguished by `type`. `status` and `artifact` are visible to clients. */
export type RecordBody =
  | { readonly type: 'status'; readonly status: TaskStatus; readonly metadata?: Struct }
  | {
      readonly type: 'artifact'
      readonly artifact: Artifact
      readonly append?: boolean
      readonly lastChunk?: boolean
      readonly metadata?: Struct
    }
  /** The task received a message. `options` is what the turn needs from the request. */
  | { readonly type: 'message'; readonly message: Message; readonly options?: TurnOptions }
  /** A turn over the messages up to `consumedSeq` began, or ended. A turn that began again after a crash has `attempt` > 1. */
  | { readonly type: 'turn-started'; readonly turn: number; readonly attempt: number; readonly consumedSeq: number }
  | {
      readonly type: 'turn-ended'
      readonly turn: number
      readonly reason?: string
      /** Messages up to this seq were dropped with the turn. */
      readonly consumedSeq?: number
    }
  | { readonly type: 'checkpoint'; readonly data: Json }
  | { readonly type: 'question'; readonly questionId: string; readonly turn: number }
  /** `messageSeq` is 0 if the question timed out. */
  | { readonly type: 'answer'; readonly questionId: string; readonly messageSeq: number }
  /** The engine passed a message to a turn that was already running. */
  | { readonly type: 'steered'; readonly messageSeq: number }
  | { readonly type: 'cancel'; readonly metadata?: Struct }
  /** The reason for an event that an operator may ask about later: dropped messages, a lost agent, the text of an error. */
  | { readonly type: 'note'; readonly text: string }
  | { readonly type: 'span'; readonly span: Span }

/** Options of a request that must survive until the turn runs. */
export interface TurnOptions {
  readonly acceptedOutputModes?: readonly string[]
  readonly streamed?: true
  readonly metadata?: Struct
  readonly extensions?: readonly string[]
  readonly scopes?: readonly string[]
  /** The only skills that the caller may use. */
  readonly skills?: readonly string[]
  /** The trace of the request, and the `tracestate` of other systems (W3C Trace Context). */
  readonly traceparent?: string
  readonly tracestate?: string
  /** How the message reached the server, as the server knows it; no message can set it. */
  readonly provenance?: Struct
  /** When the task ends at the latest, whatever state it is in: milliseconds since the epoch. */
  readonly deadlineAt?: number
}

/** A record of a task log: its position, its time in milliseconds since the epoch, and its content. */
export interface LogRecord {
  readonly seq: number
  readonly at: number
  readonly body: RecordBody
}

export function isVisible(body: RecordBody): boolean {
  return body.type === 'status' || body.type === 'artifact'
}
