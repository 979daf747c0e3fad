/**
 * A task that is not in memory is read in three steps: its row, its snapshot, its log. Starting a read costs SQLite as much as the
 * read itself, so the first step also reads what the others would return: that there is no snapshot, and the log if it is one short
 * batch, as it is for most tasks. Three results for 10 µs instead of 40. Kept only briefly: any transaction may change it.
 */
import type { LogRecord } from '../../model/record.ts'
import { maxShortLogBytes } from '../short-logs.ts'
import type { TaskRow } from '../store.ts'
import type { BlobTable } from './blob-table.ts'
import type { SqliteDatabase } from './database.ts'
import { readBatchRecords } from './log.ts'
import { type SqliteTaskColumns, sqliteTaskColumns, readSqliteTask } from './rows.ts'

/** The records of a log in one short batch; `null` for any other. */
export interface ShortLogColumn {
  readonly records: string | null
}
interface PrefetchColumns extends SqliteTaskColumns, ShortLogColumn {
  readonly has_snapshot: 0 | 1
}

/** Of the table `tasks`. */
export const shortLogColumn = `(
  SELECT records FROM log
  WHERE task = ref AND first_seq = 1 AND last_seq = head AND octet_length(records) <= ${maxShortLogBytes}) AS records`

/** How many tasks can be between their first step and their last. */
const maxKept = 64

export type TaskPrefetch = ReturnType<typeof createTaskPrefetch>

export function createTaskPrefetch(database: SqliteDatabase, blobs: BlobTable) {
  const find = database.prepare<PrefetchColumns>(`
    SELECT ${sqliteTaskColumns}, EXISTS (SELECT 1 FROM snapshots WHERE task = ref) AS has_snapshot, ${shortLogColumn}
    FROM tasks WHERE id = ?`)
  const seen = new Map<string, PrefetchColumns>()

  return {
    load(taskId: string): TaskRow | undefined {
      const columns = find.get(taskId)
      if (columns === undefined) return undefined
      if (seen.size >= maxKept) seen.clear()
      seen.set(taskId, columns)
      return readSqliteTask(columns, blobs)
    },
    /** Whether the last prefetch found no snapshot. */
    hasNoSnapshot: (taskId: string): boolean => seen.get(taskId)?.has_snapshot === 0,
    /** The whole log, once, if the last prefetch read it. */
    takeLog(taskId: string): readonly LogRecord[] | undefined {
      const records = seen.get(taskId)?.records ?? undefined
      if (records === undefined) return undefined
      seen.delete(taskId)
      return readBatchRecords({ first_seq: 1, records }, 0, Infinity, blobs)
    },
    /** The prefetched data may be about to change. */
    forget: () => seen.clear(),
  }
}
