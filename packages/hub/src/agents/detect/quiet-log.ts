/** A log for detection that discards everything except the last stderr line of a program. */
import type { AgentLog } from '@parley/a2a'

export interface QuietLog extends AgentLog {
  readonly lastLine: string | undefined
}

export function createQuietLog(): QuietLog {
  let lastLine: string | undefined
  const record = (_: string, fields: Record<string, unknown> = {}): void => {
    const { line } = fields
    if (typeof line === 'string' && line.trim() !== '') lastLine = line.trim().slice(0, 200)
  }
  return {
    debug: record,
    info: record,
    warn: record,
    error: record,
    get lastLine() {
      return lastLine
    },
  }
}
