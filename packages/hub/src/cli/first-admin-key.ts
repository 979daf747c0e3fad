/**
 * Shows the admin key of the first start once: on a terminal, otherwise in a file that only its owner can read. Other output
 * ends in a log, which more people can read than may run the hub.
 */
import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { adminKeyFileName } from '../data-directory.ts'
import type { Terminal } from './command.ts'

const ownerOnly = { file: 0o600, folder: 0o700 }

export async function showAdminKey(
  key: string,
  dataDir: string,
  { say, complain, isTerminal }: Pick<Terminal, 'say' | 'complain' | 'isTerminal'>,
): Promise<void> {
  if (isTerminal) {
    say(`\nThe admin key is ${key}`)
    say('Keep it: it is shown only now. PARLEY_ADMIN_KEY hands it to `parley key`.')
    return
  }
  const file = join(dataDir, adminKeyFileName)
  try {
    await writeOwnerOnly(file, key, dataDir)
    say(`\nThe admin key is in ${file}`)
    say('Only the owner of the file can read it. Store the key elsewhere and delete the file.')
  } catch (reason) {
    complain(
      `The admin key could not be written to ${file}: ${(reason as Error).message}. Set PARLEY_ADMIN_KEY or \`admin.key\` to a key of your own, and start again.`,
    )
  }
}

/** The key that the first start wrote, if the file is still there. */
export async function readAdminKey(dataDir: string): Promise<string | undefined> {
  try {
    return (await readFile(join(dataDir, adminKeyFileName), 'utf8')).trim()
  } catch {
    return undefined
  }
}

async function writeOwnerOnly(file: string, text: string, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: ownerOnly.folder })
  // Created new, so that neither a link nor a file of another user is written to.
  await rm(file, { force: true })
  await writeFile(file, `${text}\n`, { mode: ownerOnly.file, flag: 'wx' })
  await chmod(file, ownerOnly.file)
}
