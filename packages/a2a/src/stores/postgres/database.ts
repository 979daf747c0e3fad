/**
 * Asks the database, one statement at a time, and does not take the first silence for an answer: what can be asked twice
 * is asked again until the trouble has passed or the patience is over. Nothing waits for ever, neither for an answer nor
 * for a connection of the pool.
 */
import { digestOf } from './names.ts'
import type { PostgresPool } from './driver.ts'
import { backoffMs, passes, pause } from './trouble.ts'

export interface Database {
  /** Once. Rejects with what the driver says. */
  once<Row>(text: string, ...values: readonly unknown[]): Promise<readonly Row[]>
  /** Again and again for as long as trouble may pass. For what may be done twice. */
  ask<Row>(text: string, ...values: readonly unknown[]): Promise<readonly Row[]>
}

export interface DatabaseOptions {
  readonly pool: PostgresPool
  readonly unnamedStatements: boolean
  /** How long a statement may take, the wait for a connection included. */
  readonly timeoutMs: number
  /** How long `ask` goes on asking. */
  readonly patienceMs: number
}

export function createDatabase({ pool, unnamedStatements, timeoutMs, patienceMs }: DatabaseOptions): Database {
  const names = new Map<string, string>()

  /** A connection knows a prepared statement by its name, and stores of several schemas may share a pool. */
  function nameOf(text: string): string {
    const known = names.get(text)
    if (known !== undefined) return known
    const name = `parley_${digestOf(text)}`
    names.set(text, name)
    return name
  }

  async function once<Row>(text: string, ...values: readonly unknown[]): Promise<readonly Row[]> {
    const query = { text, values: [...values], query_timeout: timeoutMs }
    const answered = pool.query(unnamedStatements || values.length === 0 ? query : { ...query, name: nameOf(text) })
    const { rows } = await within(timeoutMs, answered)
    return rows as Row[]
  }

  async function ask<Row>(text: string, ...values: readonly unknown[]): Promise<readonly Row[]> {
    const giveUpAt = performance.now() + patienceMs
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await once<Row>(text, ...values)
      } catch (error) {
        const waitMs = backoffMs(attempt, 500)
        if (!passes(error) || performance.now() + waitMs > giveUpAt) throw error
        await pause(waitMs)
      }
    }
  }

  return { once, ask }
}

/** The driver's own limit begins when it has a connection; this one when it is asked. */
export function within<Result>(ms: number, work: Promise<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`The database has not answered for ${ms} ms`)), ms)
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
