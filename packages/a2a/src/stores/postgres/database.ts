/**
 * Queries the database, one statement at a time. Statements that can run twice are retried until the transient error has passed or
 * the retry timeout is over. Nothing waits forever, neither for a result nor for a connection of the pool.
 */
import { nameDigest } from './text-encoding.ts'
import type { PostgresPool } from './driver.ts'
import { backoffMs, isTransientError, delay } from './database-errors.ts'

export interface PostgresDatabase {
  /** Runs a statement once. Rejects with the error of the driver. */
  query<Row>(text: string, ...values: readonly unknown[]): Promise<readonly Row[]>
  /** Retries while errors are transient. For statements that may run twice. */
  queryWithRetry<Row>(text: string, ...values: readonly unknown[]): Promise<readonly Row[]>
}

export interface PostgresDatabaseOptions {
  readonly pool: PostgresPool
  readonly unnamedStatements: boolean
  /** How long a statement may take, including the wait for a connection. */
  readonly timeoutMs: number
  /** How long `queryWithRetry` retries. */
  readonly retryTimeoutMs: number
}

export function createPostgresDatabase({
  pool,
  unnamedStatements,
  timeoutMs,
  retryTimeoutMs,
}: PostgresDatabaseOptions): PostgresDatabase {
  const names = new Map<string, string>()

  /** A connection identifies a prepared statement by its name, and stores of several schemas may share a pool. */
  function nameOf(text: string): string {
    const known = names.get(text)
    if (known !== undefined) return known
    const name = `parley_${nameDigest(text)}`
    names.set(text, name)
    return name
  }

  async function once<Row>(text: string, ...values: readonly unknown[]): Promise<readonly Row[]> {
    const query = { text, values: [...values], query_timeout: timeoutMs }
    const answered = pool.query(unnamedStatements || values.length === 0 ? query : { ...query, name: nameOf(text) })
    const { rows } = await withTimeout(timeoutMs, answered)
    return rows as Row[]
  }

  async function ask<Row>(text: string, ...values: readonly unknown[]): Promise<readonly Row[]> {
    const giveUpAt = performance.now() + retryTimeoutMs
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await once<Row>(text, ...values)
      } catch (error) {
        const waitMs = backoffMs(attempt, 500)
        if (!isTransientError(error) || performance.now() + waitMs > giveUpAt) throw error
        await delay(waitMs)
      }
    }
  }

  return { query: once, queryWithRetry: ask }
}

/** The driver's own timeout starts when it has a connection; this one starts with the call. */
export function withTimeout<Result>(ms: number, work: Promise<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`The database has not answered for ${ms} ms`)), ms)
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
