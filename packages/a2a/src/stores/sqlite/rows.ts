/** A task as its row has it, to and from the contract's words. */
import type { Struct, TaskStatus } from '../../model/task.ts'
import { mayHoldBlobs, spliceStatusBlobs } from '../blobs.ts'
import type { Lease, Standing } from '../decide.ts'
import type { DueTime, TaskRow } from '../store.ts'
import type { BlobTable } from './blob-table.ts'
import { stateOf } from './counters.ts'
import type { Epoch } from './epoch.ts'

/** Enough to decide an append. */
export interface StandingColumns {
  readonly ref: number
  readonly head: number
  readonly consumed_seq: number
  readonly visible_seq: number
  readonly state: number
  readonly holder: string | null
  readonly lease_until: number | null
  readonly fence: number
  readonly due_kind: DueTime['kind'] | null
  readonly due_at: number | null
  readonly pushes: number
  readonly status_at: number
  /** `null` until the first append after the column was added. */
  readonly last_at: number | null
  readonly tenant: string
  readonly agent: string
  readonly owner: string
}
export const standingColumns =
  'ref, head, consumed_seq, visible_seq, state, holder, lease_until, fence, due_kind, due_at, pushes, status_at, last_at, tenant, agent, owner'

export interface TaskColumns {
  readonly ref: number
  readonly head: number
  readonly consumed_seq: number
  readonly due_kind: DueTime['kind'] | null
  readonly due_at: number | null
  readonly status_at: number
  readonly created_at: number
  readonly tenant: string
  readonly agent: string
  readonly owner: string
  readonly id: string
  readonly context_id: string
  readonly status: string
  readonly metadata: string | null
}
export const taskColumns =
  'ref, head, consumed_seq, due_kind, due_at, status_at, created_at, tenant, agent, owner, id, context_id, status, metadata'

export function standingOf(row: StandingColumns, lastAt: number, { firstFence }: Pick<Epoch, 'firstFence'>): Standing {
  return {
    head: row.head,
    consumedSeq: row.consumed_seq,
    visibleSeq: row.visible_seq,
    state: stateOf(row.state),
    lease: leaseOf(row, firstFence),
    due: dueOf(row),
    lastAt,
  }
}

export function taskOf(row: TaskColumns, blobs: BlobTable): TaskRow {
  const due = dueOf(row)
  return {
    id: row.id,
    tenant: row.tenant,
    agent: row.agent,
    owner: row.owner,
    contextId: row.context_id,
    status: statusOf(blobs.fromRow(row.status), blobs),
    statusAt: row.status_at,
    createdAt: row.created_at,
    ...(row.metadata === null ? {} : { metadata: JSON.parse(blobs.fromRow(row.metadata)) as Struct }),
    head: row.head,
    consumedSeq: row.consumed_seq,
    ...(due === undefined ? {} : { due }),
  }
}

function statusOf(text: string, blobs: BlobTable): TaskStatus {
  const status = JSON.parse(text) as TaskStatus
  return mayHoldBlobs(text) ? spliceStatusBlobs(status, blobs.textOf) : status
}

function leaseOf({ holder, lease_until, fence }: StandingColumns, firstFence: number): Lease | undefined {
  if (holder === null || lease_until === null) return undefined
  return { holder, until: fence < firstFence ? -Infinity : lease_until, fence }
}

function dueOf({ due_kind: kind, due_at: at }: Pick<TaskColumns, 'due_kind' | 'due_at'>): DueTime | undefined {
  return kind === null || at === null ? undefined : { kind, at }
}

/** A whole number that no clock will reach, for columns that hold whole numbers. */
export function wholeTime(time: number): number {
  return Math.min(time, Number.MAX_SAFE_INTEGER)
}
