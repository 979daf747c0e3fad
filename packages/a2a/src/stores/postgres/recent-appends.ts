/**
 * The records that this process appended last, for the reader of the feed. Only the database knows when a row has its final place in
 * the feed, so the reader asks it for the entries, and finds the records of its own process here.
 *
 * An entry is recognized by its position, its task and its seqs. After a failover that lost appends, another transaction may get the
 * number of a lost one, so everything is forgotten when a statement fails.
 */
import { withOrderedTimes } from '../decide-append.ts'
import { createRecentAppends } from '../recent-appends.ts'
import type { FeedEntry, FeedStore } from '../store.ts'
import type { WrittenAppend } from './append-writer.ts'

export interface PostgresRecentAppends {
  /** Adds the durable appends of a flush. */
  add(written: readonly WrittenAppend[]): void
  readonly take: NonNullable<FeedStore['takeRecords']>
  clear(): void
}

export function createPostgresRecentAppends(): PostgresRecentAppends {
  const recent = createRecentAppends()
  return {
    add(written) {
      for (const { append, head, position, notBefore } of written) {
        const { taskId, records, blobs, bytes } = append
        // Records with blobs are read from the log: here they would keep large contents in memory.
        if (position === undefined || records.length === 0 || blobs.length > 0) continue
        const firstSeq = head - records.length + 1
        const entry = { position, taskId, lastSeq: head }
        recent.add(keyOf(entry), firstSeq, withOrderedTimes(records, notBefore), bytes)
      }
      recent.commit()
    },
    take: (entry) => recent.take(keyOf(entry), entry.firstSeq),
    clear: recent.clear,
  }
}

function keyOf({ position, taskId, lastSeq }: Pick<FeedEntry, 'position' | 'taskId' | 'lastSeq'>): string {
  return `${position} ${lastSeq} ${taskId}`
}
