/**
 * Reads a whole store in PostgreSQL in one transaction that sees one moment. It takes no lock that a replica waits for; the server
 * only keeps the rows that are replaced meanwhile until the transaction ends.
 */
import { hash } from 'node:crypto'
import { keyToBytes, withOrderedTimes } from '../../dump-access.ts'
import { decodeText, quoteIdentifier, readableSchemaVersion } from '../../postgres/dump-access.ts'
import type { Append } from '../../store.ts'
import { storeOwnKind, type BlobEntry, type DumpCounts, type DumpEntry, type KeyEntry } from '../dump-entry.ts'
import {
  entryFromRow,
  type EntryOf,
  type EntryRow,
  entryTables,
  reportChecksum,
  type RowEntry,
  selectedMembers,
} from '../entry-row.ts'
import type { ReadEntriesOptions, StoreReader } from '../store-dump.ts'
import {
  cursorOfPages,
  damageReporter,
  type ReportDamage,
  type RowCursor,
  type RowOfTask,
  taskGroups,
  type TaskTables,
} from '../task-groups.ts'
import { checkPostgresTables } from './check-tables.ts'
import { positionOf } from './feed-position.ts'
import {
  beginTransaction,
  eachRow,
  openPages,
  type PostgresDumpOptions,
  type PostgresTransaction,
} from './transaction.ts'

/**
 * Opens a store in PostgreSQL at its present moment, for `StoreReader`. The store may be in use. Rejects if the schema has no store, or
 * one of another version.
 */
