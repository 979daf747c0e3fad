/**
 * When the store was last backed up by `parley backup`. SQLite: a small file beside the database, because only the hub writes to the
 * database itself. PostgreSQL: a key-value entry that no backup contains.
 */
import { chown, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { isStruct } from '@parley/a2a/internal'
import type { FullStore } from '@parley/a2a/stores'
import { sqliteFile, type StoreSettings } from './open-store.ts'

export interface LastBackup {
  /** When the store was read, in milliseconds since the epoch. */
  readonly at: number
  /** The size of the file. */
  readonly bytes: number
  /** Where the feed of the store ended. */
  readonly position: number
}

type BackedUpStore = Pick<StoreSettings, 'store' | 'dataDir'>

/** `undefined` if there was none, or if the store is in memory. */
export async function lastBackup(
  settings: BackedUpStore,
  { kv }: Pick<FullStore, 'kv'>,
): Promise<LastBackup | undefined> {
  if (settings.store === 'memory:') return undefined
  if (settings.store.startsWith('sqlite:')) return readLastBackup(recordFile(settings))
  const { storeOwnKind } = await import('@parley/a2a/stores/dump')
  return lastBackupOf((await kv.read(storeOwnKind, 'backup'))?.value)
}

async function readLastBackup(file: string): Promise<LastBackup | undefined> {
  try {
    return lastBackupOf(JSON.parse(await readFile(file, 'utf8')))
  } catch (error) {
    // An unreadable file says as little as a missing one: the next backup writes it again.
    if (error instanceof SyntaxError || ['ENOENT', 'EACCES'].includes(String((error as { code?: unknown }).code)))
      return undefined
    throw error
  }
}

function lastBackupOf(value: unknown): LastBackup | undefined {
  if (!isStruct(value)) return undefined
  const { at, bytes, position } = value
  const isWhole = typeof at === 'number' && typeof bytes === 'number' && typeof position === 'number'
  return isWhole ? { at, bytes, position } : undefined
}

/** Of a SQLite store. */
export async function recordSqliteBackup(settings: BackedUpStore, backup: LastBackup): Promise<void> {
  const file = recordFile(settings)
  const draft = `${file}.partial`
  await rm(draft, { force: true })
  await writeFile(draft, `${JSON.stringify(backup)}\n`, { mode: 0o600, flag: 'wx' })
  // The hub reads it, and may be another user than the one who makes backups, such as root.
  const { uid, gid } = await stat(sqliteFile(settings))
  if (process.getuid?.() === 0) await chown(draft, uid, gid)
  await rename(draft, file)
}

/** Of a SQLite store: an earlier database in the same directory may have left its record. */
export async function removeSqliteBackupRecord(settings: BackedUpStore): Promise<void> {
  await rm(recordFile(settings), { force: true })
}

function recordFile(settings: BackedUpStore): string {
  return `${sqliteFile(settings)}-backup`
}
