/**
 * Files that only their owner may read: they hold messages, files and keys. The umask does not decide it. SQLite gives its
 * WAL and wal-index the mode of the database, so that one is made before SQLite does.
 */
import { chmodSync, closeSync, openSync, statSync } from 'node:fs'
import type { StoreLog } from '../store-log.ts'

const ownerOnly = 0o600
const others = 0o077
/** Windows keeps no such modes. */
const hasModes = process.platform !== 'win32'

/** Makes an empty file if there is none. Never opens one that is there: closing it would drop the locks of SQLite on it. */
export function createPrivateFile(file: string): void {
  try {
    const handle = openSync(file, 'wx', ownerOnly)
    closeSync(handle)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  }
}

/**
 * Takes the rights of others from files that an earlier version, or a copy, left with them. What belongs to another user, or
 * lies on a volume that keeps no modes, stays as it is, with a warning.
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

/** Answers whether that worked. */
function closeToOthers(file: string): boolean {
  if (statSync(file).uid !== process.getuid?.()) return false
  try {
    chmodSync(file, ownerOnly)
  } catch {
    return false
  }
  return !isOpenToOthers(file)
}
