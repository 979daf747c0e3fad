/** Converts a database row to a task row. Integers arrive as the driver is configured: as texts by default. */
import type { Struct, TaskStatus } from '../../model/task.ts'
import { mightContainBlobs, spliceStatusBlobs } from '../blobs.ts'
import type { DueTime, TaskRow } from '../store.ts'
import type { PostgresBlobs } from './blob-content.ts'
import { decodeText } from './text-encoding.ts'

export interface PostgresTaskColumns {
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
/** Of a table with the alias `t`. */
export const postgresTaskColumns = [
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

export async function readPostgresTask(row: PostgresTaskColumns, blobs: PostgresBlobs): Promise<TaskRow> {
  const due = dueOf(row)
  const status = JSON.parse(row.status) as TaskStatus
  return {
    id: decodeText(row.id),
    tenant: decodeText(row.tenant),
    agent: decodeText(row.agent),
    owner: decodeText(row.owner),
    contextId: decodeText(row.context_id),
    status: mightContainBlobs(row.status) ? await blobs.restore(row.ref, status, spliceStatusBlobs) : status,
    statusAt: Number(row.status_at),
    createdAt: Number(row.created_at),
    ...(row.metadata === null ? {} : { metadata: JSON.parse(row.metadata) as Struct }),
    head: Number(row.head),
    consumedSeq: Number(row.consumed_seq),
    ...(due === undefined ? {} : { due }),
  }
}

export function dueOf({
  due_kind: kind,
  due_at: at,
}: Pick<PostgresTaskColumns, 'due_kind' | 'due_at'>): DueTime | undefined {
  return kind === null || at === null ? undefined : { kind, at: Number(at) }
}
