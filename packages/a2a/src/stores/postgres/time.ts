/**
 * The time that counts on this store is the database's: clocks of replicas differ, and each may be set at any moment. A caller
 * reads times from the clock of its replica. They are handed on as distances from now on that clock, and the database
 * adds its own time.
 */
import { wholeTime } from './names.ts'

export interface DatabaseTime {
  /** The clock of a test, or nothing where the database's own counts. */
  readonly now: () => number | null
  /** How far a time that the caller read from its clock is from now, in milliseconds; negative for one that is over. */
  readonly distance: (at: number) => number
}

export interface DatabaseTimeOptions {
  readonly now?: (() => number) | undefined
  readonly wallNow?: (() => number) | undefined
}

/** About 30,000 years: for ever. Added to a time it is still a number that JavaScript can hold. */
const farMs = 1e15

export function createDatabaseTime({ now, wallNow = now ?? (() => Date.now()) }: DatabaseTimeOptions): DatabaseTime {
  return {
    now: () => now?.() ?? null,
    distance: (at) => Math.max(-farMs, Math.min(wholeTime(at - wallNow()), farMs)),
  }
}

/** The time that counts, in SQL: that of the given clock, or the database's. */
export function momentOf(clock: string): string {
  return `coalesce(${clock}::bigint, (extract(epoch FROM clock_timestamp()) * 1000)::bigint)`
}
