/**
 * The log of the hub: one line per event, JSON for programs or text for people, with secrets redacted. Lines of one turn of the
 * event loop are written together. A flood of lines is cut off and counted, so that a slow reader of the log does not slow down the
 * work.
 */
import { type Redactor, redactedText, createRedactor } from './redactor.ts'
import type { AgentLog } from '@parley/a2a'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

export interface LogEntry {
  readonly at: number
  readonly level: LogLevel
  readonly message: string
  readonly fields: Readonly<Record<string, unknown>>
}

const maxTextLength = 2_000
const maxStackLength = 4_000
const maxDepth = 4
const maxItems = 50

/** `cause` is written as `error`; values that are not JSON are written as text. */
function jsonLine({ at, level, message, fields }: LogEntry, redact: Redactor): string {
  const { cause, ...rest } = fields
  const line = {
    time: new Date(at).toISOString(),
    level,
    message: textOf(message, redact),
    ...(toPlain(rest, redact) as object),
    ...(cause !== undefined ? { error: toPlain(cause, redact) } : {}),
  }
  return JSON.stringify(line)
}

function textLine({ at, level, message, fields }: LogEntry, redact: Redactor): string {
  const { cause, ...rest } = fields
  const shown = toPlain(rest, redact) as Record<string, unknown>
  const more = Object.entries(shown).map(
    ([name, value]) => ` ${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  )
  const why = cause === undefined ? '' : `: ${causeText(cause, redact)}`
  return `${new Date(at).toISOString()} ${level.toUpperCase().padEnd(5)} ${textOf(message, redact)}${more.join('')}${why}`
}

function toPlain(value: unknown, redact: Redactor, depth = 0): unknown {
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

function objectOf(value: object, redact: Redactor, depth: number): unknown {
  if (value instanceof Error) return errorOf(value, redact, depth)
  if (value instanceof Date || value instanceof URL) return textOf(value.toJSON() ?? '', redact)
  if (depth >= maxDepth) return Array.isArray(value) ? '[…]' : '{…}'
  if (Array.isArray(value)) return value.slice(0, maxItems).map((one) => toPlain(one, redact, depth + 1))
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, maxItems)
      .map(([name, one]) => [
        name,
        redact.isSecret(name) && hasContent(one) ? redactedText : toPlain(one, redact, depth + 1),
      ]),
  )
}

function hasContent(value: unknown): boolean {
  return value !== undefined && value !== null && typeof value !== 'boolean'
}

/** Our errors have a complete message; for others the stack is included. */
function errorOf(error: Error, redact: Redactor, depth: number): unknown {
  const { name, message, stack, cause } = error
  const code: unknown = (error as { code?: unknown }).code
  return {
    name,
    message: textOf(message, redact),
    ...(typeof code === 'string' || typeof code === 'number' ? { code } : {}),
    ...(isExpectedError(error) || stack === undefined ? {} : { stack: redact.text(withoutInternals(stack)) }),
    ...(cause !== undefined && depth < maxDepth ? { cause: toPlain(cause, redact, depth + 1) } : {}),
  }
}

function causeText(cause: unknown, redact: Redactor, depth = 0): string {
  if (!(cause instanceof Error))
    return typeof cause === 'string' ? textOf(cause, redact) : JSON.stringify(toPlain(cause, redact))
  const under = cause.cause === undefined || depth >= maxDepth ? '' : ` (${causeText(cause.cause, redact, depth + 1)})`
  const said = isExpectedError(cause) ? cause.message : withoutInternals(cause.stack ?? cause.message)
  return `${redact.text(said.slice(0, maxStackLength))}${under}`
}

/** Frames of Node itself explain nothing; an error of a module may have no others. */
function withoutInternals(stack: string): string {
  return stack.slice(0, maxStackLength).replaceAll(/\n[^\S\n]+at [^\n]*\bnode:[^\n]*/g, '')
}

function isExpectedError({ name, code }: Error & { readonly code?: unknown }): boolean {
  // PostgreSQL starts, stops or has no connection left: every query fails so, and its stack says nothing of it.
  if (name === 'error' && /^(08|53|57P)/.test(String(code))) return true
  return name === 'Error' || name === 'A2AError' || name === 'ConfigError'
}

function textOf(text: string, redact: Redactor): string {
  const shown = redact.text(text)
  return shown.length <= maxTextLength ? shown : `${shown.slice(0, maxTextLength)}…`
}

export interface LogOptions {
  readonly level: LogLevel
  readonly format: 'json' | 'text'
  /** Values that must never be printed. */
  readonly secrets?: readonly string[]
  /** Receives whole lines, without the final line break. */
  write(lines: string): void
  /** Receives each line as JSON, for readers other than the output. */
  onLine?(level: LogLevel, json: string): void
  readonly now?: () => number
}

export interface HubLog extends AgentLog {
  /** Hides these values, too: the secrets of another configuration. Earlier ones stay hidden. */
  setSecrets(secrets: readonly string[]): void
  /** The text without secrets, for other output. */
  redact(text: string): string
  /** Writes pending lines. */
  flush(): void
}

/** From the least to the most severe. */
export const logLevels: readonly LogLevel[] = ['debug', 'info', 'warn', 'error']
const maxLinesPerSecond = 2_000

export function createLog({ level, format, secrets = [], write, onLine, now = Date.now }: LogOptions): HubLog {
  let redact = createRedactor(secrets)
  const known = new Set(secrets)
  const lineOf = format === 'json' ? jsonLine : textLine
  let waiting: string[] = []
  let second = 0
  let written = 0
  let dropped = 0

  function flush(): void {
    if (waiting.length === 0) return
    const lines = waiting.join('\n')
    waiting = []
    write(lines)
  }

  function add(line: string): void {
    waiting.push(line)
    if (waiting.length === 1) setImmediate(flush)
  }

  function isOverLimit(at: number): boolean {
    const current = Math.floor(at / 1_000)
    if (current !== second) {
      second = current
      written = 0
      if (dropped > 0)
        add(lineOf({ at, level: 'warn', message: 'log lines were dropped', fields: { dropped } }, redact))
      dropped = 0
    }
    written += 1
    if (written <= maxLinesPerSecond) return false
    dropped += 1
    return true
  }

  const at = (one: LogLevel): AgentLog[LogLevel] => {
    if (logLevels.indexOf(one) < logLevels.indexOf(level)) return () => {}
    return (message, fields = {}) => {
      const time = now()
      if (isOverLimit(time)) return
      const entry = { at: time, level: one, message, fields }
      const line = lineOf(entry, redact)
      add(line)
      onLine?.(one, format === 'json' ? line : jsonLine(entry, redact))
      // The process may end after an error.
      if (one === 'error') flush()
    }
  }

  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    setSecrets(given) {
      for (const secret of given) known.add(secret)
      redact = createRedactor([...known])
    },
    redact: (text) => redact.text(text),
    flush,
  }
}
