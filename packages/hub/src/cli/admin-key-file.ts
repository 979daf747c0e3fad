/**
 * The file with the admin key that a first start created: the commands in the folder of the hub read it. Only its owner can, like the
 * master key beside it. The key is printed nowhere: output may be a log, which more people can read than may operate the hub.
 */
import { chmod, lstat, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import type { HubConfig } from '../config/hub-config.ts'
import type { Hub } from '../hub.ts'
import { adminKeyFile } from '../store/data-directory.ts'
import { CliError, exitCodes, type Terminal } from './command.ts'

const ownerOnly = { file: 0o600, folder: 0o700, others: 0o077 }

/** `undefined` if there is no file. Throws CliError if it cannot be read. */
export async function readAdminKey(dataDir: string): Promise<string | undefined> {
  const file = adminKeyFile(dataDir)
  try {
    return (await readFile(file, 'utf8')).trim() || undefined
  } catch (reason) {
    const { code, message } = reason as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw new CliError(
      `The admin key in ${file} cannot be read: ${message}. Run the command as the user of the hub, or set PARLEY_ADMIN_KEY.`,
      exitCodes.unauthorized,
    )
  }
}

/**
 * The key for a store that has none: another store of this directory has created it, or the same in memory. One file then serves
 * both. A file that another user could have written does not count.
 */
export async function reusableAdminKey(dataDir: string): Promise<string | undefined> {
  try {
    const found = await lstat(adminKeyFile(dataDir))
    const isOwn =
      process.getuid === undefined || (found.uid === process.getuid() && (found.mode & ownerOnly.others) === 0)
    const key = found.isFile() && isOwn ? await readAdminKey(dataDir) : undefined
    // Loaded on demand: `parley help` loads only the list of commands.
    const { keyIdOf } = await import('../auth/key-format.ts')
    return key !== undefined && keyIdOf(key, 'pka') !== undefined ? key : undefined
  } catch {
    return undefined
  }
}

/** Returns the file. */
export async function writeAdminKey(dataDir: string, key: string): Promise<string> {
  const file = adminKeyFile(dataDir)
  await mkdir(dataDir, { recursive: true, mode: ownerOnly.folder })
  // Created anew, so that neither a link nor a file of another user is written to.
  await rm(file, { force: true })
  await writeFile(file, `${key}\n`, { mode: ownerOnly.file, flag: 'wx' })
  await chmod(file, ownerOnly.file)
  return file
}

/** For the key that this start has created. */
export async function storeAdminKey(
  dataDir: string,
  key: string,
  { printError }: Pick<Terminal, 'printError'>,
): Promise<void> {
  await writeAdminKey(dataDir, key).catch((reason: Error) =>
    printError(
      `The admin key could not be written to ${adminKeyFile(dataDir)}: ${reason.message}. Set PARLEY_ADMIN_KEY or \`admin.key\` to your own key, and start again.`,
    ),
  )
}

/**
 * Prints where the key is. Returns a path of the console that signs in once, if the key is known. `rotateCommand` creates another key
 * for this hub.
 */
export async function showAdminKey(
  hub: Pick<Hub, 'newAdminKey' | 'signInPath'>,
  { admin, dataDir }: Pick<HubConfig, 'admin' | 'dataDir'>,
  { print, environment }: Pick<Terminal, 'print' | 'environment'>,
  rotateCommand: string,
): Promise<string | undefined> {
  const file = adminKeyFile(dataDir)
  const key = await readAdminKey(dataDir).catch(() => undefined)
  if (admin.key !== undefined) {
    const place =
      environment['PARLEY_ADMIN_KEY'] === undefined ? '`admin.key` of the configuration' : 'PARLEY_ADMIN_KEY'
    const isStale = key !== undefined && key !== admin.key
    print('')
    print(`The admin key is that of ${place}${isStale ? `, not the one in ${file}: remove that file` : ''}`)
    return hub.signInPath(admin.key)
  }
  // It could not be written, which `storeAdminKey` has reported.
  if (hub.newAdminKey !== undefined && hub.newAdminKey !== key) return undefined
  const path = key === undefined ? undefined : await hub.signInPath(key)
  print('')
  if (path !== undefined) print(`The admin key is in ${file}`)
  else
    print(
      `The admin key is still valid, but not in ${file}. If you lost it, stop the hub and run \`${rotateCommand}\`.`,
    )
  return path
}
