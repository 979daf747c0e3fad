/**
 * Fills an empty store in PostgreSQL in one transaction: if the process or the connection ends before the commit, the server undoes
 * all of it. The tables are locked meanwhile, so that no replica starts with a store that is still empty.
 */
import { keyToBytes } from '../../dump-access.ts'
import { migratePostgres, quoteIdentifier } from '../../postgres/dump-access.ts'
import { createOrderCheck, storeOwnKind, type DumpEntry } from '../dump-entry.ts'
import type { StoreLoader } from '../store-dump.ts'
import { createEntryWriter } from './entry-writer.ts'
import { setPosition } from './feed-position.ts'
import { beginTransaction, type PostgresDumpOptions, type PostgresTransaction } from './transaction.ts'

const tables = [
  'tasks',
  'log',
  'snapshots',
  'blobs',
  'pushes',
  'push_attempts',
  'messages',
  'keys',
  'counters',
  'notes',
]
/** A replica that writes at this moment ends its transaction sooner. */
const lockTimeoutMs = 5_000

/**
 * Starts to fill an empty store in PostgreSQL, for `StoreLoader`. Creates the schema if it is missing. Rejects if the store has
 * content.
 */
export async function postgresLoader({ connect, schema = 'parley' }: PostgresDumpOptions): Promise<StoreLoader> {
  const name = quoteIdentifier(schema)
  const transaction = await beginTransaction(connect, 'BEGIN', (query) =>
    migratePostgres({ query, queryWithRetry: query }, schema, true),
  )
  const { query } = transaction
  try {
    await query(`SET LOCAL lock_timeout = ${lockTimeoutMs}`)
    await query(`LOCK TABLE ${tables.map((table) => `${name}.${table}`).join(', ')} IN SHARE ROW EXCLUSIVE MODE`)
    await refuseContent(transaction, name)
    const writer = createEntryWriter(transaction, name)
    const check = createOrderCheck()
    return {
      async load(entries: readonly DumpEntry[]) {
        for (const entry of entries) {
          check(entry)
          const writing = writer.write(entry)
          if (writing !== undefined) await writing
        }
      },
      async finish(position) {
        await writer.finish()
        await setPosition(transaction, name, position)
        await query('COMMIT')
        // For the first plans. Everything is durable: if this fails, the server does it later.
        await query(`ANALYZE ${tables.map((table) => `${name}.${table}`).join(', ')}`).catch(() => {})
      },
      close: () => transaction.close(),
    }
  } catch (error) {
    await transaction.close()
    throw error
  }
}

async function refuseContent({ query }: PostgresTransaction, schema: string): Promise<void> {
  const own = Buffer.from(keyToBytes(storeOwnKind))
  await query(`DELETE FROM ${schema}.notes WHERE kind = $1`, own)
  const found = tables.map((table) => `SELECT '${table}' AS "table" WHERE EXISTS (SELECT FROM ${schema}.${table})`)
  const full = await query<{ table: string }>(found.join(' UNION ALL '))
  if (full.length === 0) return
  throw new Error(
    `The schema ${schema} is not empty (${full.map(({ table }) => table).join(', ')}): load into another database, ` +
      `or stop all hubs and drop the schema first: DROP SCHEMA ${schema} CASCADE.`,
  )
}
