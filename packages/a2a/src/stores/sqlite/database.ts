/**
 * The one file that uses `node:sqlite`. Everything else uses prepared statements and rows, so that another driver, or a worker
 * thread, would be a change only here.
 */
import { DatabaseSync, type DatabaseSyncOptions, type StatementSync } from 'node:sqlite'
import { storeAccessError } from './store-directory.ts'

export type SqliteValue = null | number | string | Uint8Array

export interface SqliteStatement<Row> {
  get(...values: readonly SqliteValue[]): Row | undefined
  all(...values: readonly SqliteValue[]): Row[]
  /** Row by row, so that a reader may stop early. */
  iterate(...values: readonly SqliteValue[]): IterableIterator<Row>
  /** Returns the number of changed rows. */
  run(...values: readonly SqliteValue[]): number
}

export interface SqliteDatabase {
  /** `null` in memory; otherwise absolute and without symbolic links. */
  readonly path: string | null
  /** Whether a transaction is open. An error may have ended it. */
  readonly inTransaction: boolean
  /** How many rows `run` has changed so far, also in transactions that were rolled back. */
  readonly changes: number
  /** Prepared once; the same text returns the same statement. */
  prepare<Row = never>(sql: string): SqliteStatement<Row>
  /** Runs statements without results. */
  exec(sql: string): void
  close(): void
}

/** `timeoutMs` is how long a statement waits for a lock of another process. */
export function openSqliteDatabase(
  file: string,
  timeoutMs: number,
  access: 'read' | 'write' = 'write',
): SqliteDatabase {
  const database = openFile(file, { timeout: timeoutMs, readOnly: access === 'read' })
  const statements = new Map<string, SqliteStatement<never>>()
  let changes = 0
  const changed = (rows: number): void => void (changes += rows)
  return {
    path: database.location(),
    get inTransaction() {
      return database.isTransaction
    },
    get changes() {
      return changes
    },
    prepare<Row>(sql: string): SqliteStatement<Row> {
      const known = statements.get(sql)
      if (known !== undefined) return known
      const statement = statementOf<Row>(database.prepare(sql), changed)
      statements.set(sql, statement as SqliteStatement<never>)
      return statement
    },
    exec: (sql) => database.exec(sql),
    close: () => database.close(),
  }
}

function openFile(file: string, options: DatabaseSyncOptions): DatabaseSync {
  try {
    return new DatabaseSync(file, options)
  } catch (reason) {
    throw storeAccessError(reason, file)
  }
}

function statementOf<Row>(statement: StatementSync, changed: (rows: number) => void): SqliteStatement<Row> {
  return {
    get: (...values) => statement.get(...values) as unknown as Row | undefined,
    all: (...values) => statement.all(...values) as unknown as Row[],
    iterate: (...values) => statement.iterate(...values) as unknown as IterableIterator<Row>,
    run(...values) {
      const rows = Number(statement.run(...values).changes)
      changed(rows)
      return rows
    },
  }
}

/** SQLite's own error codes. */
const busy = 5
const corrupt = 11

/** Another connection holds the lock. */
export function isBusy(error: unknown): boolean {
  return codeOf(error) === busy
}

/** The file, or a page of it, is not a valid database. */
export function isCorrupt(error: unknown): error is Error {
  return codeOf(error) === corrupt
}

function codeOf(error: unknown): number | undefined {
  return error instanceof Error && 'errcode' in error ? (error.errcode as number) % 256 : undefined
}

/** NOMEM, READONLY, IOERR, FULL, CANTOPEN: the file could not be written, whatever the content. */
const diskErrorCodes: ReadonlySet<number> = new Set([7, 8, 10, 13, 14])
export function isDiskError(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && diskErrorCodes.has((error.errcode as number) % 256)
}
