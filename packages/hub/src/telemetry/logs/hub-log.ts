/**
 * The log of the hub: one line per event, JSON for programs or text for people, with secrets redacted. Lines of one turn of the
 * event loop are written together. A flood of lines is cut off and counted, so that a slow reader of the log does not slow down the
 * work.
 */
import type { AgentLog } from '@parley/a2a'
import { jsonLine, textLine, type LogLevel } from './log-line.ts'
import { createRedactor } from './redactor.ts'

export interface LogOptions {
  readonly level: LogLevel
  readonly format: 'json' | 'text'
  /** Values that must never be printed. */
  readonly secrets?: readonly string[]
  /** Receives whole lines, without the final line break. */
  write(lines: string): void
  readonly now?: () => number
}

export interface HubLog extends AgentLog {
  /** Writes pending lines. */
  flush(): void
}

const levels: readonly LogLevel[] = ['debug', 'info', 'warn', 'error']
const maxLinesPerSecond = 2_000

export function createLog({ level, format, secrets = [], write, now = Date.now }: LogOptions): HubLog {
  const redact = createRedactor(secrets)
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
    if (levels.indexOf(one) < levels.indexOf(level)) return () => {}
    return (message, fields = {}) => {
      const time = now()
      if (isOverLimit(time)) return
      add(lineOf({ at: time, level: one, message, fields }, redact))
      // The process may end after an error.
      if (one === 'error') flush()
    }
  }

  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error'), flush }
}
