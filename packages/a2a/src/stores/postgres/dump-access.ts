/** What `stores/dump` uses of this store: its schema, and what its columns contain. */
export { ownerKey, partitionKey } from './append-row.ts'
export type { PostgresClient } from './driver.ts'
export { migratePostgres, quoteIdentifier, readableSchemaVersion } from './migrate.ts'
export { decodeText, encodeText, nameDigest } from './text-encoding.ts'
