/**
 * Where the hub of a data directory listens. The hub records its URL there, so that commands in another terminal find it although a
 * flag or a variable of its own terminal has changed the port, or the configuration has changed since.
 */
import { lstat, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { HubConfig } from '../config/hub-config.ts'
import { CliError, exitCodes, type Flags } from './command.ts'

const fileIn = (dataDir: string): string => join(dataDir, 'parley.address')

/** Returns a function that removes the record when the hub stops. */
export async function recordHubAddress(dataDir: string, url: string): Promise<() => Promise<void>> {
  try {
    await mkdir(dataDir, { recursive: true, mode: 0o700 })
    // A hub that was killed left its own, and the mode applies only to a new file.
    await rm(fileIn(dataDir), { force: true })
    await writeFile(fileIn(dataDir), `${url}\n`, { mode: 0o600 })
  } catch {
    // The data directory may be read-only; commands then need --port or --url.
    return async () => {}
  }
  return async () => {
    // Another hub may have replaced it: replicas on PostgreSQL can share a data directory.
    if ((await recordedAddress(dataDir)) === url) await rm(fileIn(dataDir), { force: true })
  }
}

/**
 * The URL of the hub that runs, or was killed, in this data directory. A file that no hub has written does not count, such as one of a
 * repository that was cloned: commands send the admin key to this URL.
 */
export async function recordedAddress(dataDir: string): Promise<string | undefined> {
  const file = await lstat(fileIn(dataDir)).catch(() => undefined)
  const user = process.getuid?.()
  const isOwn = user === undefined || user === 0 || file?.uid === user
  const isPrivate = process.platform === 'win32' || ((file?.mode ?? 0) & 0o077) === 0
  if (file?.isFile() !== true || !isOwn || !isPrivate) return undefined
  const text = await readFile(fileIn(dataDir), 'utf8').catch(() => '')
  return URL.canParse(text.trim()) ? text.trim() : undefined
}

/** The URL of the hub that a command is for, if it names none. `listen` is called without a record, and may throw. */
export async function localHubUrl(flags: Flags, dataDir: string, listen: () => HubConfig['listen']): Promise<string> {
  const isSet = flags.value('port') !== undefined || flags.value('host') !== undefined
  return (isSet ? undefined : await recordedAddress(dataDir)) ?? listenUrl(listen())
}

/**
 * Throws CliError if an address of the configuration or the data directory is not on this machine: those may be from a folder that was
 * cloned, and the credential is from the environment of the user.
 */
export async function requireThisMachine(url: string, credential: string, flag: '--url' | '--hub'): Promise<void> {
  // Loaded here, so that `parley help` loads only the list of commands.
  const { isLoopbackHost } = await import('@parley/a2a/internal')
  if (isLoopbackHost(new URL(url).hostname)) return
  throw new CliError(
    `${credential} is not sent to ${url}, which is not on this machine: name it with ${flag} ${url}, or in PARLEY_URL.`,
    exitCodes.unauthorized,
  )
}

/** Where a hub with these settings is reached from the same machine. */
export function listenUrl({ host, port, tls }: HubConfig['listen']): string {
  const reached = ['0.0.0.0', '::'].includes(host) ? '127.0.0.1' : host
  return `${tls === undefined ? 'http' : 'https'}://${reached.includes(':') ? `[${reached}]` : reached}:${port}`
}
