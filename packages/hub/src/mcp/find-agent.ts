/** The agent that a tool was told of: by its name here, or by its address. */
import { A2AError } from '@parley/a2a'
import type { ToolCall } from './call.ts'
import type { AgentRef, DeskAgent } from './desk.ts'

export function findAgent(ref: AgentRef, { desk, signal }: Pick<ToolCall, 'desk' | 'signal'>): Promise<DeskAgent> {
  if ('agent' in ref) return desk.agent(ref.agent, signal)
  if (desk.remote === undefined) throw new A2AError('PERMISSION_DENIED', 'Agents elsewhere may not be called from here')
  return desk.remote(ref.url, signal)
}

/** Of two fields of which one must be given. */
export function refOf({
  agent,
  url,
}: {
  readonly agent?: string | undefined
  readonly url?: string | undefined
}): AgentRef {
  if (agent !== undefined && url === undefined) return { agent }
  if (url !== undefined && agent === undefined) return { url }
  const description = 'give the name of an agent, or the url of one elsewhere'
  throw new A2AError('INVALID_PARAMS', description, { violations: [{ field: 'agent', description }] })
}
