/**
 * What the audit says of one event: who did what, when, from where, and how it went. Fields are copied one by one and cut
 * to a length: what is not named here is not kept, so that no content and no secret gets in by being part of something.
 */
import type { Caller, StreamEvent, TaskState } from '@parley/a2a'
import type { Answered, EventAbout } from '@parley/a2a/server'

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
  /** The principal: `issuer|subject`, a key's, `anonymous`, `admin`. Absent where nobody was let in. */
  readonly who?: string
  /** The id of the key that was shown, or that it is about; no secret. */
  readonly key?: string
  readonly agent?: string
  readonly operation?: string
  readonly binding?: string
  readonly version?: string
  readonly task?: string
  readonly state?: TaskState
  /** `OK` or the code of the error. */
  readonly outcome?: string
  readonly status?: number
  readonly from?: string
  readonly durationMs?: number
  readonly count?: number
}

/** Longer than any name that we make; a stranger's may be as long as a header. */
const longest = 256

export function text(value: string): string {
  return value.length <= longest ? value : `${value.slice(0, longest)}…`
}

/** What a stranger put where an id should be may be anything; what cannot be an id is not kept. */
function isId(value: string): boolean {
  return /^[\w.:-]{1,64}$/.test(value)
}

export interface AnswerAbout {
  readonly at: number
  readonly keyId?: string | undefined
  readonly from?: string | undefined
}

export function entryOfAnswer(answered: Answered, { at, keyId, from }: AnswerAbout): AuditEntry {
  const { agent, caller, door, operation, binding, version, outcome, status, taskId, durationMs } = answered
  return {
    at,
    event: door,
    ...whoIs(caller),
    ...(keyId !== undefined ? { key: keyId } : {}),
    agent: text(agent),
    ...(operation !== undefined ? { operation } : {}),
    binding,
    ...(version !== undefined ? { version } : {}),
    ...(taskId !== undefined && isId(taskId) ? { task: taskId } : {}),
    outcome,
    status,
    ...(from !== undefined ? { from: text(from) } : {}),
    durationMs: Math.round(durationMs),
  }
}

/** A task that was opened, or is in another state than before (T-12); nothing for what is only said. */
export function entryOfEvent(event: StreamEvent, about: EventAbout, at: number): AuditEntry | undefined {
  const state =
    'task' in event ? event.task.status.state : 'statusUpdate' in event ? event.statusUpdate.status.state : undefined
  if (state === undefined) return undefined
  const { agent, owner, taskId } = about
  return { at, event: 'task.state', who: text(owner), agent: text(agent), task: text(taskId), state }
}

/** Whether it is about somebody who was kept out, or about what opens doors: written at once. */
export function isSecurity({ event, outcome }: AuditEntry): boolean {
  return /^(key|session|config)\./.test(event) || outcome === 'UNAUTHENTICATED' || outcome === 'PERMISSION_DENIED'
}

function whoIs(caller: Caller | undefined): { readonly who?: string } {
  return caller === undefined ? {} : { who: text(caller.id) }
}
