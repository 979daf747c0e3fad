/** Converts a task to and from its database row. */
import type { Struct, TaskStatus } from '../../model/task.ts'
import { mightContainBlobs, spliceStatusBlobs } from '../blobs.ts'
import type { Lease, AppendState } from '../decide-append.ts'
import type { DueTime, TaskRow } from '../store.ts'
import type { BlobTable } from './blob-table.ts'
import { taskStateOfNumber } from './counters.ts'
import type { Epoch } from './epoch.ts'

/** The columns that decide an append. */
export interface AppendStateColumns {
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
  readonly last_at: number
  readonly tenant: string
  readonly agent: string
  readonly owner: string
}
export const appendStateColumns =
  'ref, head, consumed_seq, visible_seq, state, holder, lease_until, fence, due_kind, due_at, pushes, status_at, last_at, tenant, agent, owner'

export interface SqliteTaskColumns {
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
export const sqliteTaskColumns =
  'ref, head, consumed_seq, due_kind, due_at, status_at, created_at, tenant, agent, owner, id, context_id, status, metadata'

export function readAppendState(row: AppendStateColumns, { firstFence }: Pick<Epoch, 'firstFence'>): AppendState {
  return {
    head: row.head,
    consumedSeq: row.consumed_seq,
    visibleSeq: row.visible_seq,
    state: taskStateOfNumber(row.state),
    lease: leaseOf(row, firstFence),
    due: dueOf(row.due_kind, row.due_at),
    lastAt: row.last_at,
  }
}

export function readSqliteTask(row: SqliteTaskColumns, blobs: BlobTable): TaskRow {
  const due = dueOf(row.due_kind, row.due_at)
  const statusText = blobs.fromRow(row.status)
  const status = JSON.parse(statusText) as TaskStatus
  return {
    id: row.id,
    tenant: row.tenant,
    agent: row.agent,
    owner: row.owner,
    contextId: row.context_id,
    status: mightContainBlobs(statusText) ? spliceStatusBlobs(status, blobs.textOf) : status,
    statusAt: row.status_at,
    createdAt: row.created_at,
    ...(row.metadata === null ? {} : { metadata: JSON.parse(blobs.fromRow(row.metadata)) as Struct }),
    head: row.head,
    consumedSeq: row.consumed_seq,
    ...(due === undefined ? {} : { due }),
  }
}

function leaseOf({ holder, lease_until, fence }: AppendStateColumns, firstFence: number): Lease | undefined {
  if (holder === null || lease_until === null) return undefined
  return { holder, until: fence < firstFence ? -Infinity : lease_until, fence }
}

function dueOf(kind: DueTime['kind'] | null, at: number | null): DueTime | undefined {
  return kind === null || at === null ? undefined : { kind, at }
}

/** Converts a time to an integer for integer columns; infinite times become one that no clock reaches. */
export function toSqliteInteger(time: number): number {
  return Math.min(time, Number.MAX_SAFE_INTEGER)
}
