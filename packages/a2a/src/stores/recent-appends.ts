/**
 * The end of the feed in memory, for the one reader that follows it: it need not query, read back and parse what this process has
 * just written. Only for a store of one process, which appends everything itself. Only a shortcut: the store has all of it.
 */
import type { LogRecord } from '../model/record.ts'
import type { Append, FeedEntry } from './store.ts'

export interface RecentAppends {
  /** A transaction begins. */
  begin(): void
  /** Adds an append of the transaction, in the order of the positions. `bytes` is about the size of its records. */
  add(entry: FeedEntry, records: Append['records'], bytes: number): void
  /** The appends of the transaction are durable. */
  commit(): void
  /** The transaction, or a part of it, was rolled back. */
  rollback(): void
  /**
   * The entries after a position, and no others: earlier ones are dropped. `undefined` if not all of them are here; then the reader
   * reads the store.
   */
  takeAfter(position: number, limit: number): readonly FeedEntry[] | undefined
  /** Forgets everything: what was removed from the log must not be found here. */
  clear(): void
}

export const maxRecentBytes = 8_000_000
export const maxRecentAppends = 10_000
/** The records of larger appends are read from the log: they would displace many small ones. */
export const maxAppendBytes = 100_000

interface RecentAppend {
  readonly entry: FeedEntry
  readonly records: Append['records'] | undefined
  readonly bytes: number
}

/** `position`: the end of the feed. */
export function createRecentAppends(position: number): RecentAppends {
  let appends: RecentAppend[] = []
  /** The index of the first append that was not dropped. */
  let start = 0
  let bytes = 0
  /** Every entry after this position is here. */
  let completeAfter = position
  let end = position
  let pending: RecentAppend[] = []
  let wasRolledBack = false
  /** Whether there is a reader. Nothing is kept before it takes for the first time, nor when it has fallen behind. */
  let hasReader = false

  function clear(): void {
    appends = []
    start = 0
    bytes = 0
    completeAfter = end
  }

  function dropUntil(reached: number): void {
    for (let first = appends[start]; first !== undefined && first.entry.position <= reached; first = appends[start]) {
      bytes -= first.bytes
      completeAfter = first.entry.position
      start += 1
    }
    // In steps, so that an append is moved once on average.
    if (start * 2 < appends.length) return
    appends = appends.slice(start)
    start = 0
  }

  return {
    begin() {
      wasRolledBack = false
      if (pending.length > 0) pending = []
    },
    add(entry, records, appendBytes) {
      end = entry.position
      if (!hasReader) return
      const isSmall = appendBytes <= maxAppendBytes
      pending.push({ entry, records: isSmall ? records : undefined, bytes: isSmall ? appendBytes : 0 })
    },
    commit() {
      if (wasRolledBack || !hasReader) return clear()
      if (pending.length === 0) return
      for (const append of pending) {
        appends.push(append)
        bytes += append.bytes
      }
      pending = []
      if (bytes <= maxRecentBytes && appends.length - start <= maxRecentAppends) return
      hasReader = false
      clear()
    },
    rollback() {
      // The transaction may continue with other appends, and which of them were undone is not known.
      wasRolledBack = true
      pending = []
    },
    takeAfter(reached, limit) {
      hasReader = true
      if (reached < completeAfter) return undefined
      dropUntil(reached)
      return appends.slice(start, start + limit).map(toFeedEntry)
    },
    clear,
  }
}

function toFeedEntry({ entry, records }: RecentAppend): FeedEntry {
  if (records === undefined) return entry
  const { firstSeq } = entry
  return { ...entry, records: records.map(({ at, body }, index): LogRecord => ({ seq: firstSeq + index, at, body })) }
}
