/**
 * The records that this process appended last, for the reader that follows the feed: it need not read back and parse what was just
 * written. The store knows the entries and their order; the records of its own process are here.
 *
 * An entry is recognized by its position, its task and its seqs. After a failover that lost appends, or a transaction that was rolled
 * back, another append may get the position of a lost one: then everything is forgotten.
 */
import type { Append, FeedEntry } from './store.ts'

export type RecentAppends = ReturnType<typeof createRecentAppends>

type AppendPosition = Pick<FeedEntry, 'position' | 'taskId' | 'lastSeq'>

const maxRecentBytes = 8_000_000
const maxRecentAppends = 10_000
/** The records of larger appends are read from the log: they would displace many small ones. */
const maxAppendBytes = 100_000

export function createRecentAppends() {
  /** In the order in which this process learned of its commits, which is nearly that of their positions. */
  const appends = new Map<string, { position: number; records: Append['records']; bytes: number }>()
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
    /** Adds a durable append, or one of the transaction under way. `size` is about that of its records. */
    add(entry: AppendPosition, records: Append['records'], size: number): void {
      if (!hasReader || records.length === 0 || size > maxAppendBytes) return
      appends.set(keyOf(entry), { position: entry.position, records, bytes: size })
      bytes += size
      if (bytes <= maxRecentBytes && appends.size <= maxRecentAppends) return
      hasReader = false
      clear()
    },
    /** Forgets what is not after `position`, and adds the records that are here to entries after it. */
    addRecords(position: number, entries: readonly FeedEntry[]): readonly FeedEntry[] {
      hasReader = true
      dropUntil(position)
      return entries.map((entry) => {
        const recent = appends.get(keyOf(entry))
        const { firstSeq } = entry
        if (recent === undefined) return entry
        return { ...entry, records: recent.records.map(({ at, body }, index) => ({ seq: firstSeq + index, at, body })) }
      })
    },
    clear,
  }
}

function keyOf({ position, taskId, lastSeq }: AppendPosition): string {
  return `${position} ${lastSeq} ${taskId}`
}
