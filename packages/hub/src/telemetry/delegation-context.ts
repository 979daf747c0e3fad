/**
 * Who called whom until this task was made. Told by what the hub itself wrote beside the message when it let it in, or by the
 * name of the task's owner, which only the hub gives; never by what a message says of itself.
 */
import type { Message, Struct } from '@parley/a2a'
import { chainIn } from '../delegation/chain.ts'
import type { DelegationContext } from './contract.ts'

const onBehalf = /^agent:([^|]*)\|/
const mostNames = 32

/** Nothing for a task that no agent made. */
export function delegationOf(
  message: Pick<Message, 'referenceTaskIds'>,
  owner: string,
  provenance: Struct | undefined,
): DelegationContext | undefined {
  const chain = chainIn(provenance)
  if (chain !== undefined && chain.visited.length > 0) {
    const { parent: parentTaskId, root: rootTaskId, visited } = chain
    return { parentTaskId, rootTaskId, depth: visited.length, visited: visited.slice(0, mostNames) }
  }
  const agents = agentsIn(owner)
  if (agents.length === 0) return undefined
  const [parentTaskId] = message.referenceTaskIds ?? []
  return { ...(parentTaskId !== undefined ? { parentTaskId } : {}), depth: agents.length, visited: agents }
}

/** A child belongs to the agent that calls, on behalf of whoever called that: the last caller's name stands first. */
function agentsIn(owner: string): readonly string[] {
  const agents: string[] = []
  let rest = owner
  for (let found = onBehalf.exec(rest); found !== null && agents.length < mostNames; found = onBehalf.exec(rest)) {
    agents.unshift(found[1] ?? '')
    rest = rest.slice(found[0].length)
  }
  return agents
}
