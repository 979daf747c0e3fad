/** Opens the store of a command as a whole, to read or to fill it, without the hub. */
import { existsSync } from 'node:fs'
import type { StoreLoader, StoreReader } from '@parley/a2a/internal'
import { existingMasterKeys } from '@parley/a2a/stores/sqlite'
import {
  recordPostgresBackup,
  DumpError,
  postgresLoader,
  postgresReader,
  sqliteLoader,
  sqliteReader,
} from '@parley/a2a/stores/dump'
import { connectionOptions, sqliteFile, type StoreSettings } from '../../store/open-store.ts'
import { recordSqliteBackup, removeSqliteBackupRecord, type LastBackup } from '../../store/last-backup.ts'
import { operatorMessage } from '../../json/operator-message.ts'
import { CliError, usageError } from '../command.ts'

export interface WholeStore {
  readonly kind: 'sqlite' | 'postgres'
  /** The file of a SQLite store. */
  readonly file?: string
  reader(): Promise<StoreReader>
  loader(): Promise<StoreLoader>
  /** The master keys that the hub of this store would use now, the current one first; none if there is none yet. */
  masterKeys(): readonly Uint8Array[]
  recordBackup(backup: LastBackup): Promise<void>
  /** Removes the record of a backup that is not of this store. Call it before a filled store appears. */
  removeBackupRecord(): Promise<void>
}

export async function wholeStore(settings: StoreSettings): Promise<WholeStore> {
  const { store } = settings
  if (store === 'memory:') throw usageError('A store in memory cannot be read by another process.')
  return store.startsWith('sqlite:') ? sqlite(settings) : postgres(settings)
}

function sqlite(settings: StoreSettings): WholeStore {
  const file = sqliteFile(settings)
  return {
    kind: 'sqlite',
    file,
    async reader() {
      if (!existsSync(file)) throw new CliError(`No store at ${file}: name its directory with --data.`)
      return sqliteReader(file)
    },
    loader: () => sqliteLoader(file),
    masterKeys: () => existingMasterKeys(file),
    recordBackup: (backup) => recordSqliteBackup(settings, backup),
    removeBackupRecord: () => removeSqliteBackupRecord(settings),
  }
}

async function postgres(settings: StoreSettings): Promise<WholeStore> {
  const { store, directStore, masterKey, previousMasterKeys = [] } = settings
  const { default: pg } = await import('pg')
  // One long transaction occupies a connection of a pooler for as long.
  const connectionString = directStore === undefined || directStore === 'none' ? store : directStore
  const options = { connect: () => new pg.Client({ connectionString, ...connectionOptions }) }
  return {
    kind: 'postgres',
    reader: () => postgresReader(options),
    loader: () => postgresLoader(options),
    masterKeys: () =>
      masterKey === undefined || masterKey === ''
        ? []
        : [masterKey, ...previousMasterKeys].map((key) => Buffer.from(key, 'base64')),
    recordBackup: ({ at, bytes, position }) => recordPostgresBackup(options, { at, bytes, position }),
    // The loader removes it in its transaction.
    async removeBackupRecord() {},
  }
}

/**
 * Runs the work of a command. Errors of a store, a file or a connection are messages for the operator and end the command without a
 * stack; any other error is a bug.
 */
export async function withOperatorErrors<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    const isExpected = error instanceof DumpError || (error instanceof Error && error.constructor === Error)
    const hasCode = error instanceof Error && typeof (error as { code?: unknown }).code === 'string'
    if (!isExpected && !hasCode) throw error
    throw error instanceof CliError ? error : new CliError(operatorMessage(error))
  }
}
