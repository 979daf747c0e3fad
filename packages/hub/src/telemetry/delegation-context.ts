/** Who called whom until this task was made: as the hop token of its message says, or else the name of its owner. */
import type { Message } from '@parley/a2a'
import type { DelegationContext } from './contract.ts'

export const delegationExtension = 'https://parley.dev/extensions/delegation/v1'

const onBehalf = /^agent:([^|]*)\|/

/** Nothing for a task that no agent made. The token was checked when the message came in: here it is only read. */
export function delegationOf(message: Message, owner: string): DelegationContext | undefined {
  const claims = claimsIn(message)
  const visited = agentsIn(owner)
  if (claims === undefined && visited.length === 0) return undefined
  const parentTaskId = text(claims?.['par']) ?? (visited.length > 0 ? message.referenceTaskIds?.[0] : undefined)
  const rootTaskId = text(claims?.['root'])
  const depth = claims?.['depth']
  const seen = claims?.['vis']
  return {
    ...(parentTaskId !== undefined ? { parentTaskId } : {}),
    ...(rootTaskId !== undefined ? { rootTaskId } : {}),
    depth: typeof depth === 'number' ? depth : visited.length,
    visited: Array.isArray(seen) ? seen.filter((one) => typeof one === 'string').slice(0, 32) : visited,
  }
}

/** A child belongs to the agent that calls, on behalf of whoever called that: the last caller's name stands first. */
function agentsIn(owner: string): readonly string[] {
  const agents: string[] = []
  let rest = owner
  for (let found = onBehalf.exec(rest); found !== null && agents.length < 32; found = onBehalf.exec(rest)) {
    agents.unshift(found[1] ?? '')
    rest = rest.slice(found[0].length)
  }
  return agents
}

function claimsIn({ metadata }: Message): Readonly<Record<string, unknown>> | undefined {
  const about = metadata?.[delegationExtension]
  const token = typeof about === 'object' && about !== null && 'hop' in about ? about['hop'] : undefined
  const payload = typeof token === 'string' ? token.split('.')[1] : undefined
  if (payload === undefined) return undefined
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString())
    return typeof claims === 'object' && claims !== null ? (claims as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value.slice(0, 256) : undefined
}
