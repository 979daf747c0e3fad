/**
 * Reads a task that is not in memory at once: its row, and its log or its snapshot if they are short, as they are for most tasks.
 * Starting a read costs SQLite as much as the read itself.
 */
import type { LogRecord } from '../../model/record.ts'
import type { Task } from '../../model/task.ts'
import { mightContainBlobs } from '../blobs.ts'
import { maxShortLogBytes } from '../short-logs.ts'
import type { StoredTask } from '../store.ts'
import type { BlobTable } from './blob-table.ts'
import type { SqliteDatabase } from './database.ts'
import { addBatchRecords } from './log.ts'
import { type SqliteTaskColumns, readSqliteTask, sqliteTaskColumns } from './rows.ts'

/** The records of a log in one short batch; `null` for any other. */
export interface ShortLogColumn {
  readonly records: string | null
}

/** Of the table `tasks`. */
export const shortLogColumn = `(
  SELECT records FROM log
  WHERE task = ref AND first_seq = 1 AND last_seq = head AND octet_length(records) <= ${maxShortLogBytes}) AS records`

/** The row of the task, its snapshot if it is current and short, and the first batch of a log without a snapshot. */
interface StoredTaskColumns extends SqliteTaskColumns, ShortLogColumn {
  readonly folded: string | null
  readonly last_seq: number | null
}

export function createStoredTaskReader(database: SqliteDatabase, blobs: BlobTable) {
  const find = database.prepare<StoredTaskColumns>(
    `SELECT ${sqliteTaskColumns},
       CASE WHEN snapshots.seq = head AND octet_length(folded) <= ${maxShortLogBytes} THEN folded END AS folded, last_seq, records
     FROM tasks LEFT JOIN snapshots ON snapshots.task = ref
       LEFT JOIN log ON log.task = ref AND first_seq = 1 AND snapshots.task IS NULL AND octet_length(records) <= ${maxShortLogBytes}
     WHERE id = ?`,
  )
  const following = database.prepare<ShortLogColumn & { readonly first_seq: number }>(
    `SELECT first_seq, CASE WHEN octet_length(records) <= ${maxShortLogBytes} THEN records END AS records
     FROM log WHERE task = ? AND first_seq > 1 ORDER BY first_seq`,
  )

  /** The whole log; `undefined` if it is long. Large bytes are elsewhere and count as long. */
  function wholeLog(ref: number, head: number, lastSeq: number | null, first: string): LogRecord[] | undefined {
    if (mightContainBlobs(first)) return undefined
    const found: LogRecord[] = []
    addBatchRecords(found, 1, first)
    if (lastSeq === head) return found
    let length = first.length
    for (const { first_seq: firstSeq, records } of following.iterate(ref)) {
      length += records?.length ?? 0
      if (records === null || length > maxShortLogBytes || mightContainBlobs(records)) return undefined
      addBatchRecords(found, firstSeq, records)
    }
    return found
  }

  return function loadStored(taskId: string): StoredTask | undefined {
    const columns = find.get(taskId)
    if (columns === undefined) return undefined
    const { ref, head, folded, last_seq: lastSeq, records: first } = columns
    const row = readSqliteTask(columns, blobs)
    if (folded !== null && !mightContainBlobs(folded)) return { row, task: JSON.parse(folded) as Task }
    const records = first === null ? undefined : wholeLog(ref, head, lastSeq, first)
    return records === undefined ? { row } : { row, records }
  }
}
