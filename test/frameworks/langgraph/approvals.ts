/** LangChain's middleware for approvals. Its types do not allow `exactOptionalPropertyTypes`. */
import { humanInTheLoopMiddleware, type AgentMiddleware } from 'langchain'

export function approvals(interruptOn: Readonly<Record<string, boolean>>): AgentMiddleware {
  return humanInTheLoopMiddleware({ interruptOn } as never) as never
}
