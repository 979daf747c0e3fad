/** All logs of a database as they are when everything is over, for the checker. */
import type { Store } from '@parley/a2a'
import type { TestDatabase } from '../postgres/databases.ts'
import type { Logged } from './check.ts'

/** At a time: ten thousand questions at once would be longer in the queue than a question may take. */
const atOnce = 100

export async function readLogs(database: Pick<TestDatabase, 'query'>, store: Store): Promise<readonly Logged[]> {
  const rows = await database.query<{ id: string; context_id: string }>('SELECT id, context_id FROM parley.tasks')
  const logs: Logged[] = []
  for (let from = 0; from < rows.length; from += atOnce) {
    const read = rows.slice(from, from + atOnce).map(async ({ id, context_id: contextId }) => {
      return { taskId: id, contextId, records: await store.read(id, 0) }
    })
    logs.push(...(await Promise.all(read)))
  }
  return logs
}
