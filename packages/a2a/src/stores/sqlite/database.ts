/**
 * The one file that touches `node:sqlite`. Everything else speaks of statements that
 * are prepared once and of rows, so that another driver, or a worker thread, would be a change here.
 */
import { DatabaseSync } from 'node:sqlite'
import type { StatementSync } from 'node:sqlite'

export type Value = null | number | string | Uint8Array

export interface Statement<Row> {
  get(...values: readonly Value[]): Row | undefined
  all(...values: readonly Value[]): Row[]
  /** Row by row, so that a reader may stop early. */
  iterate(...values: readonly Value[]): IterableIterator<Row>
  /** Answers how many rows it changed. */
  run(...values: readonly Value[]): number
}

export interface Database {
  /** `null` in memory; otherwise absolute and free of symbolic links. */
  readonly path: string | null
  /** Whether a transaction is open. An error may have ended it. */
  readonly inTransaction: boolean
  /** Prepared once; asking for the same text again answers the same statement. */
  prepare<Row = never>(sql: string): Statement<Row>
  /** Runs statements that answer nothing. */
  exec(sql: string): void
  close(): void
}

/** `timeoutMs` is how long a statement waits for a lock that another process holds. */
export function openDatabase(file: string, timeoutMs: number): Database {
  const database = new DatabaseSync(file, { timeout: timeoutMs })
  const statements = new Map<string, Statement<never>>()
  return {
    path: database.location(),
    get inTransaction() {
      return database.isTransaction
    },
    prepare<Row>(sql: string): Statement<Row> {
      const known = statements.get(sql)
      if (known !== undefined) return known
      const statement = statementOf<Row>(database.prepare(sql))
      statements.set(sql, statement as Statement<never>)
      return statement
    },
    exec: (sql) => database.exec(sql),
    close: () => database.close(),
  }
}

function statementOf<Row>(statement: StatementSync): Statement<Row> {
  return {
    get: (...values) => statement.get(...values) as Row | undefined,
    all: (...values) => statement.all(...values) as Row[],
    iterate: (...values) => statement.iterate(...values) as IterableIterator<Row>,
    run: (...values) => Number(statement.run(...values).changes),
  }
}

const busy = 5
/** SQLite's own number: another connection holds the lock. */
export function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && (error.errcode as number) % 256 === busy
}

/** NOMEM, READONLY, IOERR, FULL, CANTOPEN: the file could not be written, whatever was to be written to it. */
const ofDisk: ReadonlySet<number> = new Set([7, 8, 10, 13, 14])
export function isDiskError(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && ofDisk.has((error.errcode as number) % 256)
}
