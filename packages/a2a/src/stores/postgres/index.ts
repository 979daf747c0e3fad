/** The entry point `@parley/a2a/stores/postgres`. */
export type { PostgresPool } from './driver.ts'
export { postgresStore } from './postgres-store.ts'
export type { PostgresStoreOptions } from './postgres-store.ts'
