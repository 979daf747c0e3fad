/** Writes the entries of a dump as rows, many with each statement, and computes what a dump does not contain. */
import { encodeText, nameDigest, ownerKey, partitionKey } from '../../postgres/dump-access.ts'
import type { BlobEntry, DumpEntry } from '../dump-entry.ts'
import { type EntryRow, entryTables, type RowEntry, rowFromEntry } from '../entry-row.ts'
import type { PostgresTransaction } from './transaction.ts'

/** A statement is sent when it has this many rows, or about this many characters. */
const maxRows = 1_000
const maxCharacters = 4_000_000

export function createEntryWriter(transaction: PostgresTransaction, schema: string) {
  const { query } = transaction
  const tables = new Map<string, ReturnType<typeof createTableWriter>>()
  const insertBlob = `INSERT INTO ${schema}.blobs (task, digest, content) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`
  let ref = 0

  /** One at a time: each may be large. */
  async function writeBlob({ digest, content }: BlobEntry): Promise<void> {
    const bytes = typeof content === 'string' ? Buffer.from(JSON.stringify(content)) : Buffer.from(content)
    await query(insertBlob, ref, digest, bytes)
  }

  /** The names that callers choose are found by their digests. */
  function digestsOf(entry: RowEntry): EntryRow {
    if (entry.type === 'push') return { key: nameDigest(entry.id) }
    if (entry.type === 'attempt') return { push_key: nameDigest(entry.pushId) }
    if (entry.type !== 'task') return {}
    return { partition_key: partitionKey(entry), owner_key: ownerKey(entry.tenant, entry.owner) }
  }

  return {
    /** Returns a promise only if rows are sent. */
    write(entry: DumpEntry): Promise<void> | undefined {
      if (entry.type === 'blob') return writeBlob(entry)
      if (entry.type === 'task') ref += 1
      const name = entryTables[entry.type]
      const table = tables.get(name) ?? createTableWriter(transaction, `${schema}.${name}`)
      tables.set(name, table)
      const encode = entry.type === 'key' ? String : encodeText
      return table.add({ ...rowFromEntry(entry, ref, encode), ...digestsOf(entry) })
    },
    /** After the last entry. */
    async finish(): Promise<void> {
      for (const table of tables.values()) await table.send()
      await query(`SELECT setval('${schema}.task_refs', greatest($1::bigint, 1), $1::bigint > 0)`, ref)
      await query(
        `SELECT setval(pg_get_serial_sequence($1, 'ref'), coalesce((SELECT max(ref) FROM ${schema}.pushes), 0) + 1, false)`,
        `${schema}.pushes`,
      )
      await query(`UPDATE ${schema}.tasks SET pushed = true WHERE ref IN (SELECT task FROM ${schema}.pushes)`)
      await query(`
        INSERT INTO ${schema}.counters (owner_key, partition_key, state, shard, tasks)
        SELECT owner_key, partition_key, state, 1, count(*) FROM ${schema}.tasks GROUP BY 1, 2, 3`)
    },
  }
}

/** Collects rows and inserts them together, in their order. */
function createTableWriter({ query }: PostgresTransaction, table: string) {
  let insert = ''
  let rows: string[] = []
  let characters = 0

  async function send(): Promise<void> {
    if (rows.length === 0) return
    const all = `[${rows.join(',')}]`
    rows = []
    characters = 0
    await query(insert, all)
  }

  return {
    send,
    add(row: EntryRow): Promise<void> | undefined {
      const names = Object.keys(row).join(', ')
      insert ||= `INSERT INTO ${table} (${names}) OVERRIDING SYSTEM VALUE
        SELECT ${names} FROM json_populate_recordset(NULL::${table}, $1::json)`
      const json = JSON.stringify(row, (_, value: unknown) => (value instanceof Uint8Array ? hexOf(value) : value))
      rows.push(json)
      characters += json.length
      return rows.length >= maxRows || characters >= maxCharacters ? send() : undefined
    },
  }
}

function hexOf(bytes: Uint8Array): string {
  return `\\x${Buffer.from(bytes).toString('hex')}`
}
