/** A request for an agent that is not there: the answer lists those that the caller may know of. */
import { A2AError } from '../model/error.ts'

/** As many names as a person reads and a gRPC trailer holds. */
const maxNames = 50

export function noSuchAgent(name: string, known: readonly string[]): A2AError {
  return agentNotFound(`No agent named ${name}`, known, { agent: name })
}

export function noDefaultAgent(known: readonly string[]): A2AError {
  return agentNotFound('Name an agent: there is no default agent', known)
}

function agentNotFound(
  text: string,
  known: readonly string[],
  details: Readonly<Record<string, string>> = {},
): A2AError {
  const agents = known.slice(0, maxNames).join(', ') + (known.length > maxNames ? ', …' : '')
  const hasNames = agents !== ''
  const message = hasNames ? `${text}. Agents: ${agents}` : text
  return new A2AError('AGENT_NOT_FOUND', message, { ...details, ...(hasNames ? { agents } : {}) })
}
