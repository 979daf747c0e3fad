/** Entry point `@parley/a2a/stores`: the contract of a store, for authors of stores. docs/guides/write-a-store.md builds one. */
export type { LogRecord, RecordBody } from '../model/record.ts'
export type { ErasureStore } from './erasure-store.ts'
export type { KeyValueEntry, KeyValueStore, KeyValueWrite } from './key-value-store.ts'
export type { LogPage, LogQuery, LogRow, LogStore, LogWrite, SnapshotStore } from './log-store.ts'
export { memoryKeyValueStore } from './memory/key-value.ts'
export type { PushRow, PushStore } from './push-store.ts'
export type { FeedEntry, FeedStore, FullStore, KeyRow, KeyStore, Store } from './store.ts'
export type {
  Append,
  AppendResult,
  ListPage,
  ListQuery,
  NewTask,
  Partition,
  Snapshot,
  StoredTask,
  TaskChange,
  TaskRow,
  TaskStore,
} from './task-store.ts'
