/** Log lines of an agent for the operator, with their task, context and trace (B-171). */
import type { AgentLog } from '../../agents/agent.ts'

export interface TurnLogFields {
  readonly agent: string
  readonly taskId: string
  readonly contextId: string
  readonly traceId: string
}

/** Fields of one line override the common fields. */
export function createTurnLog(log: AgentLog, about: TurnLogFields): AgentLog {
  const at =
    (level: keyof AgentLog): AgentLog[keyof AgentLog] =>
    (message, fields) =>
      log[level](message, { ...about, ...fields })
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}
