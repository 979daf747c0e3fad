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
  /** How many rows `run` has changed so far, also in transactions that were rolled back. */
  readonly changes: number
  /** Prepared once; asking for the same text again answers the same statement. */
  prepare<Row = never>(sql: string): Statement<Row>
  /** Runs statements that answer nothing. */
  exec(sql: string): void
  close(): void
}

/** `timeoutMs` is how long a statement waits for a lock that another process holds. */
export function openDatabase(file: string, timeoutMs: number, access: 'read' | 'write' = 'write'): Database {
  const database = new DatabaseSync(file, { timeout: timeoutMs, readOnly: access === 'read' })
  const statements = new Map<string, Statement<never>>()
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
    prepare<Row>(sql: string): Statement<Row> {
      const known = statements.get(sql)
      if (known !== undefined) return known
      const statement = statementOf<Row>(database.prepare(sql), changed)
      statements.set(sql, statement as Statement<never>)
      return statement
    },
    exec: (sql) => database.exec(sql),
    close: () => database.close(),
  }
}

function statementOf<Row>(statement: StatementSync, changed: (rows: number) => void): Statement<Row> {
  return {
    get: (...values) => statement.get(...values) as Row | undefined,
    all: (...values) => statement.all(...values) as Row[],
    iterate: (...values) => statement.iterate(...values) as IterableIterator<Row>,
    run(...values) {
      const rows = Number(statement.run(...values).changes)
      changed(rows)
      return rows
    },
  }
}

/** SQLite's own numbers. */
const busy = 5
const corrupt = 11

/** Another connection holds the lock. */
export function isBusy(error: unknown): boolean {
  return codeOf(error) === busy
}

/** The file, or a page of it, is not what a database has there. */
export function isCorrupt(error: unknown): error is Error {
  return codeOf(error) === corrupt
}

function codeOf(error: unknown): number | undefined {
  return error instanceof Error && 'errcode' in error ? (error.errcode as number) % 256 : undefined
}
