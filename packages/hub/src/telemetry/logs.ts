/**
 * The log of the hub: a line for each thing worth knowing, JSON for programs and text for people, without secrets. Lines of
 * one turn of the event loop are written together; a flood of them is cut off and counted, so that whoever is slow to read
 * them does not slow down the work.
 */
import type { AgentLog } from '@parley/a2a'
import { jsonLine, textLine } from './log-line.ts'
import type { LogLevel } from './log-line.ts'
import { createRedact } from './redact.ts'

export interface LogOptions {
  readonly level: LogLevel
  readonly format: 'json' | 'text'
  /** Values that must never be shown. */
  readonly secrets?: readonly string[]
  /** Whole lines, without the end of the last. */
  write(lines: string): void
  readonly now?: () => number
}

export interface HubLog extends AgentLog {
  /** Writes what waits. */
  flush(): void
}

const order: readonly LogLevel[] = ['debug', 'info', 'warn', 'error']
const mostASecond = 2_000

export function createLog({ level, format, secrets = [], write, now = Date.now }: LogOptions): HubLog {
  const redact = createRedact(secrets)
  const lineOf = format === 'json' ? jsonLine : textLine
  let waiting: string[] = []
  let second = 0
  let told = 0
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

  function isTooMuch(at: number): boolean {
    const current = Math.floor(at / 1_000)
    if (current !== second) {
      second = current
      told = 0
      if (dropped > 0)
        add(lineOf({ at, level: 'warn', message: 'lines of the log were dropped', fields: { dropped } }, redact))
      dropped = 0
    }
    told += 1
    if (told <= mostASecond) return false
    dropped += 1
    return true
  }

  const at = (one: LogLevel): AgentLog[LogLevel] => {
    if (order.indexOf(one) < order.indexOf(level)) return () => {}
    return (message, fields = {}) => {
      const time = now()
      if (isTooMuch(time)) return
      add(lineOf({ at: time, level: one, message, fields }, redact))
      // Whatever comes next may be the end.
      if (one === 'error') flush()
    }
  }

  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error'), flush }
}
