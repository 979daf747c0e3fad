/**
 * Something that took time within a task: a call of a tool, of a model, of another agent. Written to the task's log when it
 * ends, so it lasts as long as its task. The task itself and its turns are spans too, but are not written: whoever reads the
 * log finds them in it.
 */
import type { Json, Struct } from './task.ts'

export type SpanKind = 'hop' | 'tool' | 'model' | 'other'
export type SpanOutcome = 'ok' | 'error' | 'canceled'

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

const mostAttributes = 32
const mostCharacters = 1_000

/** What is kept of attributes: whoever reports a whole document by mistake must not fill the log with it. */
export function boundAttributes(attributes: Struct): Struct {
  const kept = Object.entries(attributes).slice(0, mostAttributes)
  return Object.fromEntries(kept.map(([name, value]) => [name.slice(0, 100), bounded(value)]))
}

function bounded(value: Json): Json {
  if (typeof value === 'string') return value.slice(0, mostCharacters)
  if (typeof value !== 'object' || value === null) return value
  const text = JSON.stringify(value)
  return text.length <= mostCharacters ? value : text.slice(0, mostCharacters)
}
