/** The rows of tasks and what belongs to them, each table in the order of the tasks, as entries of a dump. */
import type { AttemptEntry, LogEntry, PushEntry, SnapshotEntry, TaskEntry } from '../../dump/dump-entry.ts'
import { createChecksumCheck, type ChecksumCheck } from '../../dump/checksums.ts'
import type { ReadEntriesOptions } from '../../dump/store-dump.ts'
import { cursorOfPages, type RowCursor } from '../../dump/row-cursor.ts'
import type { ReportDamage, RowOfTask, TaskTables } from '../../dump/task-groups.ts'
import { withOrderedTimes } from '../../decide-append.ts'
import type { Append, DueTime } from '../../store.ts'
import type { AttemptColumns } from '../push-cursors.ts'
import { dueOf } from '../rows.ts'
import { decodeText } from '../text-encoding.ts'
import { openPages, pageText, type PostgresTransaction } from './transaction.ts'

type Pages<Row> = () => Promise<readonly Row[]>
type Cursor<Entry> = RowCursor<RowOfTask<Entry>>

/** Within the transaction. The names of the tables begin with `schema`. */
export async function openTaskTables(
  transaction: PostgresTransaction,
  schema: string,
  report: ReportDamage,
  { isChecked = false }: ReadEntriesOptions,
): Promise<Omit<TaskTables, 'loadBlob'>> {
  const deps = { transaction, schema, report, check: isChecked ? createChecksumCheck(report) : undefined }
  return {
    tasks: await tasks(deps),
    log: await log(deps),
    snapshots: await snapshots(deps),
    pushes: await pushes(deps),
    attempts: await attempts(deps),
  }
}

interface TableDeps {
  readonly transaction: PostgresTransaction
  readonly schema: string
  readonly report: ReportDamage
  readonly check: ChecksumCheck | undefined
}

/** Converts the rows of each page, one after the other: a row may have to load a long text. */
function converted<Row, Entry>(
  next: Pages<Row>,
  convert: (row: Row) => RowOfTask<Entry> | Promise<RowOfTask<Entry>>,
): Promise<Cursor<Entry>> {
  return cursorOfPages(async () => {
    const entries: RowOfTask<Entry>[] = []
    for (const row of await next()) entries.push(await convert(row))
    return entries
  })
}

interface TaskColumns {
  readonly ref: unknown
  readonly head: unknown
  readonly consumed_seq: unknown
  readonly visible_seq: unknown
  readonly is_leased: boolean
  readonly due_kind: DueTime['kind'] | null
  readonly due_at: unknown
  readonly log_dropped: boolean
  readonly status_at: unknown
  readonly created_at: unknown
  readonly last_at: unknown
  readonly tenant: string
  readonly agent: string
  readonly owner: string
  readonly id: string
  readonly context_id: string
  readonly status: string | null
  readonly has_metadata: boolean
  readonly metadata: string | null
}

async function tasks({ transaction, schema }: TableDeps): Promise<Cursor<TaskEntry>> {
  const { query } = transaction
  const next = await openPages<TaskColumns>(
    transaction,
    'tasks',
    `SELECT ref, head, consumed_seq, visible_seq, holder IS NOT NULL AND NOT finished AS is_leased, due_kind, due_at, log_dropped,
      status_at, created_at, last_at, tenant, agent, owner, id, context_id, ${pageText('status')} AS status,
      metadata IS NOT NULL AS has_metadata, ${pageText('metadata')} AS metadata
    FROM ${schema}.tasks ORDER BY ref`,
  )
  const textOf = async (column: 'status' | 'metadata', ref: unknown): Promise<string> => {
    const [row] = await query<{ text: string }>(`SELECT ${column} AS text FROM ${schema}.tasks WHERE ref = $1`, ref)
    return row?.text ?? '{}'
  }
  return converted(next, async (row) => {
    const due = dueOf(row)
    return {
      ref: Number(row.ref),
      entry: {
        type: 'task',
        id: decodeText(row.id),
        tenant: decodeText(row.tenant),
        agent: decodeText(row.agent),
        owner: decodeText(row.owner),
        contextId: decodeText(row.context_id),
        createdAt: Number(row.created_at),
        statusAt: Number(row.status_at),
        head: Number(row.head),
        consumedSeq: Number(row.consumed_seq),
        visibleSeq: Number(row.visible_seq),
        lastAt: Number(row.last_at),
        isLogDropped: row.log_dropped,
        isLeased: row.is_leased,
        ...(due === undefined ? {} : { due: { kind: due.kind, at: safeTime(due.at) } }),
        status: row.status ?? (await textOf('status', row.ref)),
        ...(row.has_metadata ? { metadata: row.metadata ?? (await textOf('metadata', row.ref)) } : {}),
      },
    }
  })
}

interface LogColumns {
  readonly task: unknown
  readonly position: unknown
  readonly first_seq: unknown
  readonly last_seq: unknown
  readonly not_before: unknown
  readonly records: string | null
  readonly checksum: unknown
}

