/** The folder of compiled code. Its content runs in the program, so it must belong to the user, and no other may write to it. */
import { mkdirSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'

/**
 * `base` is `XDG_CACHE_HOME`; a relative one is ignored, as its specification requires. `user` is the id of the user, `undefined` on
 * Windows, where a profile belongs to its user. Returns `undefined` if there is no such folder: for a user without a home, or if
 * others may write to it.
 */
export function privateCacheFolder(
  program: string,
  base: string | undefined,
  user: number | undefined,
): string | undefined {
  try {
    const folder = join(base !== undefined && isAbsolute(base) ? base : join(homedir(), '.cache'), program)
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const { uid, mode } = statSync(folder)
    return user === undefined || (uid === user && (mode & 0o022) === 0) ? folder : undefined
  } catch {
    return undefined
  }
}
