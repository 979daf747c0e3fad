/** The owner of a delegated task: the agent that delegates, on behalf of the owner of its own task. */
import type { TaskRow } from '@parley/a2a/stores'

/** Owners of clients do not begin with it. */
export const delegatedPrefix = 'agent:'

export function delegatedOwner({ agent, owner }: Pick<TaskRow, 'agent' | 'owner'>): string {
  return `${delegatedPrefix}${agent}|${owner}`
}

export function isDelegated(owner: string): boolean {
  return owner.startsWith(delegatedPrefix)
}
