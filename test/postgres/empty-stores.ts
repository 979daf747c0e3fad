/**
 * Empty stores by the hundred, for suites that need a new one for each test. Creating a schema takes longer than most of
 * these tests, so a schema that was closed is emptied and used again.
 */
import type { FullStore } from '@parley/a2a/stores'
import { openDatabase } from './databases.ts'

const tables = [
  'tasks',
  'log',
  'messages',
  'counters',
  'snapshots',
  'blobs',
  'pushes',
  'push_attempts',
  'keys',
  'notes',
  'writers',
]

/** Call it at the top of a test file. Returns a function that opens an unused store. */
export async function emptyStores(): Promise<() => FullStore> {
  const database = await openDatabase()
  const free: string[] = []
  let made = 0

  return () => {
    const schema = free.pop() ?? `s${(made += 1)}`
    const store = database.open({ schema, listen: () => database.client() })
    const close = async (): Promise<void> => {
      await store.close()
      await database.query(
        `DO $$ BEGIN ${tables.map((table) => `DELETE FROM ${schema}.${table};`).join(' ')}
        EXCEPTION WHEN undefined_table OR invalid_schema_name THEN NULL; END $$`,
      )
      free.push(schema)
    }
    let closed: Promise<void> | undefined
    return { ...store, close: () => (closed ??= close()) }
  }
}
