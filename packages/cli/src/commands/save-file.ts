/** Writes one file, complete or not at all, and never over an existing one unless the user says so. */
import { randomUUID } from 'node:crypto'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { CliError } from '../output/cli-error.ts'

export async function saveFile(path: string, bytes: Uint8Array, replaces: boolean): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true })
    // `wx` also refuses a symbolic link.
    if (!replaces) return await writeFile(path, bytes, { flag: 'wx' })
    const partial = `${path}.${randomUUID()}.part`
    try {
      await writeFile(partial, bytes, { flag: 'wx' })
      await rename(partial, path)
    } catch (reason) {
      await rm(partial, { force: true })
      throw reason
    }
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    if (code === 'EEXIST')
      throw new CliError('A2ACLI_ERR_USAGE', `${path} exists.`, {
        hint: 'Use --force to replace it, or another --dir.',
        cause,
      })
    throw new CliError('A2ACLI_ERR_INTERNAL', `${path} cannot be written: ${code ?? message}`, { cause })
  }
}
