/**
 * Who called whom until this task was made. Told by the name of its owner, which only this hub gives; what the message says
 * of itself counts where that is so, and not where a stranger sent it.
 */
import type { Message } from '@parley/a2a'
import type { DelegationContext } from './contract.ts'

export const delegationExtension = 'https://parley.dev/extensions/delegation/v1'

const onBehalf = /^agent:([^|]*)\|/
const mostNames = 32

/** Nothing for a task that no agent of this hub made. */
export function delegationOf(message: Message, owner: string): DelegationContext | undefined {
  const agents = agentsIn(owner)
  if (agents.length === 0) return undefined
  const { par, root, depth, vis } = claimsIn(message)
  const parentTaskId = text(par) ?? message.referenceTaskIds?.[0]
  const rootTaskId = text(root)
  return {
    ...(parentTaskId !== undefined ? { parentTaskId } : {}),
    ...(rootTaskId !== undefined ? { rootTaskId } : {}),
    depth: typeof depth === 'number' ? depth : agents.length,
    visited: Array.isArray(vis) ? vis.filter((one) => typeof one === 'string').slice(0, mostNames) : agents,
  }
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

interface Claims {
  readonly par?: unknown
  readonly root?: unknown
  readonly depth?: unknown
  readonly vis?: unknown
}

/** Of a hop token; checked when the message came in, and only read here. */
function claimsIn({ metadata }: Message): Claims {
  const about = metadata?.[delegationExtension]
  const hop = typeof about === 'object' && about !== null && 'hop' in about ? about['hop'] : undefined
  if (typeof hop !== 'string') return typeof hop === 'object' && hop !== null ? (hop as Claims) : {}
  try {
    const claims: unknown = JSON.parse(Buffer.from(hop.split('.')[1] ?? '', 'base64url').toString())
    return typeof claims === 'object' && claims !== null ? claims : {}
  } catch {
    return {}
  }
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value.slice(0, 256) : undefined
}
