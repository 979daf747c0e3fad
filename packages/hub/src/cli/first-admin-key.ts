/**
 * Shows the admin key of the first start once: on a terminal, otherwise in a file that only its owner can read. Other output ends
 * in a log, which more people can read than may operate the hub.
 */
import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { adminKeyFileName } from '../store/data-directory.ts'
import type { Terminal } from './command.ts'

const ownerOnly = { file: 0o600, folder: 0o700 }

export async function showAdminKey(
  key: string,
  dataDir: string,
  { print, printError, isOutputTerminal }: Pick<Terminal, 'print' | 'printError' | 'isOutputTerminal'>,
): Promise<void> {
  if (isOutputTerminal) {
    print(`\nThe admin key is ${key}`)
    print('Store it: it is shown only once. `parley key` reads it from PARLEY_ADMIN_KEY.')
    return
  }
  const file = join(dataDir, adminKeyFileName)
  try {
    await writeOwnerOnly(file, key, dataDir)
    print(`\nThe admin key is in ${file}`)
    print('Only the owner of the file can read it. Store the key elsewhere and delete the file.')
  } catch (reason) {
    printError(
      `The admin key could not be written to ${file}: ${(reason as Error).message}. Set PARLEY_ADMIN_KEY or \`admin.key\` to your own key, and start again.`,
    )
  }
}

/** The key that the first start wrote, if the file still exists. */
export async function readAdminKey(dataDir: string): Promise<string | undefined> {
  try {
    return (await readFile(join(dataDir, adminKeyFileName), 'utf8')).trim()
  } catch {
    return undefined
  }
}

/** Replaces the key in the file, if it is the one that was used. Returns the file. */
export async function replaceAdminKey(
  { dataDir, key: used }: { readonly dataDir?: string; readonly key: string },
  key: string,
): Promise<string | undefined> {
  if (dataDir === undefined || (await readAdminKey(dataDir)) !== used) return undefined
  const file = join(dataDir, adminKeyFileName)
  await writeOwnerOnly(file, key, dataDir)
  return file
}

async function writeOwnerOnly(file: string, text: string, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: ownerOnly.folder })
  // Created anew, so that neither a link nor a file of another user is written to.
  await rm(file, { force: true })
  await writeFile(file, `${text}\n`, { mode: ownerOnly.file, flag: 'wx' })
  await chmod(file, ownerOnly.file)
}
