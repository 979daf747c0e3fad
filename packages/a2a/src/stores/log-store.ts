/**
 * The smallest store: logs and rows of tasks, for one process. An application writes one over tables of its own; `serve` and
 * `createHandler` derive everything else of a `Store` from it (complete/complete-store.ts).
 */
import type { LogRecord } from '../model/record.ts'
import type { Json } from '../model/task.ts'
import type { KeyValueStore } from './key-value-store.ts'
import type { Snapshot } from './task-store.ts'
import type { Store } from './store.ts'

/**
 * The row of a task. The store selects by the columns and keeps `data`, which is JSON, unread.
 *
 * One row, `parley:keys`, is that of the server's keyring: it has empty names and no log. It does not exist if the store has `keys`.
 */
export interface LogRow {
  readonly id: string
  /** 1 for a new row, and one more with each write. */
  readonly version: number
  readonly tenant: string
  readonly agent: string
  readonly owner: string
  readonly contextId: string
  /** The state of the task, such as `TASK_STATE_WORKING`. */
  readonly state: string
  /** When the task got into this state, in milliseconds since the epoch. Lists are ordered by it. */
  readonly statusAt: number
  /** Whether the server reads the row when it starts: the task has not ended, or a webhook is not delivered. */
  readonly isOpen: boolean
  readonly data: Json
}

/** What one write stores: all of it, or nothing. */
export interface LogWrite {
  /** Replaces the row with this id, or is the first. */
  readonly row: LogRow
  /** Continue the log of the task without a gap. May be empty. */
  readonly records: readonly LogRecord[]
  /** The message that the records contain, under which `findMessage` finds the task. At most 300 characters. */
  readonly messageKey?: string
}

/** Which rows `list` returns, and in which order. */
export interface LogQuery {
  /** Columns that are equal to these values. */
  readonly where: Partial<Pick<LogRow, 'tenant' | 'agent' | 'owner' | 'contextId' | 'state' | 'isOpen'>>
  /** Only rows with this `statusAt` or a later one. */
  readonly since?: number
  /** By (statusAt, id): descending (`newest`) or ascending (`oldest`). */
  readonly order: 'newest' | 'oldest'
  /** Only rows that come after this position in the order of the list. */
  readonly after?: Pick<LogRow, 'statusAt' | 'id'>
  /** May be 0. */
  readonly limit: number
}

/** One page of rows. */
export interface LogPage {
  readonly rows: readonly LogRow[]
  /** All rows that match `where` and `since`, whatever the page. */
  readonly total: number
}

/** Snapshots of tasks, and the removal of logs that they cover. */
export interface SnapshotStore {
  /** Replaces the snapshot of a task, which is never newer. */
  save(taskId: string, snapshot: Snapshot): Promise<void>
  /** The snapshot of a task. */
  load(taskId: string): Promise<Snapshot | undefined>
  /** Removes the records of a task. Returns whether there were any. */
  dropLog(taskId: string): Promise<boolean>
}

/**
 * The smallest store: five methods, for a server of one process. Pass it to `serve` or `createHandler` as `store`; the server then
 * reports which features are off. `logStoreContract` of `@parley/a2a/testing` tests it.
 *
 * Everything that the five methods keep survives a restart: tasks and their logs, interrupted turns, timeouts, repeated messages,
 * webhooks and keys. A second process that opens the same data takes the unfinished tasks over, and the first can no longer write
 * them. Implement `Store` if several processes are to share the work.
 *
 * The optional members add features. `feed`, `erasure` and `stats` are as in `Store`.
 */
export interface LogStore extends Partial<Pick<Store, 'keys' | 'feed' | 'erasure' | 'stats' | 'ready'>> {
  /**
   * Stores the row and the records, and resolves when they are durable. Returns `false`, and stores nothing, unless the stored row
   * has the version before that of `row`; version 1 requires that there is none.
   */
  append(write: LogWrite): Promise<boolean>
  /** The row of a task. */
  load(taskId: string): Promise<LogRow | undefined>
  /** The first `limit` records after a seq, in order. */
  read(taskId: string, afterSeq: number, limit: number): Promise<readonly LogRecord[]>
  /** A page of rows, and how many there are. */
  list(query: LogQuery): Promise<LogPage>
  /** The id of the task that was last written with this `messageKey`. */
  findMessage(messageKey: string): Promise<string | undefined>
  /** Removes rows, their logs, and their message keys. Absent: finished tasks are kept, whatever the retention of the server. */
  remove?(taskIds: readonly string[]): Promise<void>
  /** Absent: long logs are read whole, and are never removed before their task. */
  readonly snapshots?: SnapshotStore
  /** Absent: entries are kept in memory. `removeExpired` deletes expired entries; the server calls it when it prunes. */
  readonly kv?: KeyValueStore & { removeExpired?(): Promise<void> }
  /** Releases all resources. Called once, after the last write. */
  close?(): Promise<void>
}
