/**
 * Reads a whole SQLite store in one read transaction of a connection of its own. In WAL mode it neither waits for the process that
 * has the store open nor delays it; the WAL only cannot be emptied before the transaction ends.
 */
import { hash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { keyToBytes } from '../../dump-access.ts'
import {
  createBlobTable,
  isCorrupt,
  openSqliteDatabase,
  readableSchemaVersion,
  type SqliteDatabase,
  storeAccessError,
} from '../../sqlite/dump-access.ts'
import { storeOwnKind, type BlobEntry, type DumpCounts, type DumpEntry, type KeyEntry } from '../dump-entry.ts'
import {
  entryFromRow,
  type EntryRow,
  entryTables,
  reportChecksum,
  type RowEntry,
  selectedMembers,
} from '../entry-row.ts'
import type { ReadEntriesOptions, StoreReader } from '../store-dump.ts'
import { stateName } from '../store-finding.ts'
import { cursorOfRows, damageReporter, type ReportDamage, taskGroups, type TaskTables } from '../task-groups.ts'
import { checkSqliteTables } from './check-tables.ts'

/** How long to wait for a process that is recovering the file. */
const busyTimeoutMs = 5_000

/**
 * Opens a SQLite store at its present moment, for `StoreReader`. The store may be in use. Throws if there is no store in the file, or
 * one of another version of the schema.
 */
export async function sqliteReader(file: string): Promise<StoreReader> {
  // SQLite's own error does not name the file.
  if (!existsSync(file)) throw new Error(`${file} does not exist`)
  const database = openSqliteDatabase(file, busyTimeoutMs, 'read')
  try {
    const schemaVersion = readableSchemaVersion(database)
    // Sorts of many claims go to a temporary file instead of memory.
    database.exec('PRAGMA temp_store = FILE; PRAGMA cache_size = -16000; BEGIN')
    // The first read fixes the moment.
    const position = positionOf(database)
    return {
      kind: 'sqlite',
      schemaVersion,
      position,
      count: async () => count(database),
      keys: async () => [...keys(database)],
      entries: (options) => entries(database, options ?? {}),
      checkTables: (report) => checkSqliteTables(database, report),
      close: async () => database.close(),
    }
  } catch (error) {
    database.close()
    throw storeAccessError(error, file)
  }
}

function positionOf(database: SqliteDatabase): number {
  const sql = 'SELECT max(last_position, coalesce((SELECT max(position) FROM log), 0)) AS position FROM engine'
  return database.prepare<{ position: number }>(sql).get()?.position ?? 0
}

function count(database: SqliteDatabase): DumpCounts {
  const rows = (table: string): number =>
    database.prepare<{ rows: number }>(`SELECT count(*) AS rows FROM ${table}`).get()?.rows ?? 0
  const counts = Object.entries(entryTables).map(([type, table]) => [type, rows(table)])
  const claim = rows('messages') + rows('sealed_messages')
  return { ...Object.fromEntries(counts), claim, blob: rows('blob_uses') } as DumpCounts
}

async function* entries(
  database: SqliteDatabase,
  options: ReadEntriesOptions,
): AsyncGenerator<DumpEntry, void, undefined> {
  const report = damageReporter(options)
  try {
    yield* taskGroups(openTaskTables(database, report, options), report, options)
    yield* keyValues(database)
    yield* claims(database)
    yield* keys(database)
  } catch (error) {
    // A page of the file cannot be read: what follows is unknown.
    if (!isCorrupt(error)) throw error
    reportCorruption(report, error)
  }
}

function reportCorruption(report: ReportDamage, error: Error): void {
  report(`The database file is damaged, and the rest of it cannot be read (${error.message})`)
}

interface BlobColumns {
  readonly type: 'blob' | 'text'
  readonly content: Uint8Array
}

function createBlobReader(database: SqliteDatabase) {
  // As bytes: Node 22 reads a text only up to its first NUL.
  const find = database.prepare<BlobColumns>(
    'SELECT typeof(content) AS type, CAST(content AS BLOB) AS content FROM blobs WHERE digest = ?',
  )
  return (_ref: number, digest: string): BlobEntry => {
    const row = find.get(digest)
    if (row === undefined) throw new Error(`The blob ${digest} is missing`)
    const { type, content } = row
    const isText = type === 'text'
    const text = isText ? Buffer.from(content).toString() : ''
    const dumpDigest = isText ? `${hash('sha256', JSON.stringify(text))}t` : hash('sha256', content)
    // A text that was loaded has the digest of dumps.
    if (digest !== dumpDigest && !(isText && digest === `${hash('sha256', content)}t`))
      throw new Error(`The content of the blob ${digest} was changed`)
    return { type: 'blob', digest: dumpDigest, content: isText ? text : content }
  }
}

/** Some texts are read as bytes: Node 22 reads a text only up to its first NUL. */
function decode(text: unknown): string {
  return typeof text === 'string' ? text : Buffer.from(text as Uint8Array).toString()
}

interface TaskRow extends EntryRow {
  /** The task that the row belongs to. */
  readonly task_ref: number
}

/** The tables of the tasks, each in the order of the tasks. Within a transaction of the caller. */
function openTaskTables(
  database: SqliteDatabase,
  report: ReportDamage,
  { isChecked = false }: ReadEntriesOptions,
): TaskTables {
  const blobs = createBlobTable(database)

  function open<Type extends RowEntry['type']>(
    type: Type,
    select: string,
    rest: string,
    read = (row: TaskRow): EntryRow => row,
  ) {
    const all = database.prepare<TaskRow>(`SELECT ${select} FROM ${entryTables[type]} AS t ORDER BY task_ref${rest}`)
    function* rows() {
      for (const row of all.iterate()) yield { ref: row.task_ref, entry: entryFromRow(type, read(row), decode) }
    }
    return cursorOfRows(rows())
  }

  function checked(type: 'log' | 'snapshot') {
    return (row: TaskRow): EntryRow => {
      if (isChecked) reportChecksum(type, row, report)
      return row
    }
  }

  /** A long text is stored elsewhere. `fallback` replaces one that is missing. */
  function textOf(rowText: unknown, id: unknown, fallback: () => unknown): string | null {
    if (rowText === null) return null
    try {
      return blobs.fromRow(rowText as string)
    } catch (error) {
      report(error instanceof Error ? error.message : String(error), id as string, 'blobs')
      return JSON.stringify(fallback())
    }
  }

  return {
    tasks: open('task', `ref AS task_ref, ${stateName} AS state, ${selectedMembers('task')}`, '', (row) => ({
      ...row,
      status: textOf(row['status'], row['id'], () => ({ state: row['state'] })),
      metadata: textOf(row['metadata'], row['id'], () => ({})),
    })),
    log: open('log', `task AS task_ref, checksum, ${selectedMembers('log')}`, ', "firstSeq"', checked('log')),
    snapshots: open('snapshot', `task AS task_ref, checksum, ${selectedMembers('snapshot')}`, '', checked('snapshot')),
    pushes: open('push', `task AS task_ref, ${selectedMembers('push')}`, ', "number"'),
    attempts: open(
      'attempt',
      `task AS task_ref, ${selectedMembers('attempt', { answer: 'CAST(answer AS BLOB)' })}`,
      ', t.ref',
    ),
    loadBlob: createBlobReader(database),
  }
}

function* keyValues(database: SqliteDatabase): Generator<DumpEntry, void, undefined> {
  const all = database.prepare<EntryRow>(
    `SELECT ${selectedMembers('kv')} FROM notes WHERE kind <> ? ORDER BY kind, key`,
  )
  for (const row of all.iterate(keyToBytes(storeOwnKind))) yield entryFromRow('kv', row, decode)
}

function* claims(database: SqliteDatabase): Generator<DumpEntry, void, undefined> {
  // The newest claim of a key comes first: unsealed ones are newer than all generations, and later positions than earlier ones.
  const all = database.prepare<EntryRow>(`
    SELECT ${selectedMembers('claim', { digest: 'lower(hex(key))' })},
      EXISTS (SELECT 1 FROM tasks WHERE tasks.id = task_id) AS has_task
    FROM (
      SELECT key, task_id, hash, expires_at, 1 AS is_new, position AS age FROM messages
      UNION ALL
      SELECT key, task_id, hash, expires_at, 0 AS is_new, generation AS age FROM sealed_messages
    ) ORDER BY key, is_new DESC, age DESC`)
  let last = ''
  for (const row of all.iterate()) {
    const claim = entryFromRow('claim', row, decode)
    if (claim.digest === last) continue
    last = claim.digest
    if (row['has_task'] === 1) yield claim
  }
}

function* keys(database: SqliteDatabase): Generator<KeyEntry, void, undefined> {
  const all = database.prepare<EntryRow>(`SELECT ${selectedMembers('key')} FROM keys ORDER BY created_at, id`)
  for (const row of all.iterate()) yield entryFromRow('key', row, decode)
}
