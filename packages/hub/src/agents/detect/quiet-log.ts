/** What is logged while something is tried: nobody reads it, but for the last thing that a program said of its errors. */
import type { AgentLog } from '@parley/a2a'

export interface QuietLog extends AgentLog {
  readonly lastLine: string | undefined
}

export function quietLog(): QuietLog {
  let lastLine: string | undefined
  const hear = (_: string, fields: Record<string, unknown> = {}): void => {
    const { line } = fields
    if (typeof line === 'string' && line.trim() !== '') lastLine = line.trim().slice(0, 200)
  }
  return {
    debug: hear,
    info: hear,
    warn: hear,
    error: hear,
    get lastLine() {
      return lastLine
    },
  }
}
