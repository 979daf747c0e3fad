/** The data directory: only its owner may read it, whatever the umask was when it was created. */
import { chmodSync, mkdirSync, readdirSync, statSync } from 'node:fs'
import type { AgentLog } from '@parley/a2a'

const ownerOnly = 0o700
const others = 0o077
/** Holds the admin key of a first start without a terminal, until the operator deletes it. */
export const adminKeyFile = 'admin-key'

/**
 * Creates the directory, or removes the rights of other users from it. A directory of another user, such as a mounted volume,
 * and one that holds files of other programs stay as they are, with a warning: our files in it are private in any case.
 */
export function prepareDataDirectory(directory: string, log: Pick<AgentLog, 'warn'>): void {
  mkdirSync(directory, { recursive: true, mode: ownerOnly })
  // Windows has no such modes.
  if (process.platform === 'win32' || !isOpenToOthers(directory)) return
  if (isOurs(directory)) closeToOthers(directory)
  if (!isOpenToOthers(directory)) return
  log.warn('other users may look into the data directory: make it private with chmod 700', { directory })
}

function isOpenToOthers(directory: string): boolean {
  return (statSync(directory).mode & others) !== 0
}

function isOurs(directory: string): boolean {
  return statSync(directory).uid === process.getuid?.() && readdirSync(directory).every(isOurFile)
}

function isOurFile(name: string): boolean {
  return name.startsWith('parley') || name === adminKeyFile
}

function closeToOthers(directory: string): void {
  try {
    chmodSync(directory, ownerOnly)
  } catch {
    // A volume without modes: the warning follows.
  }
}
