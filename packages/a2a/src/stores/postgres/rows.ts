/** A task as its row has it, in the contract's words. Whole numbers come as the driver likes: as texts, unless told otherwise. */
import type { Struct, TaskStatus } from '../../model/task.ts'
import { mayHoldBlobs, spliceStatusBlobs } from '../blobs.ts'
import type { DueTime, TaskRow } from '../store.ts'
import type { Blobs } from './blob-content.ts'
import { fromText } from './names.ts'

export interface TaskColumns {
  readonly ref: unknown
  readonly head: unknown
  readonly consumed_seq: unknown
  readonly due_kind: DueTime['kind'] | null
  readonly due_at: unknown
  readonly status_at: unknown
  readonly created_at: unknown
  readonly fence: unknown
  readonly tenant: string
  readonly agent: string
  readonly owner: string
  readonly id: string
  readonly context_id: string
  readonly status: string
  readonly metadata: string | null
}
/** Of a table called `t`. */
export const taskColumns = [
  'ref',
  'head',
  'consumed_seq',
  'due_kind',
  'due_at',
  'status_at',
  'created_at',
  'fence',
  'tenant',
  'agent',
  'owner',
  'id',
  'context_id',
  'status',
  'metadata',
]
  .map((column) => `t.${column}`)
  .join(', ')

export async function taskOf(row: TaskColumns, blobs: Blobs): Promise<TaskRow> {
  const due = dueOf(row)
  const status = JSON.parse(row.status) as TaskStatus
  return {
    id: fromText(row.id),
    tenant: fromText(row.tenant),
    agent: fromText(row.agent),
    owner: fromText(row.owner),
    contextId: fromText(row.context_id),
    status: mayHoldBlobs(row.status) ? await blobs.restore(row.ref, status, spliceStatusBlobs) : status,
    statusAt: Number(row.status_at),
    createdAt: Number(row.created_at),
    ...(row.metadata === null ? {} : { metadata: JSON.parse(row.metadata) as Struct }),
    head: Number(row.head),
    consumedSeq: Number(row.consumed_seq),
    ...(due === undefined ? {} : { due }),
  }
}

export function dueOf({ due_kind: kind, due_at: at }: Pick<TaskColumns, 'due_kind' | 'due_at'>): DueTime | undefined {
  return kind === null || at === null ? undefined : { kind, at: Number(at) }
}