export async function postgresReader({ connect, schema = 'parley' }: PostgresDumpOptions): Promise<StoreReader> {
  const name = quoteIdentifier(schema)
  const transaction = await beginTransaction(connect, 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
  try {
    const schemaVersion = await readableSchemaVersion(transaction, schema)
    const position = await positionOf(transaction, name)
    return {
      kind: 'postgres',
      schemaVersion,
      position,
      count: () => count(transaction, name),
      keys: () => Array.fromAsync(keys(transaction, name)),
      entries: (options) => entries(transaction, name, options ?? {}),
      checkTables: (report) => checkPostgresTables(transaction, name, report),
      close: () => transaction.close(),
    }
  } catch (error) {
    await transaction.close()
    throw error
  }
}

async function count({ query }: PostgresTransaction, schema: string): Promise<DumpCounts> {
  const tables = Object.entries({ ...entryTables, blob: 'blobs' })
  const counted = tables.map(([type, table]) => `(SELECT count(*) FROM ${schema}.${table}) AS ${type}`)
  const [row] = await query<EntryRow>(`SELECT ${counted.join(', ')}`)
  const counts = Object.entries(row ?? {}).map(([type, rows]) => [type, Number(rows)])
  return Object.fromEntries(counts) as DumpCounts
}

async function* entries(
  transaction: PostgresTransaction,
  schema: string,
  options: ReadEntriesOptions,
): AsyncGenerator<DumpEntry, void, undefined> {
  const report = damageReporter(options)
  yield* taskGroups(await openTaskTables(transaction, schema, report, options), report, options)
  yield* keyValues(transaction, schema)
  yield* claims(transaction, schema)
  yield* keys(transaction, schema)
}

function decode(text: unknown): string {
  return decodeText(text as string)
}

/** The tables of the tasks, each in the order of the tasks. Within the transaction. The names of the tables begin with `schema`. */
async function openTaskTables(
  transaction: PostgresTransaction,
  schema: string,
  report: ReportDamage,
  { isChecked = false }: ReadEntriesOptions,
): Promise<TaskTables> {
  async function open<Type extends RowEntry['type']>(
    type: Type,
    extra: string,
    order: string,
    read = (row: EntryRow): EntryRow => row,
  ): Promise<RowCursor<RowOfTask<EntryOf<Type>>>> {
    const table = entryTables[type]
    const columns = (text: (column: string) => string): string => `${extra}, ${selectedMembers(type, {}, text)}`
    const from = `${schema}.${table} AS t`
    const next = await openPages(transaction, table, columns, from, `ORDER BY ${order}`)
    return cursorOfPages(async () =>
      (await next()).map((row) => ({ ref: Number(row['task_ref']), entry: entryFromRow(type, read(row), decode) })),
    )
  }

  function checked(type: 'log' | 'snapshot') {
    return (row: EntryRow): EntryRow => {
      if (isChecked) reportChecksum(type, row, report)
      return type === 'log' ? withTimesInOrder(row, report) : row
    }
  }

  return {
    tasks: await open('task', 'ref AS task_ref', 'task_ref'),
    log: await open('log', 'task AS task_ref, not_before, checksum', 'task_ref, "lastSeq"', checked('log')),
    snapshots: await open('snapshot', 'task AS task_ref, checksum', 'task_ref', checked('snapshot')),
    pushes: await open('push', 'task AS task_ref', 'task_ref, "number"'),
    attempts: await open('attempt', 'task AS task_ref', 'task_ref, t.ref'),
    loadBlob: createBlobReader(transaction, schema),
  }
}

/** With the times that the records count as: a row of the log keeps its text as it came. */
function withTimesInOrder(row: EntryRow, report: ReportDamage): EntryRow {
  if (row['not_before'] === null) return row
  try {
    const records = JSON.parse(row['records'] as string) as Append['records']
    const ordered = withOrderedTimes(records, Number(row['not_before']))
    return ordered === records ? row : { ...row, records: JSON.stringify(ordered) }
  } catch {
    report('A stored log is not valid JSON')
    return row
  }
}

function createBlobReader({ query }: PostgresTransaction, schema: string) {
  const find = `SELECT content FROM ${schema}.blobs WHERE task = $1 AND digest = $2`
  return async (ref: number, digest: string): Promise<BlobEntry> => {
    const [row] = await query<{ content: Uint8Array }>(find, ref, digest)
    if (row === undefined) throw new Error(`The blob ${digest} is missing`)
    const { content } = row
    const isText = digest.endsWith('t')
    if (hash('sha256', content) + (isText ? 't' : '') !== digest)
      throw new Error(`The content of the blob ${digest} was changed`)
    return {
      type: 'blob',
      digest,
      content: isText ? (JSON.parse(Buffer.from(content).toString()) as string) : content,
    }
  }
}

async function* keyValues(
  transaction: PostgresTransaction,
  schema: string,
): AsyncGenerator<DumpEntry, void, undefined> {
  const columns = (text: (column: string) => string): string => selectedMembers('kv', {}, text)
  const rest = 'WHERE kind <> $1 ORDER BY kind, key'
  const own = Buffer.from(keyToBytes(storeOwnKind))
  const next = await openPages(transaction, 'notes', columns, `${schema}.notes AS t`, rest, own)
  for await (const row of eachRow(next)) yield entryFromRow('kv', row, decode)
}

async function* claims(transaction: PostgresTransaction, schema: string): AsyncGenerator<DumpEntry, void, undefined> {
  const columns = (): string => selectedMembers('claim', { digest: `replace(key::text, '-', '')` })
  const rest = `WHERE EXISTS (SELECT FROM ${schema}.tasks WHERE tasks.id = t.task_id) ORDER BY key`
  const next = await openPages(transaction, 'claims', columns, `${schema}.messages AS t`, rest)
  for await (const row of eachRow(next)) yield entryFromRow('claim', row, decode)
}

async function* keys({ query }: PostgresTransaction, schema: string): AsyncGenerator<KeyEntry, void, undefined> {
  const rows = await query<EntryRow>(`SELECT ${selectedMembers('key')} FROM ${schema}.keys ORDER BY created_at, id`)
  for (const row of rows) yield entryFromRow('key', row, (text) => text as string)
}
