import type { BlobTable } from './blob-table.ts'
import type { Counters } from './counters.ts'
import type { SqliteDatabase } from './database.ts'
import type { Epoch } from './epoch.ts'
import type { SqliteMessageClaims } from './message-claims.ts'

/** What the parts of a store share. */
export interface SqliteContext {
  readonly database: SqliteDatabase
  readonly epoch: Epoch
  readonly counters: Counters
  readonly blobs: BlobTable
  readonly messages: SqliteMessageClaims
  readonly now: () => number
  /** Converts a time just read from the clock to steady time, which push cursors and claims use. */
  readonly steady: (at: number) => number
}
