/** Reads all logs of a database after the run, for the checker. */
import type { Store } from '@parley/a2a/stores'
import type { LogRecord } from '../../packages/a2a/src/model/record.ts'
import type { TestDatabase } from '../postgres/databases.ts'
import type { TaskLog } from './check-history.ts'

/** Concurrent reads: ten thousand at once would exceed the query timeout while queued. */
const atOnce = 100

export async function readLogs(database: Pick<TestDatabase, 'query'>, store: Store): Promise<readonly TaskLog[]> {
  const rows = await database.query<TaskKey>('SELECT id, context_id FROM parley.tasks')
  return readLogsOf(rows, store)
}

export interface TaskKey {
  readonly id: string
  readonly context_id: string
}

export async function readLogsOf(rows: readonly TaskKey[], store: Store): Promise<readonly TaskLog[]> {
  const logs: TaskLog[] = []
  for (let from = 0; from < rows.length; from += atOnce) {
    const read = rows.slice(from, from + atOnce).map(async ({ id, context_id: contextId }) => {
      return { taskId: id, contextId, records: await readWhole(store, id) }
    })
    logs.push(...(await Promise.all(read)))
  }
  return logs
}

/** A read may return less than the whole log. */
async function readWhole(store: Store, taskId: string): Promise<readonly LogRecord[]> {
  const records: LogRecord[] = []
  for (;;) {
    const page = await store.tasks.read(taskId, records.at(-1)?.seq ?? 0)
    if (page.length === 0) return records
    for (const record of page) records.push(record)
  }
}
