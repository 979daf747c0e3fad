/**
 * The records of a task log. `status` and `artifact` are visible: streams and webhooks carry them. The others are internal. Both
 * kinds share one seq, so gaps on the wire are legal. Spans, the timed steps of a task, are records too.
 */
import type { TaskState } from './state.ts'
import type { Artifact, Json, Message, StreamEvent, Struct, TaskStatus } from './task.ts'

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
  /** A value of `turn.store`. Without `value` the entry was deleted. */
  | { readonly type: 'stored'; readonly key: string; readonly value?: Json }
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

/** The event of a record, or `undefined` if the record is internal. */
export function eventOfRecord(taskId: string, contextId: string, body: RecordBody): StreamEvent | undefined {
  if (body.type === 'status') {
    const { type: _, ...rest } = body
    return { statusUpdate: { taskId, contextId, ...rest } }
  }
  if (body.type === 'artifact') {
    const { type: _, ...rest } = body
    return { artifactUpdate: { taskId, contextId, ...rest } }
  }
  return undefined
}

// A timed step within a task: a call of a tool, of a model, of another agent. It is written to the task log when it ends, so it
// lasts as long as its task. The task and its turns are spans too, but are not written: readers derive them from the log.

/** What a span times: a call of another agent (`hop`), of a tool, of a model, or another step. */
export type SpanKind = 'hop' | 'tool' | 'model' | 'other'
/** How a span ended. */
export type SpanOutcome = 'ok' | 'error' | 'canceled'

/** The outcome of the span of a task or turn that is in `state`. */
export function spanOutcomeOf(state: TaskState | undefined): SpanOutcome {
  if (state === 'TASK_STATE_CANCELED') return 'canceled'
  return state === 'TASK_STATE_FAILED' || state === 'TASK_STATE_REJECTED' ? 'error' : 'ok'
}

/** A timed step within a task, as the task log holds it. */
export interface Span {
  /** 16 hex digits, as W3C Trace Context has them. */
  readonly spanId: string
  readonly parentId: string
  readonly name: string
  readonly kind: SpanKind
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  readonly endedAt: number
  readonly outcome: SpanOutcome
  readonly attributes?: Struct
}

const maxAttributes = 32
const maxCharacters = 1_000
/** The limit of all attributes together. */
const maxTotalCharacters = 8_000
const maxNameLength = 200

/** Limits a name, which may come from any source. */
export function boundName(name: unknown): string {
  return wellFormed(String(name), maxNameLength)
}

/**
 * Limits attributes, so that an agent that reports a whole document by mistake does not fill the log. Values that JSON cannot hold
 * are left out. Never throws: an agent must not fail because of its telemetry.
 */
export function boundAttributes(attributes: Struct): Struct {
  const kept: [string, Json][] = []
  let left = maxTotalCharacters
  for (const [name, value] of Object.entries(attributes)) {
    const held = boundValue(value)
    if (held === undefined) continue
    left -= name.length + (typeof held === 'string' ? held : JSON.stringify(held)).length
    if (left < 0 || kept.length === maxAttributes) break
    kept.push([wellFormed(name, 100), held])
  }
  return Object.fromEntries(kept)
}

function boundValue(value: unknown): Json | undefined {
  if (typeof value === 'string') return wellFormed(value, maxCharacters)
  if (typeof value === 'boolean' || value === null) return value
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined
  if (typeof value !== 'object') return undefined
  try {
    const text = JSON.stringify(value)
    if (text === undefined) return undefined
    const whole = wellFormed(text, maxCharacters)
    return whole === text ? (JSON.parse(text) as Json) : whole
  } catch {
    return undefined
  }
}

/** Databases refuse lone surrogates and NUL. */
function wellFormed(text: string, most: number): string {
  return text.slice(0, most).toWellFormed().replaceAll('\0', '\ufffd')
}
