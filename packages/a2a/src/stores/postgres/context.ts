import type { PostgresBlobs } from './blob-content.ts'
import type { DatabaseTime, PostgresDatabase } from './database.ts'

/** What the parts of a store share. */
export interface PostgresContext {
  readonly database: PostgresDatabase
  /** As an identifier in SQL. */
  readonly schema: string
  readonly blobs: PostgresBlobs
  readonly time: DatabaseTime
}
