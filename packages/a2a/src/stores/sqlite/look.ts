/**
 * A task that is not in memory is asked for in three steps: its row, its snapshot, its log. To begin a read costs SQLite as
 * much as to answer it, so the first step brings along what the others would find: that there is no snapshot, and the log
 * if it is one short batch, as that of most tasks is. Three answers for 10 µs instead of 40. Kept for a moment only: any
 * transaction may change it.
 */
import type { LogRecord } from '../../model/record.ts'
import type { TaskRow } from '../store.ts'
import type { BlobTable } from './blob-table.ts'
import type { Database } from './database.ts'
import { recordsOf } from './log.ts'
import type { TaskColumns } from './rows.ts'
import { taskColumns, taskOf } from './rows.ts'

interface Columns extends TaskColumns {
  readonly has_snapshot: 0 | 1
  /** Of a log in one short batch; `null` for any other. */
  readonly records: string | null
}

/** Longer ones are read when somebody asks for them. */
export const maxLookBytes = 65_536
/** How many tasks can be between their first step and their last. */
const maxKept = 64

export type Look = ReturnType<typeof createLook>

export function createLook(database: Database, blobs: BlobTable) {
  const find = database.prepare<Columns>(`
    SELECT ${taskColumns}, EXISTS (SELECT 1 FROM snapshots WHERE task = ref) AS has_snapshot,
      (SELECT records FROM log
       WHERE task = ref AND first_seq = 1 AND last_seq = head AND octet_length(records) <= ${maxLookBytes}) AS records
    FROM tasks WHERE id = ?`)
  const seen = new Map<string, Columns>()

  return {
    load(taskId: string): TaskRow | undefined {
      const columns = find.get(taskId)
      if (columns === undefined) return undefined
      if (seen.size >= maxKept) seen.clear()
      seen.set(taskId, columns)
      return taskOf(columns, blobs)
    },
    /** Whether the last look at it showed that there is none. */
    hasNoSnapshot: (taskId: string): boolean => seen.get(taskId)?.has_snapshot === 0,
    /** The whole log, once, if the last look at the task brought it along. */
    takeLog(taskId: string): readonly LogRecord[] | undefined {
      const records = seen.get(taskId)?.records ?? undefined
      if (records === undefined) return undefined
      seen.delete(taskId)
      return recordsOf({ first_seq: 1, records }, 0, Infinity, blobs)
    },
    /** What was seen may be about to change. */
    forget: () => seen.clear(),
  }
}
