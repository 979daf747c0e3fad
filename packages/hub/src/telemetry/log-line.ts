/** One line of the log: as JSON for programs, or as text for people. Pure. */
import type { Redact } from './redact.ts'
import { redacted } from './redact.ts'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

export interface LogEntry {
  readonly at: number
  readonly level: LogLevel
  readonly message: string
  readonly fields: Readonly<Record<string, unknown>>
}

const longestText = 2_000
const longestStack = 4_000
const deepest = 4
const mostItems = 50

/** `cause` is told as `error`; whatever cannot be told otherwise is told as text. */
export function jsonLine({ at, level, message, fields }: LogEntry, redact: Redact): string {
  const { cause, ...rest } = fields
  const line = {
    time: new Date(at).toISOString(),
    level,
    message: textOf(message, redact),
    ...(plain(rest, redact) as object),
    ...(cause !== undefined ? { error: plain(cause, redact) } : {}),
  }
  return JSON.stringify(line)
}

export function textLine({ at, level, message, fields }: LogEntry, redact: Redact): string {
  const { cause, ...rest } = fields
  const shown = plain(rest, redact) as Record<string, unknown>
  const more = Object.entries(shown).map(
    ([name, value]) => ` ${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  )
  const why = cause === undefined ? '' : `: ${causeText(cause, redact)}`
  return `${new Date(at).toISOString()} ${level.toUpperCase().padEnd(5)} ${textOf(message, redact)}${more.join('')}${why}`
}

function plain(value: unknown, redact: Redact, depth = 0): unknown {
  switch (typeof value) {
    case 'string':
      return textOf(value, redact)
    case 'number':
      return Number.isFinite(value) ? value : String(value)
    case 'boolean':
    case 'undefined':
      return value
    case 'bigint':
    case 'symbol':
    case 'function':
      return textOf(String(value), redact)
    case 'object':
      return value === null ? null : objectOf(value, redact, depth)
  }
}

function objectOf(value: object, redact: Redact, depth: number): unknown {
  if (value instanceof Error) return errorOf(value, redact, depth)
  if (value instanceof Date || value instanceof URL) return textOf(value.toJSON() ?? '', redact)
  if (depth >= deepest) return Array.isArray(value) ? '[…]' : '{…}'
  if (Array.isArray(value)) return value.slice(0, mostItems).map((one) => plain(one, redact, depth + 1))
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, mostItems)
      .map(([name, one]) => [name, redact.isSecret(name) && isSaid(one) ? redacted : plain(one, redact, depth + 1)]),
  )
}

function isSaid(value: unknown): boolean {
  return value !== undefined && value !== null && typeof value !== 'boolean'
}

/** Ours say all there is to say; of others the place is worth knowing. */
function errorOf(error: Error, redact: Redact, depth: number): unknown {
  const { name, message, stack, cause } = error
  const code: unknown = (error as { code?: unknown }).code
  return {
    name,
    message: textOf(message, redact),
    ...(typeof code === 'string' || typeof code === 'number' ? { code } : {}),
    ...(isOurs(error) || stack === undefined ? {} : { stack: redact.text(stack.slice(0, longestStack)) }),
    ...(cause !== undefined && depth < deepest ? { cause: plain(cause, redact, depth + 1) } : {}),
  }
}

function causeText(cause: unknown, redact: Redact, depth = 0): string {
  if (!(cause instanceof Error))
    return typeof cause === 'string' ? textOf(cause, redact) : JSON.stringify(plain(cause, redact))
  const under = cause.cause === undefined || depth >= deepest ? '' : ` (${causeText(cause.cause, redact, depth + 1)})`
  const said = isOurs(cause) ? cause.message : (cause.stack ?? cause.message)
  return `${redact.text(said.slice(0, longestStack))}${under}`
}

function isOurs({ name }: Error): boolean {
  return name === 'Error' || name === 'A2AError' || name === 'ConfigError'
}

function textOf(text: string, redact: Redact): string {
  const shown = redact.text(text)
  return shown.length <= longestText ? shown : `${shown.slice(0, longestText)}…`
}
