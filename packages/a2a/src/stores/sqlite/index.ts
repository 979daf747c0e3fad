/** The entry point `@parley/a2a/stores/sqlite`. */
export { sqliteStore } from './sqlite-store.ts'
export type { SqliteStoreOptions } from './sqlite-store.ts'
export { existingMasterKeys, masterKeyFile } from './master-key.ts'
