import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createBlobTable } from './blob-table.ts'
import { createCounters } from './counters.ts'
import { openSqliteDatabase } from './database.ts'
import { createSqliteTaskLists } from './lists.ts'
import { migrateSqlite } from './migrate.ts'

const partition = { tenant: '', agent: 'a', owner: 'alice' }
const tasks = 40_000

/** Tasks at the times 1 to 40,000, of which every fourth has failed. */
function listsOfManyTasks() {
  const database = openSqliteDatabase(':memory:', 0)
  migrateSqlite(database, 0)
  database.exec(`
    WITH RECURSIVE numbers (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < ${tasks})
    INSERT INTO tasks (ref, head, consumed_seq, visible_seq, last_at, state, finished, fence, pushes, log_dropped, status_at, created_at,
      tenant, agent, owner, id, context_id, status)
    SELECT i, 1, 1, 1, i, CASE WHEN i % 4 = 0 THEN 4 ELSE 3 END, 1, 0, 0, 0, i, i, '', 'a', 'alice', 't' || i, 'c', '{}' FROM numbers;
    INSERT INTO counters SELECT tenant, owner, agent, state, count(*) FROM tasks GROUP BY 1, 2, 3, 4`)
  return createSqliteTaskLists(database, createCounters(database), createBlobTable(database))
}

describe('the total of a list of tasks since a time', () => {
  it('is exact for a time near the beginning, in the middle and near the end', () => {
    const lists = listsOfManyTasks()
    for (const statusAtOrAfter of [-5, 0, 1, 2, 500, 1_001, 20_000, 39_000, tasks, tasks + 1]) {
      const total = Math.min(tasks, Math.max(0, tasks - statusAtOrAfter + 1))
      assert.equal(lists.list({ ...partition, limit: 1, statusAtOrAfter }).total, total, String(statusAtOrAfter))
    }
  })

  it('is exact for one state', () => {
    const lists = listsOfManyTasks()
    const failed = lists.list({ ...partition, limit: 1, state: 'TASK_STATE_FAILED', statusAtOrAfter: 20_000 })
    assert.equal(failed.total, 5_001)
  })
})
