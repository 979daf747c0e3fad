/**
 * Reads a whole SQLite store in one read transaction of a connection of its own. In WAL mode it neither waits for the process that
 * has the store open nor delays it; the WAL only cannot be emptied before the transaction ends.
 */
import { hash } from 'node:crypto'
import { existsSync } from 'node:fs'
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
import { cursorOfRows } from '../../dump/row-cursor.ts'
import type { ReadEntriesOptions, StoreReader } from '../../dump/store-dump.ts'
import { damageReporter, taskGroups, type ReportDamage } from '../../dump/task-groups.ts'
import { type SqliteDatabase, isCorrupt, openSqliteDatabase } from '../database.ts'
import { readableSchemaVersion } from '../migrate.ts'
import { storeAccessError } from '../store-directory.ts'
import { checkSqliteTables } from './check-tables.ts'
import { openTaskTables } from './task-rows.ts'

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
  return {
    task: rows('tasks'),
    log: rows('log'),
    snapshot: rows('snapshots'),
    blob: rows('blob_uses'),
    push: rows('pushes'),
    attempt: rows('push_attempts'),
    kv: rows('notes'),
    claim: rows('messages') + rows('sealed_messages'),
    key: rows('keys'),
  }
}

async function* entries(
  database: SqliteDatabase,
  options: ReadEntriesOptions,
): AsyncGenerator<DumpEntry, void, undefined> {
  const report = damageReporter(options)
  try {
    const tables = openTaskTables(database, report, options)
    const cursors = {
      tasks: cursorOfRows(tables.tasks),
      log: cursorOfRows(tables.log),
      snapshots: cursorOfRows(tables.snapshots),
      pushes: cursorOfRows(tables.pushes),
      attempts: cursorOfRows(tables.attempts),
    }
    yield* taskGroups({ ...cursors, loadBlob: createBlobReader(database) }, report, options)
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

interface NoteColumns {
  readonly kind: Uint8Array
  readonly key: Uint8Array
  readonly version: number
  readonly updated_at: number
  readonly expires_at: number | null
  readonly value: string
}

function* keyValues(database: SqliteDatabase): Generator<KeyValueDumpEntry, void, undefined> {
  const all = database.prepare<NoteColumns>(
    'SELECT kind, key, version, updated_at, expires_at, value FROM notes WHERE kind <> ? ORDER BY kind, key',
  )
  for (const { kind, key, version, updated_at, expires_at, value } of all.iterate(keyToBytes(storeOwnKind))) {
    yield {
      type: 'kv',
      kind: keyFromBytes(kind),
      key: keyFromBytes(key),
      version,
      updatedAt: updated_at,
      ...(expires_at === null ? {} : { expiresAt: expires_at }),
      value,
    }
  }
}

interface ClaimColumns {
  readonly key: Uint8Array
  readonly task_id: string
  readonly hash: string
  readonly expires_at: number
  readonly is_held: 0 | 1
}

function* claims(database: SqliteDatabase): Generator<ClaimEntry, void, undefined> {
  // The newest claim of a key comes first: unsealed ones are newer than all generations, and later positions than earlier ones.
  const all = database.prepare<ClaimColumns>(`
    SELECT key, task_id, hash, expires_at, EXISTS (SELECT 1 FROM tasks WHERE tasks.id = task_id) AS is_held FROM (
      SELECT key, task_id, hash, expires_at, 1 AS is_new, position AS age FROM messages
      UNION ALL
      SELECT key, task_id, hash, expires_at, 0 AS is_new, generation AS age FROM sealed_messages
    ) ORDER BY key, is_new DESC, age DESC`)
  let last = ''
  for (const { key, task_id, hash: content, expires_at, is_held } of all.iterate()) {
    const digest = Buffer.from(key).toString('hex')
    if (digest === last) continue
    last = digest
    if (is_held === 1) yield { type: 'claim', digest, taskId: task_id, hash: content, expiresAt: expires_at }
  }
}

function* keys(database: SqliteDatabase): Generator<KeyEntry, void, undefined> {
  const all = database.prepare<Omit<KeyEntry, 'type'>>(
    'SELECT id, purpose, material, created_at AS createdAt FROM keys ORDER BY created_at, id',
  )
  for (const key of all.iterate()) yield { type: 'key', ...key }
}
