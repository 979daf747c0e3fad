/** A pool whose statements can be delayed or lost, or whose responses can be lost. */
import type { PostgresQuery } from '../../packages/a2a/src/stores/postgres/driver.ts'
import type { PostgresPool } from '@parley/a2a/stores/postgres'

export interface PoolFaults {
  /** Before the statement is sent. If it throws, the store gets the error and nothing was done. */
  before?(query: PostgresQuery): unknown
  /** After the statement was run. If it throws, the store gets the error although the statement was run. */
  after?(query: PostgresQuery): unknown
}

export function createFaultyPool(pool: PostgresPool, trouble: PoolFaults): PostgresPool {
  return {
    async query(query) {
      await trouble.before?.(query)
      const answer = await pool.query(query)
      await trouble.after?.(query)
      return answer
    },
    on: (event, listener) => pool.on(event, listener),
    end: () => pool.end(),
  }
}

/** The error of the driver for a broken connection. */
export const connectionLost = (): Error => new Error('Connection terminated unexpectedly')

export const isAppend = ({ text }: PostgresQuery): boolean => text.includes('.append_')
