/** The error for an agent that is not registered. It lists the agents that the caller may see. */
import { A2AError } from '../../model/error.ts'

/** As many names as a person reads and a gRPC trailer holds. */
const maxNames = 50

export function agentNotFoundError(name: string, known: readonly string[]): A2AError {
  return notFoundError(`No agent named ${name}`, known, { agent: name })
}

export function noDefaultAgentError(known: readonly string[]): A2AError {
  return notFoundError('No default agent: name an agent', known)
}

function notFoundError(
  text: string,
  known: readonly string[],
  details: Readonly<Record<string, string>> = {},
): A2AError {
  const agents = known.slice(0, maxNames).join(', ') + (known.length > maxNames ? ', …' : '')
  const hasNames = agents !== ''
  const message = hasNames ? `${text}. Agents: ${agents}` : text
  return new A2AError('AGENT_NOT_FOUND', message, { ...details, ...(hasNames ? { agents } : {}) })
}
