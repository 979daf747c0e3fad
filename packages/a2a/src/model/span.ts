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
/** Of all of them together. */
const mostInAll = 8_000
const longestName = 200

/** What is kept of a name that may be anybody's. */
export function boundName(name: unknown): string {
  return wellFormed(String(name), longestName)
}

/**
 * What is kept of attributes: whoever reports a whole document by mistake must not fill the log with it, and what JSON
 * cannot hold is left out. Never throws: an agent must not fail over what is told about it.
 */
export function boundAttributes(attributes: Struct): Struct {
  const kept: [string, Json][] = []
  let left = mostInAll
  for (const [name, value] of Object.entries(attributes)) {
    const held = bounded(value)
    if (held === undefined) continue
    left -= name.length + (typeof held === 'string' ? held : JSON.stringify(held)).length
    if (left < 0 || kept.length === mostAttributes) break
    kept.push([wellFormed(name, 100), held])
  }
  return Object.fromEntries(kept)
}

function bounded(value: unknown): Json | undefined {
  if (typeof value === 'string') return wellFormed(value, mostCharacters)
  if (typeof value === 'boolean' || value === null) return value
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined
  if (typeof value !== 'object') return undefined
  try {
    const text = JSON.stringify(value)
    if (text === undefined) return undefined
    const whole = wellFormed(text, mostCharacters)
    return whole === text ? (JSON.parse(text) as Json) : whole
  } catch {
    return undefined
  }
}

/** Half a character, and the one that is none, are refused by databases. */
function wellFormed(text: string, most: number): string {
  return text.slice(0, most).toWellFormed().replaceAll('\0', '\ufffd')
}
