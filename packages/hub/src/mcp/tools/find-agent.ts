/** Finds the agent that a tool call names: by its name, or by its address. */
import { A2AError } from '@parley/a2a'
import type { McpToolCall } from './tool.ts'
import type { AgentRef, DirectoryAgent } from '../directory/agent-directory.ts'

export function findAgent(
  ref: AgentRef,
  { directory, signal }: Pick<McpToolCall, 'directory' | 'signal'>,
): Promise<DirectoryAgent> {
  if ('agent' in ref) return directory.agent(ref.agent, signal)
  if (directory.remote === undefined)
    throw new A2AError('PERMISSION_DENIED', 'Calling remote agents is not allowed here')
  return directory.remote(ref.url, signal)
}

/** Exactly one of the two fields must be set. */
export function agentRefOf({
  agent,
  url,
}: {
  readonly agent?: string | undefined
  readonly url?: string | undefined
}): AgentRef {
  if (agent !== undefined && url === undefined) return { agent }
  if (url !== undefined && agent === undefined) return { url }
  const description = 'set agent to a name, or url to the URL of a remote agent'
  throw new A2AError('INVALID_PARAMS', description, { violations: [{ field: 'agent', description }] })
}
