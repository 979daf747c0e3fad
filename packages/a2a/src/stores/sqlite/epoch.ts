/**
 * Which process owns a file. Each opening increments its epoch; a store that finds a higher epoch in the file has lost it and
 * writes no more. The high part of a fence is the epoch, so that the leases of an earlier process are invalid without a write for
 * each.
 */
import type { SqliteDatabase } from './database.ts'

/** The number of fences per epoch. 2^32 fences and 2^21 openings stay safe integers. */
const fencesPerEpoch = 2 ** 32

export type Epoch = ReturnType<typeof beginEpoch>

interface EngineRow {
  readonly epoch: number
  readonly last_position: number
}

export function beginEpoch(database: SqliteDatabase) {
  const newest = (sql: string): number => database.prepare<{ newest: number | null }>(sql).get()?.newest ?? 0
  const current = database.prepare<EngineRow>('SELECT epoch, last_position FROM engine')
  const keep = database.prepare('UPDATE engine SET last_position = ?')
  const raise = database.prepare<EngineRow>(
    'UPDATE engine SET epoch = epoch + 1, last_position = ? RETURNING epoch, last_position',
  )
  const lastPosition = current.get()?.last_position ?? 0
  // A position of its own, so that the mark covers this write too.
  let position = Math.max(lastPosition, newest('SELECT max(position) AS newest FROM log')) + 1
  const { epoch } = raise.get(position) as EngineRow
  const firstFence = epoch * fencesPerEpoch
  let fence = firstFence
  let ref = newest('SELECT max(ref) AS newest FROM tasks')
  return {
    /** Lower fences come from an earlier opening. */
    firstFence,
    newFence: (): number => (fence += 1),
    /** A position in the feed: always increasing, also across restarts. */
    newPosition: (): number => (position += 1),
    newRef: (): number => (ref += 1),
    number: epoch,
    /** The highest assigned position. */
    get position(): number {
      return position
    },
    /** Throws if another process has opened the file since. Called within every transaction. */
    check(): void {
      if (current.get()?.epoch === epoch) return
      throw new Error('Another process has opened the database. This process can no longer write.')
    },
    /** Call it in the transaction that removes log rows: their positions must not be assigned again. */
    keepPosition: (): void => void keep.run(position),
  }
}
