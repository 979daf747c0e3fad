/** What an agent says to whoever runs it, with what it was about: task, conversation and trace (B-171). */
import type { AgentLog } from '../agents/agent.ts'

export interface LogAbout {
  readonly agent: string
  readonly taskId: string
  readonly contextId: string
  readonly traceId: string
}

/** What is said of one line wins over what is said of all. */
export function turnLog(log: AgentLog, about: LogAbout): AgentLog {
  const at =
    (level: keyof AgentLog): AgentLog[keyof AgentLog] =>
    (message, fields) =>
      log[level](message, { ...about, ...fields })
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}
