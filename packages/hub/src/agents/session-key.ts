/**
 * The name of a conversation at a backend. A hash, because backends lower-case, shorten and show such names: nothing of
 * a caller is in it, and no two callers, tenants, agents or contexts ever meet in one session.
 */
import { createHash } from 'node:crypto'
import type { Turn } from '@parley/a2a'

export function sessionKeyOf({ tenant, caller, task }: SessionOf, agentName: string): string {
  // As JSON, so that no two lists of parts read the same.
  const parts = JSON.stringify([tenant, caller.id, agentName, task.contextId])
  return createHash('sha256').update(parts).digest('hex').slice(0, 40)
}

/** What of a turn decides whose session it is. */
export type SessionOf = Pick<Turn, 'tenant'> & {
  readonly caller: Pick<Turn['caller'], 'id'>
  readonly task: Pick<Turn['task'], 'contextId'>
}
