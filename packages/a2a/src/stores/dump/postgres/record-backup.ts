/** Writes when a store was last backed up into the store itself. */
import { keyToBytes } from '../../dump-access.ts'
import { quoteIdentifier } from '../../postgres/dump-access.ts'
import { storeOwnKind } from '../dump-entry.ts'
import type { PostgresDumpOptions } from './transaction.ts'

/** Stores the value under the kind `storeOwnKind` and the key `backup`, where `kv.read` finds it. A backup does not contain it. */
export async function recordPostgresBackup(
  { connect, schema = 'parley' }: PostgresDumpOptions,
  value: Readonly<Record<string, number>>,
): Promise<void> {
  const client = connect()
  client.on('error', () => {})
  await client.connect()
  try {
    await client.query({
      text: `INSERT INTO ${quoteIdentifier(schema)}.notes AS n (kind, key, version, updated_at, value)
        VALUES ($1, $2, 1, (extract(epoch FROM now()) * 1000)::bigint, $3)
        ON CONFLICT (kind, key) DO UPDATE SET version = n.version + 1, updated_at = excluded.updated_at, value = excluded.value`,
      values: [Buffer.from(keyToBytes(storeOwnKind)), Buffer.from(keyToBytes('backup')), JSON.stringify(value)],
    })
  } finally {
    await client.end()
  }
}
