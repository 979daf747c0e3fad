/** What a store knows about itself, for operators: its size, its oldest tasks, and the backlog of push notifications. */

/** The size of a store on disk, in bytes. */
export interface StoreBytes {
  /** The database: its file, or all tables and indexes of its schema. */
  readonly database: number
  /** The write-ahead log, if it is a file of this store. */
  readonly wal?: number
  /** The part of `database` that is empty and is used again before the database grows. */
  readonly reusable?: number
  /** The free space of the disk that the store is on, if the store knows it. */
  readonly diskFree?: number
}

/** Push notification configs that are not up to date. A count stops at 10,000. */
export interface PushBacklog {
  /** Active configs with an event that is not delivered, whether they are due or wait for a retry. */
  readonly behind: number
  /** The part of `behind` whose next attempt is due. */
  readonly due: number
  /** Configs whose retries are exhausted. */
  readonly dead: number
  /**
   * Since when the oldest undelivered event waits: the first attempt to deliver it, or the time at which it became due. With
   * more than 500 configs behind, the oldest of those that are due first and of those that are due last.
   */
  readonly oldestAt?: number
}

/** Statistics of a store. Times are in milliseconds since the epoch. */
export interface StoreStatistics {
  /** Absent: the store is not on a disk. */
  readonly bytes?: StoreBytes
  /** All tasks. */
  readonly tasks: number
  /** When the task that was stored first was created; absent if there are no tasks. */
  readonly oldestTaskAt?: number
  /**
   * Since when the oldest unfinished task is unfinished: a task that a process works on (it has a lease) since its creation, one
   * that waits for input or authorization since then. Absent if there are none.
   */
  readonly oldestUnfinishedAt?: number
  /** Absent: the store has no push notification configs. */
  readonly push?: PushBacklog
  /** The end of the feed. */
  readonly position: number
}
