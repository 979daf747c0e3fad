/** A file that appears under its name only when it is complete and on disk: an interrupted command leaves none, or a `.partial`. */
import { randomBytes } from 'node:crypto'
import { lstatSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { platform } from 'node:os'
import { dirname } from 'node:path'
import { CliError } from '../command.ts'

/** Writes the pieces to a new file that only its owner can read. Returns what the generator returns. */
export async function writeNewFile<Result>(
  file: string,
  pieces: AsyncGenerator<Uint8Array, Result, undefined>,
  isInterrupted: () => boolean,
): Promise<Result> {
  refuseExisting(file)
  // A name of its own, and a new file: another command that writes to the same name must not write into it, and a file or a link that
  // is there already may be readable by other users.
  const draft = `${file}.${randomBytes(4).toString('hex')}.partial`
  const handle = await open(draft, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    const [why = ''] = error.message.split(',', 1)
    throw new CliError(
      `${file} cannot be written (${why}): name a file in a folder that exists and that you may write to.`,
    )
  })
  try {
    let next = await pieces.next()
    for (; next.done !== true; next = await pieces.next()) {
      throwIf(isInterrupted)
      await handle.writeFile(next.value)
    }
    await handle.sync()
    await handle.close()
    refuseExisting(file)
    await rename(draft, file)
    // A new name survives a power loss once its directory is synced. Windows has no such call and needs none.
    if (platform() !== 'win32') await syncDirectory(dirname(file))
    return next.value
  } catch (error) {
    await handle.close().catch(() => {})
    await rm(draft, { force: true })
    throw error
  }
}

export const directoryProblem = (path: string): string => `${path} is a directory: name a file in it.`

function refuseExisting(file: string): void {
  // Also a link that leads nowhere.
  const stat = lstatSync(file, { throwIfNoEntry: false })
  if (stat === undefined) return
  throw new CliError(stat.isDirectory() ? directoryProblem(file) : `${file} exists already: choose another name.`)
}

export function throwIf(isInterrupted: () => boolean): void {
  if (isInterrupted()) throw new CliError('Interrupted. Nothing was changed.')
}

async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
