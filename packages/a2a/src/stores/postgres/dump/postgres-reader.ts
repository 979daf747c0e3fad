/**
 * Reads a whole store in PostgreSQL in one transaction that sees one moment. It takes no lock that a replica waits for; the server
 * only keeps the rows that are replaced meanwhile until the transaction ends.
 */
import { hash } from 'node:crypto'
import { keyFromBytes, keyToBytes } from '../../key-value-keys.ts'
import {
  storeOwnKind,
  type BlobEntry,
  type ClaimEntry,
  type DumpCounts,
  type DumpEntry,
  type KeyEntry,
  type KeyValueDumpEntry,
} from '../../dump/dump-entry.ts'
import type { ReadEntriesOptions, StoreReader } from '../../dump/store-dump.ts'
import { damageReporter, taskGroups } from '../../dump/task-groups.ts'
import { quoteIdentifier, readableSchemaVersion } from '../migrate.ts'
import { decodeText } from '../text-encoding.ts'
import { checkPostgresTables } from './check-tables.ts'
import { positionOf } from './feed-position.ts'
import { openTaskTables, safeTime } from './task-rows.ts'
import {
  beginTransaction,
  openPages,
  pageText,
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
  const tables = {
    task: 'tasks',
    log: 'log',
    snapshot: 'snapshots',
    blob: 'blobs',
    push: 'pushes',
    attempt: 'push_attempts',
    kv: 'notes',
    claim: 'messages',
    key: 'keys',
  }
  const counted = Object.entries(tables).map(([type, table]) => `(SELECT count(*) FROM ${schema}.${table}) AS ${type}`)
  const [row] = await query<Record<keyof typeof tables, unknown>>(`SELECT ${counted.join(', ')}`)
  const entriesOf = Object.entries(row ?? {}).map(([type, rows]) => [type, Number(rows)])
  return Object.fromEntries(entriesOf) as DumpCounts
}

async function* entries(
  transaction: PostgresTransaction,
  schema: string,
  options: ReadEntriesOptions,
): AsyncGenerator<DumpEntry, void, undefined> {
  const report = damageReporter(options)
  const tables = await openTaskTables(transaction, schema, report, options)
  yield* taskGroups({ ...tables, loadBlob: createBlobReader(transaction, schema) }, report, options)
  yield* keyValues(transaction, schema)
  yield* claims(transaction, schema)
  yield* keys(transaction, schema)
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

interface NoteColumns {
  readonly kind: Uint8Array
  readonly key: Uint8Array
  readonly version: unknown
  readonly updated_at: unknown
  readonly expires_at: unknown
  readonly value: string | null
}

async function* keyValues(
  transaction: PostgresTransaction,
  schema: string,
): AsyncGenerator<KeyValueDumpEntry, void, undefined> {
  const next = await openPages<NoteColumns>(
    transaction,
    'notes',
    `SELECT kind, key, version, updated_at, expires_at, ${pageText('value')} AS value
    FROM ${schema}.notes WHERE kind <> $1 ORDER BY kind, key`,
    Buffer.from(keyToBytes(storeOwnKind)),
  )
  const one = `SELECT value FROM ${schema}.notes WHERE kind = $1 AND key = $2`
  for await (const row of rowsOf(next)) {
    const { kind, key, version, updated_at, expires_at } = row
    const value = row.value ?? (await transaction.query<{ value: string }>(one, kind, key))[0]?.value
    if (value === undefined) continue
    yield {
      type: 'kv',
      kind: keyFromBytes(kind),
      key: keyFromBytes(key),
      version: Number(version),
      updatedAt: Number(updated_at),
      ...(expires_at === null ? {} : { expiresAt: safeTime(Number(expires_at)) }),
      value,
    }
  }
}

interface ClaimColumns {
  readonly key: string
  readonly task_id: string
  readonly hash: string
  readonly expires_at: unknown
}

async function* claims(transaction: PostgresTransaction, schema: string): AsyncGenerator<ClaimEntry, void, undefined> {
  const next = await openPages<ClaimColumns>(
    transaction,
    'claims',
    `SELECT m.key, m.task_id, m.hash, m.expires_at FROM ${schema}.messages AS m
    WHERE EXISTS (SELECT FROM ${schema}.tasks AS t WHERE t.id = m.task_id) ORDER BY m.key`,
  )
  for await (const { key, task_id, hash: content, expires_at } of rowsOf(next)) {
    yield {
      type: 'claim',
      digest: key.replaceAll('-', ''),
      taskId: decodeText(task_id),
      hash: decodeText(content),
      expiresAt: safeTime(Number(expires_at)),
    }
  }
}

async function* keys({ query }: PostgresTransaction, schema: string): AsyncGenerator<KeyEntry, void, undefined> {
  const rows = await query<Omit<KeyEntry, 'type' | 'createdAt'> & { readonly created_at: unknown }>(
    `SELECT id, purpose, material, created_at FROM ${schema}.keys ORDER BY created_at, id`,
  )
  for (const { id, purpose, material, created_at } of rows) {
    yield { type: 'key', id, purpose, material, createdAt: Number(created_at) }
  }
}

async function* rowsOf<Row>(next: () => Promise<readonly Row[]>): AsyncGenerator<Row, void, undefined> {
  for (let page = await next(); page.length > 0; page = await next()) yield* page
}
