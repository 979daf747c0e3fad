/**
 * The name of a conversation at a backend. It is a hash, because backends lower-case, truncate and display such names: it reveals
 * nothing about a caller, and no two callers, tenants, agents or contexts share a session.
 */
import type { Turn } from '../../agents/agent.ts'
import { sha256 } from './hmac-sha256.ts'

/** The fields of a turn that determine its session. */
export type SessionScope = Pick<Turn, 'tenant'> & {
  readonly caller: Pick<Turn['caller'], 'id'>
  readonly task: Pick<Turn['task'], 'contextId'>
}

/** The session key of a turn of the agent with this name, as `turn.sessionKey` has it: 40 hex digits. */
export function sessionKey({ tenant, caller, task }: SessionScope, agentName: string): string {
  // As JSON, so that different lists never give the same text.
  return sha256(JSON.stringify([tenant, caller.id, agentName, task.contextId])).slice(0, 40)
}
