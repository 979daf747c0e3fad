/**
 * Files that only their owner may read, whatever the umask: they hold messages, files and keys. SQLite gives its WAL and
 * wal-index the mode of the database, so the database file is created before SQLite opens it.
 */
import { chmodSync, closeSync, fsyncSync, openSync, statSync } from 'node:fs'
import type { StoreLog } from '../store-log.ts'
import { storeAccessError } from './store-directory.ts'

const ownerOnly = 0o600
const others = 0o077
/** Windows has no such modes. */
const hasModes = process.platform !== 'win32'

/** Creates an empty file if there is none. Never opens an existing one: closing it would drop the locks of SQLite on it. */
export function createPrivateFile(file: string): void {
  try {
    const handle = openSync(file, 'wx', ownerOnly)
    closeSync(handle)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw storeAccessError(error, file)
  }
}

/**
 * Removes the rights of other users from files that an earlier version, or a copy, left readable. Files of another user, or
 * on a volume without modes, stay as they are, with a warning.
 */
export function makePrivate(files: readonly string[], log: StoreLog): void {
  if (!hasModes) return
  const open = files.filter((file) => isOpenToOthers(file) && !closeToOthers(file))
  if (open.length === 0) return
  log.warn('other users may be able to read files of the store: make them private with chmod 600', { files: open })
}

function isOpenToOthers(file: string): boolean {
  return ((statSync(file, { throwIfNoEntry: false })?.mode ?? 0) & others) !== 0
}

/** Returns whether that worked. */
function closeToOthers(file: string): boolean {
  if (statSync(file).uid !== process.getuid?.()) return false
  try {
    chmodSync(file, ownerOnly)
  } catch {
    return false
  }
  return !isOpenToOthers(file)
}

/** A new name survives a power loss once its directory is synced. Windows has no such call and needs none. */
export function syncDirectory(directory: string): void {
  if (process.platform === 'win32') return
  const handle = openSync(directory, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

/** The name under which a store is loaded before it is complete: a store with such a file beside it refuses to open. */
export function partialFile(file: string): string {
  return `${file}.partial`
}
