/**
 * Queries the database, one statement at a time. Statements that can run twice are retried until the transient error has passed or
 * the retry timeout is over. Nothing waits forever, neither for a result nor for a connection of the pool.
 */
import { backoffMs } from '../../model/backoff.ts'
import { withTimeout } from '../../model/signals.ts'
import { delay, firstRetryMs, isTransientError } from './database-errors.ts'
import type { PostgresPool } from './driver.ts'
import { nameDigest, toPostgresInteger } from './text-encoding.ts'

export interface PostgresDatabase {
  /** Runs a statement once. Rejects with the error of the driver. */
  query<Row>(text: string, ...values: readonly unknown[]): Promise<readonly Row[]>
  /** Retries while errors are transient. For statements that may run twice. */
  queryWithRetry<Row>(text: string, ...values: readonly unknown[]): Promise<readonly Row[]>
}

export interface PostgresDatabaseOptions {
  readonly pool: Pick<PostgresPool, 'query'>
  readonly unnamedStatements: boolean
  /** How long a statement may take, including the wait for a connection. */
  readonly timeoutMs: number
  /** How long `queryWithRetry` retries. */
  readonly retryTimeoutMs: number
  /** Called for each statement that fails, also if it is retried. */
  onError?(): void
  /** Called before `queryWithRetry` tries a statement again. */
  onRetry?(error: unknown): void
}

export function createPostgresDatabase({
  pool,
  unnamedStatements,
  timeoutMs,
  retryTimeoutMs,
  onError,
  onRetry,
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
    try {
      const { rows } = await answerWithin(timeoutMs, answered)
      return rows as Row[]
    } catch (error) {
      onError?.()
      throw error
    }
  }

  async function ask<Row>(text: string, ...values: readonly unknown[]): Promise<readonly Row[]> {
    const giveUpAt = performance.now() + retryTimeoutMs
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await once<Row>(text, ...values)
      } catch (error) {
        const waitMs = backoffMs(attempt, firstRetryMs, 500)
        if (!isTransientError(error) || performance.now() + waitMs > giveUpAt) throw error
        onRetry?.(error)
        await delay(waitMs)
      }
    }
  }

  return { query: once, queryWithRetry: ask }
}

/** The driver's own timeout starts when it has a connection; this one starts with the call. */
export function answerWithin<Result>(ms: number, work: Promise<Result>): Promise<Result> {
  return withTimeout(work, ms, () => new Error(`The database has not answered for ${ms} ms`))
}

// This store uses the time of the database: the clocks of replicas differ, and each may step at any moment. A caller reads times
// from the clock of its replica. They are passed as offsets from now on that clock, and the database adds its own time.

export interface DatabaseTime {
  /** The clock of a test; `null` for the clock of the database. */
  readonly now: () => number | null
  /** The offset of a time from now on the caller's clock, in milliseconds; negative for a past time. */
  readonly offsetFromNow: (at: number) => number
}

export interface DatabaseTimeOptions {
  readonly now?: (() => number) | undefined
  readonly wallNow?: (() => number) | undefined
}

/** About 30,000 years: forever. The sum with a time is still a safe integer in JavaScript. */
const maxOffsetMs = 1e15

export function createDatabaseTime({ now, wallNow = now ?? (() => Date.now()) }: DatabaseTimeOptions): DatabaseTime {
  return {
    now: () => now?.() ?? null,
    offsetFromNow: (at) => Math.max(-maxOffsetMs, Math.min(toPostgresInteger(at - wallNow()), maxOffsetMs)),
  }
}

/** The current time in SQL: that of the given clock, or the database's. */
export function currentTimeSql(clock: string): string {
  return `coalesce(${clock}::bigint, (extract(epoch FROM clock_timestamp()) * 1000)::bigint)`
}
