/**
 * The chain of agents that led to this task. Derived from the provenance that the hub stored with the message, or from the owner of
 * the task, which only the hub assigns; never from the content of a message.
 */
import type { Message, Struct } from '@parley/a2a'
import { chainFromProvenance } from '../../delegation/chain.ts'
import type { DelegationContext } from './trace-types.ts'

const onBehalf = /^agent:([^|]*)\|/
const maxAgents = 32

/** `undefined` for a task that no agent created. */
export function delegationContextOf(
  message: Pick<Message, 'referenceTaskIds'>,
  owner: string,
  provenance: Struct | undefined,
): DelegationContext | undefined {
  const chain = chainFromProvenance(provenance)
  if (chain !== undefined && chain.visited.length > 0) {
    const { parent: parentTaskId, root: rootTaskId, visited } = chain
    return { parentTaskId, rootTaskId, depth: visited.length, visited: visited.slice(0, maxAgents) }
  }
  const agents = agentsIn(owner)
  if (agents.length === 0) return undefined
  const [parentTaskId] = message.referenceTaskIds ?? []
  return { ...(parentTaskId !== undefined ? { parentTaskId } : {}), depth: agents.length, visited: agents }
}

/** A child belongs to the calling agent on behalf of its caller: the last caller comes first in the owner. */
function agentsIn(owner: string): readonly string[] {
  const agents: string[] = []
  let rest = owner
  for (let found = onBehalf.exec(rest); found !== null && agents.length < maxAgents; found = onBehalf.exec(rest)) {
    agents.unshift(found[1] ?? '')
    rest = rest.slice(found[0].length)
  }
  return agents
}
