/** All logs of a database as they are when everything is over, for the checker. */
import type { Store } from '@parley/a2a'
import type { TestDatabase } from '../postgres/databases.ts'
import type { Logged } from './check.ts'

export async function readLogs(database: TestDatabase, store: Store): Promise<readonly Logged[]> {
  const rows = await database.query<{ id: string; context_id: string }>('SELECT id, context_id FROM parley.tasks')
  return Promise.all(
    rows.map(async ({ id, context_id: contextId }) => ({ taskId: id, contextId, records: await store.read(id, 0) })),
  )
}
