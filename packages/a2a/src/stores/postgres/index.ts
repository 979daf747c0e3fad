/** The entry point `@parley/a2a/stores/postgres`. */
export { postgresStore } from './postgres-store.ts'
export type { PostgresStoreOptions } from './postgres-store.ts'
export type { ListenClient, PooledClient, PostgresClient, PostgresPool, PostgresQuery } from './driver.ts'
export { postgresReader } from './dump/postgres-reader.ts'
export { recordPostgresBackup } from './dump/record-backup.ts'
export { postgresLoader } from './dump/postgres-loader.ts'
export type { PostgresDumpOptions } from './dump/transaction.ts'
