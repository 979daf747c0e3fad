/**
 * The records that this process appended last, for the one reader that follows the feed: it need not read back and parse what was
 * just written. Only a shortcut: records that are not here are in the log.
 */
import type { LogRecord } from '../model/record.ts'
import type { Append } from './store.ts'

export interface RecentAppends {
  /** Adds an append of the current transaction; it is returned only after `commit`. `bytes` is about the size of its records. */
  add(taskId: string, firstSeq: number, records: Append['records'], bytes: number): void
  /** The appends of the transaction are durable. */
  commit(): void
  /** Forgets the appends of the transaction. */
  rollback(): void
  /** The records of an append, once; `undefined` if they are not here. */
  take(taskId: string, firstSeq: number): readonly LogRecord[] | undefined
  /** Forgets everything: what was removed from the log must not be found here. */
  clear(): void
}

const maxBytes = 8_000_000
const maxAppends = 10_000
/** Larger appends are read from the log: they would displace many small ones. */
const maxAppendBytes = 100_000

interface RecentAppend {
  readonly key: string
  readonly records: Append['records']
  readonly bytes: number
}

export function createRecentAppends(): RecentAppends {
  let appends = new Map<string, RecentAppend>()
  let pending: RecentAppend[] = []
  let bytes = 0
  /** Whether there is a reader. Nothing is kept before it takes for the first time, nor when it has fallen behind. */
  let hasReader = false

  function clear(): void {
    appends = new Map()
    bytes = 0
  }

  return {
    add(taskId, firstSeq, records, appendBytes) {
      if (hasReader && appendBytes <= maxAppendBytes)
        pending.push({ key: keyOf(taskId, firstSeq), records, bytes: appendBytes })
    },
    commit() {
      if (pending.length === 0) return
      for (const append of pending) {
        appends.set(append.key, append)
        bytes += append.bytes
      }
      pending = []
      if (bytes <= maxBytes && appends.size <= maxAppends) return
      hasReader = false
      clear()
    },
    rollback() {
      if (pending.length > 0) pending = []
    },
    take(taskId, firstSeq) {
      hasReader = true
      const key = keyOf(taskId, firstSeq)
      const append = appends.get(key)
      if (append === undefined) return undefined
      appends.delete(key)
      bytes -= append.bytes
      return append.records.map(({ at, body }, index) => ({ seq: firstSeq + index, at, body }))
    },
    clear,
  }
}

function keyOf(taskId: string, firstSeq: number): string {
  return `${firstSeq} ${taskId}`
}
