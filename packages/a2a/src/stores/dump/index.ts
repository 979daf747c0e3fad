/** The entry point `@parley/a2a/stores/dump`: whole stores as files, to back up, restore, check and move them. */
export { isMasterKeyOf, readBackup, readBackupManifest, writeBackup } from './backup-file.ts'
export type {
  BackupKeyring,
  BackupManifest,
  BackupSummary,
  ReadBackupOptions,
  WriteBackupOptions,
} from './backup-file.ts'
export { DumpError, readDump, writeDump } from './dump-file.ts'
export type { DumpSummary, ReadDumpOptions, WriteDumpOptions } from './dump-file.ts'
export { findReferences } from './blob-references.ts'
export { storeOwnKind } from './dump-entry.ts'
export type * from './dump-entry.ts'
export type * from './store-dump.ts'
export type { ReportFinding, StoreFinding, StoreFindingKind, TableCheck } from './store-finding.ts'
