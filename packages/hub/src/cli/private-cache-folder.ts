/** The folder of compiled code. Its content runs in the hub, so the folder must belong to the user, and no other may write to it. */
import { mkdirSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'

/**
 * `base` is `XDG_CACHE_HOME`; a relative one is ignored, as its specification requires. Returns `undefined` if there is no such
 * folder: for a user without a home, or if others may write to it.
 */
export function privateCacheFolder(base: string | undefined): string | undefined {
  try {
    const folder = join(base !== undefined && isAbsolute(base) ? base : join(homedir(), '.cache'), 'parley')
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const { uid, mode } = statSync(folder)
    // Windows has no such owner and mode; a profile belongs to its user there.
    const isPrivate = process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0)
    return isPrivate ? folder : undefined
  } catch {
    return undefined
  }
}
