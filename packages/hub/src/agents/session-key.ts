/**
 * The name of a conversation at a backend. It is a hash, because backends lower-case, truncate and display such names: it
 * reveals nothing about a caller, and no two callers, tenants, agents or contexts share a session.
 */
import { createHash } from 'node:crypto'
import type { Turn } from '@parley/a2a'

export function sessionKeyOf({ tenant, caller, task }: SessionScope, agentName: string): string {
  // As JSON, so that different lists never give the same text.
  const parts = JSON.stringify([tenant, caller.id, agentName, task.contextId])
  return createHash('sha256').update(parts).digest('hex').slice(0, 40)
}

/** The fields of a turn that determine its session. */
export type SessionScope = Pick<Turn, 'tenant'> & {
  readonly caller: Pick<Turn['caller'], 'id'>
  readonly task: Pick<Turn['task'], 'contextId'>
}
