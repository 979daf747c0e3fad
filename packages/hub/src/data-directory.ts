/** The data directory: only its owner may look into it, whatever the umask was when it was made. */
import { chmodSync, lstatSync, mkdirSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { AgentLog } from '@parley/a2a'

const ownerOnly = { directory: 0o700, file: 0o600 }
const others = 0o077
/** How the names of our files begin. A directory in which all names do is ours to make private. */
const ours = 'parley'
/** The admin key that was made at the first start without a terminal. The other files are the store's. */
export const adminKeyFileName = `${ours}.admin-key`

/**
 * Creates the directory, or removes the rights of other users from it. A directory of another user, such as a mounted volume,
 * and one that holds files of other programs stay as they are, with a warning: our files in it are private in any case.
 */
export function prepareDataDirectory(directory: string, log: Pick<AgentLog, 'warn'>): void {
  mkdirSync(directory, { recursive: true, mode: ownerOnly.directory })
  // Windows keeps no such modes.
  if (process.platform === 'win32') return
  if (!isPrivateDirectory(directory)) {
    log.warn('other users may look into the data directory: make it private with chmod 700', { directory })
  }
  const file = join(directory, adminKeyFileName)
  if (!isPrivateFile(file)) {
    log.warn('other users may be able to read the admin key: make the file private with chmod 600', { file })
  }
}

function isPrivateDirectory(directory: string): boolean {
  if (!isOpenToOthers(directory)) return true
  const isOurs = isOwn(directory) && readdirSync(directory).every((name) => name.startsWith(ours))
  return isOurs && closeToOthers(directory, ownerOnly.directory)
}

/** A copy may have left it open. A link is not followed: what it leads to is not ours. */
function isPrivateFile(file: string): boolean {
  const found = lstatSync(file, { throwIfNoEntry: false })
  if (found === undefined || !found.isFile() || !isOpenToOthers(file)) return true
  return isOwn(file) && closeToOthers(file, ownerOnly.file)
}

function isOpenToOthers(path: string): boolean {
  return (statSync(path).mode & others) !== 0
}

function isOwn(path: string): boolean {
  return statSync(path).uid === process.getuid?.()
}

/** Returns whether that worked: a volume may keep no modes. */
function closeToOthers(path: string, mode: number): boolean {
  try {
    chmodSync(path, mode)
  } catch {
    return false
  }
  return !isOpenToOthers(path)
}
