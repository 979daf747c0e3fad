/** The rows of tasks and what belongs to them, each table in the order of the tasks, as entries of a dump. */
import type { AttemptEntry, LogEntry, PushEntry, SnapshotEntry, TaskEntry } from '../../dump/dump-entry.ts'
import { createChecksumCheck, type ChecksumCheck } from '../../dump/checksums.ts'
import type { ReadEntriesOptions } from '../../dump/store-dump.ts'
import type { ReportDamage, RowOfTask } from '../../dump/task-groups.ts'
import type { DueTime } from '../../store.ts'
import { createBlobTable } from '../blob-table.ts'
import { taskStateOfNumber } from '../counters.ts'
import type { SqliteDatabase } from '../database.ts'
import { dueOf } from '../rows.ts'

interface TaskColumns {
  readonly ref: number
  readonly head: number
  readonly consumed_seq: number
  readonly visible_seq: number
  readonly state: number
  readonly is_leased: 0 | 1
  readonly due_kind: DueTime['kind'] | null
  readonly due_at: number | null
  readonly log_dropped: 0 | 1
  readonly status_at: number
  readonly created_at: number
  readonly last_at: number
  readonly tenant: string
  readonly agent: string
  readonly owner: string
  readonly id: string
  readonly context_id: string
  readonly status: string
  readonly metadata: string | null
}

type Rows<Entry> = IterableIterator<RowOfTask<Entry>>

export interface SqliteTaskTables {
  readonly tasks: Rows<TaskEntry>
  readonly log: Rows<LogEntry>
  readonly snapshots: Rows<SnapshotEntry>
  readonly pushes: Rows<PushEntry>
  readonly attempts: Rows<AttemptEntry>
}

/** Within a transaction of the caller. */
export function openTaskTables(
  database: SqliteDatabase,
  report: ReportDamage,
  { isChecked = false }: ReadEntriesOptions,
): SqliteTaskTables {
  const check = isChecked ? createChecksumCheck(report) : undefined
  return {
    tasks: tasks(database, report),
    log: log(database, check),
    snapshots: snapshots(database, check),
    pushes: pushes(database),
    attempts: attempts(database),
  }
}

function* tasks(database: SqliteDatabase, report: ReportDamage): Rows<TaskEntry> {
  const all = database.prepare<TaskColumns>(`
    SELECT ref, head, consumed_seq, visible_seq, state, holder IS NOT NULL AND finished = 0 AS is_leased, due_kind, due_at,
      log_dropped, status_at, created_at, last_at, tenant, agent, owner, id, context_id, status, metadata
    FROM tasks ORDER BY ref`)
  const blobs = createBlobTable(database)

  /** A long text is stored elsewhere. `fallback` replaces one that is missing. */
  function textOf(rowText: string, { id }: TaskColumns, fallback: string): string {
    try {
      return blobs.fromRow(rowText)
    } catch (error) {
      report(error instanceof Error ? error.message : String(error), id, 'blobs')
      return fallback
    }
  }

  for (const row of all.iterate()) {
    const due = dueOf(row.due_kind, row.due_at)
    const { metadata } = row
    yield {
      ref: row.ref,
      entry: {
        type: 'task',
        id: row.id,
        tenant: row.tenant,
        agent: row.agent,
        owner: row.owner,
        contextId: row.context_id,
        createdAt: row.created_at,
        statusAt: row.status_at,
        head: row.head,
        consumedSeq: row.consumed_seq,
        visibleSeq: row.visible_seq,
        lastAt: row.last_at,
        isLogDropped: row.log_dropped === 1,
        isLeased: row.is_leased === 1,
        ...(due === undefined ? {} : { due }),
        status: textOf(row.status, row, JSON.stringify({ state: taskStateOfNumber(row.state) })),
        ...(metadata === null ? {} : { metadata: textOf(metadata, row, '{}') }),
      },
    }
  }
}

interface LogColumns {
  readonly task: number
  readonly position: number
  readonly first_seq: number
  readonly last_seq: number
  readonly records: string
  readonly checksum: number
}

function* log(database: SqliteDatabase, check: ChecksumCheck | undefined): Rows<LogEntry> {
  const all = database.prepare<LogColumns>(
    'SELECT task, position, first_seq, last_seq, records, checksum FROM log ORDER BY task, first_seq',
  )
  for (const { task, position, first_seq, last_seq, records, checksum } of all.iterate()) {
    check?.(checksum, [records], `the log at position ${position}`)
    yield { ref: task, entry: { type: 'log', position, firstSeq: first_seq, lastSeq: last_seq, records } }
  }
}

interface SnapshotColumns {
  readonly task: number
  readonly seq: number
  readonly folded: string
  readonly internal: string
  readonly checksum: number
}

function* snapshots(database: SqliteDatabase, check: ChecksumCheck | undefined): Rows<SnapshotEntry> {
  const all = database.prepare<SnapshotColumns>(
    'SELECT task, seq, folded, internal, checksum FROM snapshots ORDER BY task',
  )
  for (const { task, seq, folded, internal, checksum } of all.iterate()) {
    check?.(checksum, [folded, internal], `the snapshot of the task with ref ${task}`)
    yield { ref: task, entry: { type: 'snapshot', seq, task: folded, internal } }
  }
}

interface PushColumns {
  readonly task: number
  readonly ref: number
  readonly id: string
  readonly delivered_seq: number
  readonly due_at: number | null
  readonly attempt: number
  readonly state: PushEntry['state']
  readonly created_at: number
  readonly config: string
}

function* pushes(database: SqliteDatabase): Rows<PushEntry> {
  const all = database.prepare<PushColumns>(
    'SELECT task, ref, id, delivered_seq, due_at, attempt, state, created_at, config FROM pushes ORDER BY task, ref',
  )
  for (const row of all.iterate()) {
    const { task, ref, id, delivered_seq, due_at, attempt, state, created_at, config } = row
    yield {
      ref: task,
      entry: {
        type: 'push',
        number: ref,
        id,
        deliveredSeq: delivered_seq,
        ...(due_at === null ? {} : { dueAt: due_at }),
        attempt,
        state,
        createdAt: created_at,
        config,
      },
    }
  }
}

interface AttemptColumns {
  readonly task: number
  readonly push_id: string
  readonly seq: number
  readonly at: number
  readonly attempt: number
  readonly outcome: string
  readonly duration_ms: number
  readonly answer: Uint8Array | null
}

function* attempts(database: SqliteDatabase): Rows<AttemptEntry> {
  // As bytes: Node 22 reads a text only up to its first NUL.
  const all = database.prepare<AttemptColumns>(`
    SELECT task, push_id, seq, at, attempt, outcome, duration_ms, CAST(answer AS BLOB) AS answer
    FROM push_attempts ORDER BY task, ref`)
  for (const { task, push_id, seq, at, attempt, outcome, duration_ms, answer } of all.iterate()) {
    const entry: AttemptEntry = { type: 'attempt', pushId: push_id, seq, at, attempt, outcome, durationMs: duration_ms }
    yield { ref: task, entry: answer === null ? entry : { ...entry, answer: Buffer.from(answer).toString() } }
  }
}
