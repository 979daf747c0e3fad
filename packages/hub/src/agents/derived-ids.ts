/**
 * Ids that are derived from their inputs, so that the same inputs always give the same id. A session key is the name of a
 * conversation at a backend. It is a hash, because backends lower-case, truncate and display such names: it reveals nothing about
 * a caller, and no two callers, tenants, agents or contexts share a session.
 */
import { hash } from 'node:crypto'
import type { Turn } from '@parley/a2a'

export function sessionKeyOf({ tenant, caller, task }: SessionScope, agentName: string): string {
  // As JSON, so that different lists never give the same text.
  const parts = JSON.stringify([tenant, caller.id, agentName, task.contextId])
  return hash('sha256', parts).slice(0, 40)
}

/** The fields of a turn that determine its session. */
export type SessionScope = Pick<Turn, 'tenant'> & {
  readonly caller: Pick<Turn['caller'], 'id'>
  readonly task: Pick<Turn['task'], 'contextId'>
}

/** As JSON, so that different lists never give the same text; in the form of a UUID, as peers expect. */
export function stableId(...of: readonly string[]): string {
  const hex = hash('sha256', JSON.stringify(of))
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    '-',
  )
}
