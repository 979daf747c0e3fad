/**
 * This store uses the time of the database: the clocks of replicas differ, and each may step at any moment. A caller reads times
 * from the clock of its replica. They are passed as offsets from now on that clock, and the database adds its own time.
 */
import { toPostgresInteger } from './text-encoding.ts'

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
