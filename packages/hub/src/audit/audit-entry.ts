/**
 * An audit entry: who did what, when, from where, with which outcome. Fields are copied one by one and truncated: only named fields
 * are kept, so that no content and no secret gets in as part of another value.
 */
import type { Caller, StreamEvent, TaskState } from '@parley/a2a'
import type { RequestOutcome, EventContext } from '@parley/a2a/server'

export type AuditEvent =
  | 'call'
  | 'card'
  | 'task.state'
  | 'key.created'
  | 'key.revoked'
  | 'session.opened'
  | 'session.ended'
  | 'config.applied'
  | 'card.approved'
  | 'admin'
  | 'audit.lost'

export interface AuditEntry {
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly event: AuditEvent
  /** The principal: `issuer|subject`, that of a key, `anonymous`, `admin`. Absent if the caller was not authenticated. */
  readonly who?: string
  /** The id of the key that was presented, or that the entry is about; not secret. */
  readonly key?: string
  readonly agent?: string
  readonly operation?: string
  readonly binding?: string
  readonly version?: string
  readonly task?: string
  readonly state?: TaskState
  /** `OK` or the error code. */
  readonly outcome?: string
  readonly status?: number
  readonly from?: string
  readonly durationMs?: number
  readonly count?: number
}

/** Longer than any name that we make; a foreign one may be as long as a header. */
const maxFieldLength = 256

export function truncateField(value: string): string {
  return value.length <= maxFieldLength ? value : `${value.slice(0, maxFieldLength)}…`
}

/** A caller may put anything in place of an id; values that cannot be ids are dropped. */
function isId(value: string): boolean {
  return /^[\w.:-]{1,64}$/.test(value)
}

export interface RequestAuditInfo {
  readonly at: number
  readonly keyId?: string | undefined
  readonly from?: string | undefined
}

export function requestAuditEntry(answered: RequestOutcome, { at, keyId, from }: RequestAuditInfo): AuditEntry {
  const { agent, caller, endpoint, operation, binding, version, outcome, status, taskId, durationMs } = answered
  return {
    at,
    event: endpoint,
    ...principalField(caller),
    ...(keyId !== undefined ? { key: keyId } : {}),
    agent: truncateField(agent),
    ...(operation !== undefined ? { operation } : {}),
    binding,
    ...(version !== undefined ? { version } : {}),
    ...(taskId !== undefined && isId(taskId) ? { task: taskId } : {}),
    outcome,
    status,
    ...(from !== undefined ? { from: truncateField(from) } : {}),
    durationMs: Math.round(durationMs),
  }
}

/** An entry for a task that was created or changed state (T-12); `undefined` for other events. */
export function taskStateEntry(event: StreamEvent, about: EventContext, at: number): AuditEntry | undefined {
  const state =
    'task' in event ? event.task.status.state : 'statusUpdate' in event ? event.statusUpdate.status.state : undefined
  if (state === undefined) return undefined
  const { agent, owner, taskId } = about
  return {
    at,
    event: 'task.state',
    who: truncateField(owner),
    agent: truncateField(agent),
    task: truncateField(taskId),
    state,
  }
}

/** Whether the entry is about a refused caller or about credentials; such entries are written at once. */
export function isSecurityEvent({ event, outcome }: AuditEntry): boolean {
  return /^(key|session|config)\./.test(event) || outcome === 'UNAUTHENTICATED' || outcome === 'PERMISSION_DENIED'
}

function principalField(caller: Caller | undefined): { readonly who?: string } {
  return caller === undefined ? {} : { who: truncateField(caller.id) }
}
