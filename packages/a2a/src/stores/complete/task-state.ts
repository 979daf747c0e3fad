/** All that is stored of a task beside its log: its row, lease, claimed messages and push cursors. Converts it to and from a `LogRow`. */
import { isTerminal } from '../../model/state.ts'
import type { Json } from '../../model/task.ts'
import type { AppendState, Lease } from '../decide-append.ts'
import type { LogRow } from '../log-store.ts'
import type { PushRow } from '../push-store.ts'
import type { NewTask, TaskChange, TaskRow } from '../task-store.ts'
import { decodeText, encodeText } from '../text-encoding.ts'

/** Never mutated: readers may keep its parts. */
export interface TaskState {
  readonly row: TaskRow
  /** The seq of the last visible record: a push cursor below it is behind. */
  readonly visibleSeq: number
  /** The time of the last record, also if it was pruned. */
  readonly lastAt: number
  readonly lease?: StoredLease
  readonly claims: readonly StoredClaim[]
  readonly pushes: readonly PushCursor[]
  /** About the size of the log. */
  readonly bytes: number
}

/** `until` as of the last write, without renewals since; absent for a lease without an end. */
export type StoredLease = Omit<Lease, 'until'> & Partial<Pick<Lease, 'until'>>

export function storedLease({ holder, until, fence }: Lease): StoredLease {
  return { holder, fence, ...(until === Infinity ? {} : { until }) }
}

export interface StoredClaim {
  readonly key: string
  readonly hash: string
  /** In steady time. */
  readonly expiresAt: number
}

export interface PushCursor extends PushRow {
  /** The position among all push notification configs: greater than that of all earlier ones. */
  readonly place: number
}

export function pushRowOf({ place: _, ...row }: PushCursor): PushRow {
  return row
}

/** A task with an active webhook is open too: the webhook may have something to deliver. */
export function isOpen({ row, pushes }: TaskState): boolean {
  return !isTerminal(row.status.state) || pushes.some(({ state }) => state === 'active')
}

export function newTaskState({ due: _, ...created }: NewTask): TaskState {
  return { row: { ...created, head: 0, consumedSeq: 0 }, visibleSeq: 0, lastAt: 0, claims: [], pushes: [], bytes: 0 }
}

export function appendStateOf({ row, visibleSeq, lastAt, lease }: TaskState, leaseUntil: number): AppendState {
  const { head, consumedSeq, status, due } = row
  const held = lease && { ...lease, until: leaseUntil }
  return { head, consumedSeq, visibleSeq, state: status.state, lease: held, due, lastAt }
}

export function changedRow(before: TaskRow, change: TaskChange | undefined, next: AppendState): TaskRow {
  const { due: _, ...row } = before
  return {
    ...row,
    status: change?.status ?? before.status,
    statusAt: change?.statusAt ?? before.statusAt,
    head: next.head,
    consumedSeq: next.consumedSeq,
    ...(next.due === undefined ? {} : { due: next.due }),
  }
}

/** What `data` holds: everything that has no column of its own. */
type RowData = Omit<TaskState, 'row'> & Omit<TaskRow, 'id' | 'tenant' | 'agent' | 'owner' | 'contextId' | 'statusAt'>

export function toLogRow(taskState: TaskState, version: number): LogRow {
  const { row, ...rest } = taskState
  const { id, tenant, agent, owner, contextId, statusAt, ...fields } = row
  const data: RowData = { ...rest, ...fields }
  return {
    id: encodeText(id),
    version,
    tenant: encodeText(tenant),
    agent: encodeText(agent),
    owner: encodeText(owner),
    contextId: encodeText(contextId),
    state: row.status.state,
    statusAt,
    isOpen: isOpen(taskState),
    data: data as unknown as Json,
  }
}

export function fromLogRow(stored: LogRow): TaskState {
  const { visibleSeq, lastAt, lease, claims, pushes, bytes, ...fields } = stored.data as unknown as RowData
  const row: TaskRow = {
    id: decodeText(stored.id),
    tenant: decodeText(stored.tenant),
    agent: decodeText(stored.agent),
    owner: decodeText(stored.owner),
    contextId: decodeText(stored.contextId),
    statusAt: stored.statusAt,
    ...fields,
  }
  return { row, visibleSeq, lastAt, ...(lease === undefined ? {} : { lease }), claims, pushes, bytes }
}
