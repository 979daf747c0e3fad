/**
 * A timed step within a task: a call of a tool, of a model, of another agent. It is written to the task log when it ends, so it
 * lasts as long as its task. The task and its turns are spans too, but are not written: readers derive them from the log.
 */
import type { TaskState } from './state.ts'
import type { Json, Struct } from './task.ts'

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
