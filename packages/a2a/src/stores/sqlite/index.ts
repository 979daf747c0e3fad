/** The door `@parley/a2a/stores/sqlite`. */
export { sqliteStore } from './sqlite-store.ts'
export type { SqliteStoreOptions } from './sqlite-store.ts'
export { masterKeyBeside } from './master-key.ts'
