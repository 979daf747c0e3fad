/** The entry point `@parley/a2a/stores/postgres`. */
export { postgresStore } from './postgres-store.ts'
export type { PostgresStoreOptions } from './postgres-store.ts'
export type { ListenClient, PostgresPool, PostgresQuery } from './driver.ts'
