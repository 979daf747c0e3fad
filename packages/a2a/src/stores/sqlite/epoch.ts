/**
 * Who is in charge of a file. Each opening raises its epoch; a store that finds a higher one in the file has lost it and
 * writes no more. Fences carry the epoch in their high part, so that leases given by an earlier process are dead
 * without a word being written about each.
 */
import type { Database } from './database.ts'

/** So many fences fit into one epoch. 2^32 of them and 2^21 openings stay whole numbers. */
const fencesPerEpoch = 2 ** 32

export interface Epoch {
  /** Fences below were given by an earlier opening. */
  readonly firstFence: number
  newFence(): number
  /** Of the feed: ever greater, also over the end of this process. */
  newPosition(): number
  newRef(): number
  readonly number: number
  /** The highest position that was given. */
  readonly position: number
  /** Throws if somebody else has opened the file since. Called within every transaction. */
  check(): void
  /** To be called in the transaction that removes log rows: their positions must not be given again. */
  keepPosition(): void
}

interface EngineRow {
  readonly epoch: number
  readonly last_position: number
}

export function beginEpoch(database: Database): Epoch {
  const newest = (sql: string): number => database.prepare<{ newest: number | null }>(sql).get()?.newest ?? 0
  const current = database.prepare<EngineRow>('SELECT epoch, last_position FROM engine')
  const keep = database.prepare('UPDATE engine SET last_position = ?')
  const raise = database.prepare<EngineRow>(
    'UPDATE engine SET epoch = epoch + 1, last_position = ? RETURNING epoch, last_position',
  )
  const lastPosition = current.get()?.last_position ?? 0
  // Its own position, so that the mark covers this write too.
  let position = Math.max(lastPosition, newest('SELECT max(position) AS newest FROM log')) + 1
  const { epoch } = raise.get(position) as EngineRow
  const firstFence = epoch * fencesPerEpoch
  let fence = firstFence
  let ref = newest('SELECT max(ref) AS newest FROM tasks')
  return {
    firstFence,
    newFence: () => (fence += 1),
    newPosition: () => (position += 1),
    newRef: () => (ref += 1),
    number: epoch,
    get position() {
      return position
    },
    check() {
      if (current.get()?.epoch === epoch) return
      throw new Error('The database was opened by another process, which has taken over. This one writes no more.')
    },
    keepPosition: () => void keep.run(position),
  }
}
