/** The data directory of the hub: for its owner only. Imports nothing of the store, so that commands load fast. */
import { chmodSync, lstatSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { AgentLog } from '@parley/a2a'

const ownerOnly = { directory: 0o700, file: 0o600 }
const otherUsersMask = 0o077
/** The prefix of our file names. A directory with only such names belongs to the hub and may be made private. */
const filePrefix = 'parley'
export const adminKeyFileName = `${filePrefix}.admin-key`

/** The file of the admin key that a first start created. The other files belong to the store. */
export function adminKeyFile(directory: string): string {
  return join(directory, adminKeyFileName)
}

/**
 * Removes the permissions of other users from the directory, which the store has created. A directory that belongs to another user
 * (such as a mounted volume) or contains files of other programs stays as it is, with a warning: our files in it are private in any
 * case.
 */
export function makeDataDirectoryPrivate(directory: string, log: Pick<AgentLog, 'warn'>): void {
  // Windows has no such modes.
  if (process.platform === 'win32') return
  if (!isPrivateDirectory(directory)) {
    log.warn('the data directory may be readable by other users: make it private with chmod 700', { directory })
  }
  const file = adminKeyFile(directory)
  if (!isPrivateFile(file)) {
    log.warn('the admin key may be readable by other users: make the file private with chmod 600', { file })
  }
}

function isPrivateDirectory(directory: string): boolean {
  if (!isOpenToOthers(directory)) return true
  const isOurs = isOwn(directory) && readdirSync(directory).every(isOwnName)
  return isOurs && removeOtherAccess(directory, ownerOnly.directory)
}

/** The store puts the `.gitignore` into a directory that it creates. */
function isOwnName(name: string): boolean {
  return name.startsWith(filePrefix) || name === '.gitignore'
}

/** A copy may have wrong permissions. Links are not followed: their target is not ours. */
function isPrivateFile(file: string): boolean {
  const found = lstatSync(file, { throwIfNoEntry: false })
  if (found === undefined || !found.isFile() || !isOpenToOthers(file)) return true
  return isOwn(file) && removeOtherAccess(file, ownerOnly.file)
}

function isOpenToOthers(path: string): boolean {
  return (statSync(path).mode & otherUsersMask) !== 0
}

function isOwn(path: string): boolean {
  return statSync(path).uid === process.getuid?.()
}

/** Returns whether it worked: a volume may not support modes. */
function removeOtherAccess(path: string, mode: number): boolean {
  try {
    chmodSync(path, mode)
  } catch {
    return false
  }
  return !isOpenToOthers(path)
}
