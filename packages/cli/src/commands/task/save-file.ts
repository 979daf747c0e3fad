/** Writes one file, complete or not at all, and never over an existing one unless the user says so. */
import { randomUUID } from 'node:crypto'
import { lstat, mkdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { CliError, usageError } from '../../output/cli-error.ts'
import { fileErrorText } from '../../output/file-error.ts'

/** Throws unless files can be in this folder, or in one that is created there. */
export async function requireFolder(folder: string): Promise<void> {
  for (let path = folder; ; path = dirname(path)) {
    const existing = await stat(path).catch(() => undefined)
    if (existing?.isDirectory() === true || path === dirname(path)) return
    if (existing !== undefined) throw usageError(`${path} is a file, not a folder.`, 'Choose another --dir.')
  }
}

/** Throws for the first of the files that exists, before any is written. */
export async function requireAbsent(paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    const found = await lstat(path).catch(() => undefined)
    if (found !== undefined) throw existsError(path)
  }
}

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
    if ((cause as NodeJS.ErrnoException).code === 'EEXIST') throw existsError(path)
    throw new CliError('A2ACLI_ERR_INTERNAL', `${path} cannot be written: ${fileErrorText(cause)}`, { cause })
  }
}

function existsError(path: string): CliError {
  return new CliError('A2ACLI_ERR_USAGE', `${path} exists.`, { hint: 'Use --force to replace it, or another --dir.' })
}
