/**
 * What the log of a task is made of. `status` and `artifact` are visible: they are
 * what streams and webhooks carry. The others are internal. Both are counted by seq,
 * so gaps on the wire are legal.
 */
import type { Span } from './span.ts'
import type { Artifact, Json, Message, Struct, TaskStatus } from './task.ts'

export type RecordBody =
  | { readonly type: 'status'; readonly status: TaskStatus; readonly metadata?: Struct }
  | {
      readonly type: 'artifact'
      readonly artifact: Artifact
      readonly append?: boolean
      readonly lastChunk?: boolean
      readonly metadata?: Struct
    }
  /** A message came in for this task. `options` is what the turn needs to know of the request that brought it. */
  | { readonly type: 'message'; readonly message: Message; readonly options?: TurnOptions }
  /** A turn over the messages up to `consumedSeq` began, or ended. A turn that began again after a crash has `attempt` > 1. */
  | { readonly type: 'turn-started'; readonly turn: number; readonly attempt: number; readonly consumedSeq: number }
  | {
      readonly type: 'turn-ended'
      readonly turn: number
      readonly reason?: string
      /** Messages up to here were dropped with the turn. */
      readonly consumedSeq?: number
    }
  | { readonly type: 'checkpoint'; readonly data: Json }
  | { readonly type: 'question'; readonly questionId: string; readonly turn: number }
  /** `messageSeq` is 0 when nobody answered in time. */
  | { readonly type: 'answer'; readonly questionId: string; readonly messageSeq: number }
  /** A message was handed to the turn that was already running. */
  | { readonly type: 'steered'; readonly messageSeq: number }
  | { readonly type: 'cancel'; readonly metadata?: Struct }
  /** Why something happened that a person may ask about later: dropped messages, a lost agent, an error's text. */
  | { readonly type: 'note'; readonly text: string }
  | { readonly type: 'span'; readonly span: Span }

/** What a request says beside its message that must survive until the turn runs. */
export interface TurnOptions {
  readonly acceptedOutputModes?: readonly string[]
  readonly streamed?: true
  readonly metadata?: Struct
  readonly extensions?: readonly string[]
  readonly scopes?: readonly string[]
  /** The only skills that whoever sent it may use. */
  readonly skills?: readonly string[]
  /** The trace that the request belongs to, and what others keep beside it (W3C Trace Context). */
  readonly traceparent?: string
  readonly tracestate?: string
  /** By which way it came, as the server knows it and no message can say. */
  readonly provenance?: Struct
  /** When the task is ended at the latest, whatever it does or waits for: milliseconds since the epoch. */
  readonly deadlineAt?: number
}

/** A record in the log. `at` is in milliseconds since the epoch. */
export interface LogRecord {
  readonly seq: number
  readonly at: number
  readonly body: RecordBody
}

export function isVisible(body: RecordBody): boolean {
  return body.type === 'status' || body.type === 'artifact'
}
