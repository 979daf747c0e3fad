/**
 * The records that this process appended last, for the one reader that follows the feed. Only the database knows when a row has its
 * final place in the feed, so the reader asks it for the entries, and finds the records of its own process here.
 *
 * An entry is recognized by its position, its task and its seqs. After a failover that lost appends, another transaction may get the
 * number of a lost one, so everything is forgotten when a statement fails.
 */
import { withOrderedTimes } from '../decide-append.ts'
import { maxAppendBytes, maxRecentAppends, maxRecentBytes } from '../recent-appends.ts'
import type { FeedEntry } from '../store.ts'
import type { WrittenAppend } from './append-writer.ts'

export interface PostgresRecentAppends {
  /** Adds the durable appends of a flush. */
  add(written: readonly WrittenAppend[]): void
  /** Forgets what is not after `position`, and adds the records that are here to entries after it. */
  addRecords(position: number, entries: readonly FeedEntry[]): readonly FeedEntry[]
  clear(): void
}

interface RecentRecords {
  readonly position: number
  readonly records: NonNullable<FeedEntry['records']>
  readonly bytes: number
}

export function createPostgresRecentAppends(): PostgresRecentAppends {
  /** In the order in which this process learned of its commits, which is nearly that of their positions. */
  const appends = new Map<string, RecentRecords>()
  let bytes = 0
  /** Whether there is a reader. Nothing is kept before it reads for the first time, nor when it has fallen behind. */
  let hasReader = false

  function clear(): void {
    appends.clear()
    bytes = 0
  }

  function dropUntil(reached: number): void {
    for (const [key, append] of appends) {
      if (append.position > reached) return
      appends.delete(key)
      bytes -= append.bytes
    }
  }

  return {
    add(written) {
      if (!hasReader) return
      for (const { append, head, position, notBefore } of written) {
        const { taskId, records, blobs, bytes: size } = append
        // Records with blobs are read from the log: here they would keep large contents in memory.
        if (records.length === 0 || blobs.length > 0 || size > maxAppendBytes) continue
        const firstSeq = head - records.length + 1
        const timed = withOrderedTimes(records, notBefore)
        appends.set(keyOf({ position, taskId, lastSeq: head }), {
          position,
          records: timed.map(({ at, body }, index) => ({ seq: firstSeq + index, at, body })),
          bytes: size,
        })
        bytes += size
      }
      if (bytes <= maxRecentBytes && appends.size <= maxRecentAppends) return
      hasReader = false
      clear()
    },
    addRecords(position, entries) {
      hasReader = true
      dropUntil(position)
      return entries.map((entry) => {
        const recent = appends.get(keyOf(entry))
        return recent === undefined ? entry : { ...entry, records: recent.records }
      })
    },
    clear,
  }
}

function keyOf({ position, taskId, lastSeq }: Pick<FeedEntry, 'position' | 'taskId' | 'lastSeq'>): string {
  return `${position} ${lastSeq} ${taskId}`
}
