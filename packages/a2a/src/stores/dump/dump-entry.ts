/**
 * The entries of a dump: everything in a store that cannot be computed from the rest, in a form that no store owns. Counters, indexes,
 * leases and fences are not part of it: a loader creates them.
 *
 * The entries of a task follow each other: its row, its log, its snapshot, its push notification configs and their attempts. Each
 * blob follows the first entry of the task that refers to it. After all tasks come key-value entries, message claims and keys.
 *
 * JSON stays text from store to store: nothing is gained by parsing and writing it again, and the bytes stay the same.
 */
import type { DueTime, Partition, PushAttempt, PushRow } from '../store.ts'

/** JSON as text, as `JSON.stringify` writes it: without line breaks. */
export type JsonText = string

/** The row of a task; its group begins with it. */
export interface TaskEntry extends Partition {
  readonly type: 'task'
  readonly id: string
  readonly contextId: string
  readonly createdAt: number
  readonly statusAt: number
  /** The last seq of the log. */
  readonly head: number
  readonly consumedSeq: number
  /** The seq of the last visible record. */
  readonly visibleSeq: number
  /** The time of the last record: no later record is earlier. */
  readonly lastAt: number
  /** The log was removed by retention; the snapshot has the task. */
  readonly isLogDropped: boolean
  /** A process held the task and it had not ended. The process that loads it is another one: the task becomes an orphan. */
  readonly isLeased: boolean
  readonly due?: DueTime
  /** May contain references to blobs. */
  readonly status: JsonText
  readonly metadata?: JsonText
}

/** One append of the task. */
export interface LogEntry {
  readonly type: 'log'
  /** In the feed of the store. It is kept, because readers of the feed remember positions. */
  readonly position: number
  readonly firstSeq: number
  readonly lastSeq: number
  /** `{ at, body }[]` with times in order. May contain references to blobs. */
  readonly records: JsonText
}

/** The snapshot of the task. */
export interface SnapshotEntry {
  readonly type: 'snapshot'
  readonly seq: number
  /** May contain references to blobs. */
  readonly task: JsonText
  readonly internal: JsonText
}

/**
 * Large bytes of the task: the `raw` of a part, which contains `sha256:` and the digest instead. The same bytes used by two tasks are
 * an entry of each.
 */
export interface BlobEntry {
  readonly type: 'blob'
  /** The SHA-256 of the bytes in hexadecimal. Of a text: of its JSON, followed by `t`. */
  readonly digest: string
  /** Bytes that were base64, or a text that was not (or not in the form that an encoder writes). */
  readonly content: Uint8Array | string
}

/** A push notification config of the task. */
export interface PushEntry extends Pick<PushRow, 'id' | 'deliveredSeq' | 'dueAt' | 'attempt' | 'state' | 'createdAt'> {
  readonly type: 'push'
  /** Unique in the store, in order of creation: lists of all configs are ordered by it. */
  readonly number: number
  readonly config: JsonText
}

/** A delivery attempt; oldest first. */
export interface AttemptEntry extends Omit<PushAttempt, 'taskId'> {
  readonly type: 'attempt'
}

/** A key-value entry, expired or not; ordered by the bytes of kind and key. */
export interface KeyValueDumpEntry {
  readonly type: 'kv'
  readonly kind: string
  readonly key: string
  readonly version: number
  readonly updatedAt: number
  readonly expiresAt?: number
  readonly value: JsonText
}

/** The claim of a message, expired or not; ordered by digest. The task exists. */
export interface ClaimEntry {
  readonly type: 'claim'
  /** The first sixteen bytes of the SHA-256 of the key, in hexadecimal. No store keeps the key itself. */
  readonly digest: string
  readonly taskId: string
  readonly hash: string
  readonly expiresAt: number
}

/** A key of the keyring, wrapped by the master key, which is not in a dump; oldest first. */
export interface KeyEntry {
  readonly type: 'key'
  readonly id: string
  readonly purpose: string
  readonly material: string
  readonly createdAt: number
}

/** The entries between one task and the next. */
export type TaskGroupEntry = TaskEntry | LogEntry | SnapshotEntry | BlobEntry | PushEntry | AttemptEntry

/** One entry of a dump, distinguished by `type`. */
export type DumpEntry = TaskGroupEntry | KeyValueDumpEntry | ClaimEntry | KeyEntry

/** How many entries of each type. */
export type DumpCounts = Readonly<Record<DumpEntry['type'], number>>

/**
 * Key-value entries of this kind belong to a store and not to its content, such as the time of its last backup: they are not part of
 * a dump.
 */
export const storeOwnKind = 'parley.store'

const sections: Readonly<Record<DumpEntry['type'], number>> = {
  task: 0,
  log: 0,
  snapshot: 0,
  blob: 0,
  push: 0,
  attempt: 0,
  kv: 1,
  claim: 2,
  key: 3,
}

/** Loaders rely on the order of the entries. Returns a function that receives each entry, and throws if it cannot come here. */
export function createOrderCheck(): (entry: DumpEntry) => void {
  let section = 0
  let hasTask = false
  return ({ type }) => {
    const next = sections[type]
    if (next === undefined) throw new Error(`An entry of the unknown type ${JSON.stringify(type)}`)
    if (next < section)
      throw new Error(`An entry of type ${type} comes too late: tasks come first, then kv, claim, key`)
    if (type === 'task') hasTask = true
    else if (next === 0 && !hasTask) throw new Error(`An entry of type ${type} comes before any task`)
    section = next
  }
}
