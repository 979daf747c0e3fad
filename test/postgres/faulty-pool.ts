/** A pool whose statements can be held back, lost on the way, or whose answers get lost. */
import type { PostgresPool, PostgresQuery } from '@parley/a2a/stores/postgres'

export interface PoolFaults {
  /** Before the server is asked. What it throws is what the store gets, and nothing was done. */
  before?(query: PostgresQuery): unknown
  /** After the server has done it. What it throws is what the store gets, and it was done all the same. */
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

/** What the driver says when the connection breaks. */
export const connectionLost = (): Error => new Error('Connection terminated unexpectedly')

export const isAppend = ({ text }: PostgresQuery): boolean => text.includes('.append_')