async function log({ transaction, schema, report, check }: TableDeps): Promise<Cursor<LogEntry>> {
  const { query } = transaction
  const next = await openPages<LogColumns>(
    transaction,
    'log',
    `SELECT task, position, first_seq, last_seq, not_before, ${pageText('records')} AS records, checksum
    FROM ${schema}.log ORDER BY task, last_seq`,
  )
  const one = `SELECT records FROM ${schema}.log WHERE position = $1`
  return converted(next, async ({ task, position, first_seq, last_seq, not_before, records, checksum }) => {
    const text = records ?? (await query<{ records: string }>(one, position))[0]?.records ?? '[]'
    check?.(Number(checksum), [text], `the log at position ${String(position)}`)
    return {
      ref: Number(task),
      entry: {
        type: 'log',
        position: Number(position),
        firstSeq: Number(first_seq),
        lastSeq: Number(last_seq),
        records: not_before === null ? text : withTimesFrom(Number(not_before), text, report),
      },
    }
  })
}

/** With the times that the records count as: a row of the log keeps its text as it came. */
function withTimesFrom(notBefore: number, text: string, report: ReportDamage): string {
  try {
    const records = JSON.parse(text) as Append['records']
    const ordered = withOrderedTimes(records, notBefore)
    return ordered === records ? text : JSON.stringify(ordered)
  } catch {
    report('A stored log is not valid JSON')
    return text
  }
}

interface SnapshotColumns {
  readonly task: unknown
  readonly seq: unknown
  readonly folded: string | null
  readonly internal: string | null
  readonly checksum: unknown
}

async function snapshots({ transaction, schema, check }: TableDeps): Promise<Cursor<SnapshotEntry>> {
  const next = await openPages<SnapshotColumns>(
    transaction,
    'snapshots',
    `SELECT task, seq, ${pageText('folded')} AS folded, ${pageText('internal')} AS internal, checksum
    FROM ${schema}.snapshots ORDER BY task`,
  )
  const one = `SELECT folded, internal FROM ${schema}.snapshots WHERE task = $1`
  return converted(next, async ({ task, seq, folded, internal, checksum }) => {
    const isLong = folded === null || internal === null
    const [long] = isLong ? await transaction.query<{ folded: string; internal: string }>(one, task) : []
    const texts = [folded ?? long?.folded ?? '{}', internal ?? long?.internal ?? '{}'] as const
    check?.(Number(checksum), texts, `the snapshot of the task with ref ${String(task)}`)
    return {
      ref: Number(task),
      entry: { type: 'snapshot', seq: Number(seq), task: texts[0], internal: texts[1] },
    }
  })
}

interface PushColumns {
  readonly task: unknown
  readonly ref: unknown
  readonly id: string
  readonly delivered_seq: unknown
  readonly due_at: unknown
  readonly attempt: number
  readonly state: PushEntry['state']
  readonly created_at: unknown
  readonly config: string
}

async function pushes({ transaction, schema }: TableDeps): Promise<Cursor<PushEntry>> {
  const next = await openPages<PushColumns>(
    transaction,
    'pushes',
    `SELECT task, ref, id, delivered_seq, due_at, attempt, state, created_at, config FROM ${schema}.pushes ORDER BY task, ref`,
  )
  return converted(next, ({ task, ref, id, delivered_seq, due_at, attempt, state, created_at, config }) => ({
    ref: Number(task),
    entry: {
      type: 'push',
      number: Number(ref),
      id: decodeText(id),
      deliveredSeq: Number(delivered_seq),
      ...(due_at === null ? {} : { dueAt: safeTime(Number(due_at)) }),
      attempt,
      state,
      createdAt: Number(created_at),
      config,
    },
  }))
}

interface AttemptOfTaskColumns extends AttemptColumns {
  readonly task: unknown
}

async function attempts({ transaction, schema }: TableDeps): Promise<Cursor<AttemptEntry>> {
  const next = await openPages<AttemptOfTaskColumns>(
    transaction,
    'attempts',
    `SELECT task, push_id, seq, at, attempt, outcome, duration_ms, answer FROM ${schema}.push_attempts ORDER BY task, ref`,
  )
  return converted(next, ({ task, push_id, seq, at, attempt, outcome, duration_ms, answer }) => ({
    ref: Number(task),
    entry: {
      type: 'attempt',
      pushId: decodeText(push_id),
      seq: Number(seq),
      at: Number(at),
      attempt,
      outcome: decodeText(outcome),
      durationMs: Number(duration_ms),
      ...(answer === null ? {} : { answer: decodeText(answer) }),
    },
  }))
}

/** A time that never comes may be beyond the numbers that JSON keeps exactly. */
export function safeTime(time: number): number {
  return Math.min(time, Number.MAX_SAFE_INTEGER)
}
