/** The `erasure` facet of a store: removes all data of an owner, whatever its age and state, and leaves no copy in free space. */
import type { Json } from '../model/task.ts'

/** An entry of the key-value store. */
export interface EntryAddress {
  readonly kind: string
  readonly key: string
}

/** What one call of `erase` removes and replaces: all of it, or nothing. */
export interface EraseOrder {
  /** Tasks in any state, with everything that belongs to them. Unknown ids are ignored. At most about a hundred per call. */
  readonly taskIds?: readonly string[]
  /** Key-value entries to remove, expired ones included. */
  readonly entries?: readonly EntryAddress[]
  /** Key-value entries whose value is replaced; they keep their expiry. An entry that does not exist is not created. */
  readonly replacements?: readonly (EntryAddress & { readonly value: Json })[]
}

/** How many rows an erasure removed, by kind. */
export interface ErasedCounts {
  readonly tasks: number
  /** Rows of task logs: one row is one append. */
  readonly logBatches: number
  readonly snapshots: number
  /** Blobs that no other task uses. */
  readonly blobs: number
  readonly pushConfigs: number
  readonly pushAttempts: number
  /** Removed key-value entries. */
  readonly entries: number
  /** Replaced key-value entries. */
  readonly replaced: number
}

/** What `removeOrphans` removed. */
export interface OrphanCounts {
  readonly messageClaims: number
  /** Rows that a write at the same moment left for a removed task. */
  readonly rows: number
}

/** The result of a compaction. */
export interface Compaction {
  /** Whether no removed data is left in the free space of the store's files. */
  readonly isDone: boolean
  /** Why it is not done. */
  readonly reason?: string
  /** The size of the store before and after, if known. */
  readonly bytesBefore?: number
  readonly bytesAfter?: number
}

/** Erases data for good. The caller decides what belongs to a person; the store removes it and what depends on it. */
export interface ErasureStore {
  /** The owners of tasks whose name is `suffix` or ends with it. May read every task. */
  findOwners(suffix: string): Promise<readonly string[]>
  /**
   * Removes tasks and key-value entries in one transaction, and overwrites them where the store can. Unlike `prune` it removes
   * tasks in any state: cancel running ones first. A process that still has such a task in memory cannot write it again.
   */
  erase(order: EraseOrder): Promise<ErasedCounts>
  /** Removes what refers to tasks that no longer exist: message claims, and rows written while their task was removed. */
  removeOrphans(): Promise<OrphanCounts>
  /**
   * Rewrites the store without its free space, which may hold older copies of removed data. SQLite accepts no other call meanwhile.
   */
  compact(): Promise<Compaction>
}

/** Nothing was erased. */
export const emptyErasedCounts: ErasedCounts = {
  tasks: 0,
  logBatches: 0,
  snapshots: 0,
  blobs: 0,
  pushConfigs: 0,
  pushAttempts: 0,
  entries: 0,
  replaced: 0,
}

export function sumOfCounts(a: ErasedCounts, b: ErasedCounts | undefined): ErasedCounts {
  if (b === undefined) return a
  return Object.fromEntries(
    Object.entries(a).map(([name, count]) => [name, count + b[name as keyof ErasedCounts]]),
  ) as unknown as ErasedCounts
}
