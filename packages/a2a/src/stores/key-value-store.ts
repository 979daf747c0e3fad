/**
 * Small named values beside the tasks: what the operator of the engine must remember (API keys, counters, which session belongs to
 * which conversation). The same store keeps them, so that there is one thing to back up and replicas agree.
 */
import type { Json } from '../model/task.ts'

/** An entry of a key-value store. */
export interface KeyValueEntry {
  readonly key: string
  readonly value: Json
  /** 1 at creation, incremented by each write. */
  readonly version: number
  /** Milliseconds since the epoch. */
  readonly updatedAt: number
}

/** An entry to write. */
export interface KeyValueWrite {
  readonly key: string
  readonly value: Json
  /** Milliseconds since the epoch; from then on the entry does not exist. Absent: the entry does not expire. */
  readonly expiresAt?: number
}

/** Which entries `list` returns, and in which order. */
export interface KeyValueQuery {
  /** Only keys that begin with this. */
  readonly prefix?: string
  /** Keys after this one in the order of the list. */
  readonly after?: string
  /** Default false. */
  readonly descending?: boolean
  readonly limit: number
}

/**
 * Small named values beside the tasks, with versions and expiry.
 *
 * `kind` separates the entries of different purposes; keys are ordered by their bytes. Either may be any string of up to 1,024
 * bytes in UTF-8; a longer one is rejected with a `RangeError`. A lone surrogate is kept, and counts three bytes. If a call rejects for
 * another reason, its write may still have happened.
 *
 * @example
 * ```ts
 * const { kv } = memoryStore()
 * await kv.write('sessions', { key: 'context-1', value: { sessionId: 'abc' } })
 * const entry = await kv.read('sessions', 'context-1')
 * ```
 */
export interface KeyValueStore {
  /**
   * Whether writes are durable in the order in which they are requested, appends to task logs included: a reader that
   * sees an append also sees every write that was requested before it. Absent: only a write that has resolved is certain to be durable.
   */
  readonly isOrdered?: true
  /** The entry; `undefined` if there is none or it has expired. */
  read(kind: string, key: string): Promise<KeyValueEntry | undefined>
  /**
   * Creates or replaces an entry. With `version`, only if the entry still has that version (0: only if it does not exist). Returns
   * the new version, or `undefined` if the version differs. Durable when it resolves.
   */
  write(kind: string, entry: KeyValueWrite, version?: number): Promise<number | undefined>
  /** Writes all or none, whatever the current versions. Of several writes to one key the last wins. */
  writeAll(kind: string, entries: readonly KeyValueWrite[]): Promise<void>
  /** Returns whether the entry existed. */
  remove(kind: string, key: string): Promise<boolean>
  /** Entries of a kind, ordered by key. */
  list(kind: string, query: KeyValueQuery): Promise<readonly KeyValueEntry[]>
  /** Adds to a number atomically and returns the sum. A missing entry, or one that is not a number, counts as 0. */
  add(kind: string, key: string, by: number, expiresAt: number): Promise<number>
}
