/**
 * The tokens of `auth login`: one file each, readable by the user only, in the folder `tokens` of the configuration. A token is bound
 * to the origin of the card that it was obtained for, and is never sent to an agent of another origin.
 */
import { createHash, randomUUID } from 'node:crypto'
import { chmod, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { platform } from 'node:os'
import { join } from 'node:path'

/** One login. Times are in milliseconds since the epoch. */
export interface StoredLogin {
  readonly version: 1
  /** The origin of the card, or of the interface if the card is a file. */
  readonly origin: string
  /** The hosts that the card named for its interfaces at the login. */
  readonly hosts: readonly string[]
  /** The origin of the authorization server. */
  readonly issuer: string
  /** The name of the security scheme in the card. */
  readonly scheme: string
  readonly flow: 'client-credentials' | 'device-code'
  readonly clientId: string
  readonly tokenUrl: string
  readonly refreshUrl: string
  readonly scopes: readonly string[]
  readonly audience?: string
  readonly resource?: string
  readonly accessToken: string
  readonly refreshToken?: string
  readonly expiresAt?: number
  readonly savedAt: number
}

export interface TokenStore {
  /** The folder, for messages. */
  readonly folder: string
  /** All logins, or those of an origin; the newest first. Files that are not logins are ignored. */
  list(origin?: string): Promise<readonly StoredLogin[]>
  /** Replaces the login of the same origin, issuer and client. */
  save(login: StoredLogin): Promise<void>
  /** Returns whether there was one. */
  remove(login: StoredLogin): Promise<boolean>
}

export interface TokenStoreDeps {
  /** The configuration folder; `undefined` for a user without a home. */
  readonly folder: string | undefined
  warn(text: string): void
}

export function openTokenStore({ folder: parent, warn }: TokenStoreDeps): TokenStore {
  const folder = parent === undefined ? undefined : join(parent, 'tokens')
  const fileOf = (login: StoredLogin): string => join(folder ?? '', `${fileNameOf(login)}.json`)

  return {
    folder: folder ?? '',
    async list(origin) {
      if (folder === undefined) return []
      const names = await readdir(folder).catch(() => [])
      const files = names.filter((name) => /^[0-9a-f]{32}\.json$/.test(name)).map((name) => join(folder, name))
      const logins = await Promise.all(files.map((file) => readLogin(file, warn)))
      return logins
        .filter((login) => login !== undefined && (origin === undefined || login.origin === origin))
        .map((login) => login as StoredLogin)
        .toSorted((a, b) => b.savedAt - a.savedAt)
    },
    async save(login) {
      if (folder === undefined) throw new Error('There is no home folder to keep tokens in: set XDG_CONFIG_HOME.')
      await mkdir(folder, { recursive: true, mode: 0o700 })
      // The folder may be older than this rule.
      await chmod(folder, 0o700)
      // A reader sees the old file or the new one, never a part.
      const draft = join(folder, `.${randomUUID()}.tmp`)
      try {
        await writeFile(draft, `${JSON.stringify(login, null, 2)}\n`, { mode: 0o600, flag: 'wx' })
        await rename(draft, fileOf(login))
      } catch (reason) {
        await rm(draft, { force: true })
        throw reason
      }
    },
    async remove(login) {
      return rm(fileOf(login)).then(
        () => true,
        (reason: NodeJS.ErrnoException) => {
          if (reason.code === 'ENOENT') return false
          throw reason
        },
      )
    },
  }
}

function fileNameOf({ origin, issuer, clientId }: StoredLogin): string {
  return createHash('sha256')
    .update(JSON.stringify([origin, issuer, clientId]))
    .digest('hex')
    .slice(0, 32)
}

async function readLogin(file: string, warn: (text: string) => void): Promise<StoredLogin | undefined> {
  try {
    const [text, { mode }] = await Promise.all([readFile(file, 'utf8'), stat(file)])
    const login = JSON.parse(text) as Partial<StoredLogin>
    if (login.version !== 1 || typeof login.accessToken !== 'string' || typeof login.origin !== 'string')
      return undefined
    if (platform() !== 'win32' && (mode & 0o077) !== 0)
      warn(`Other users can read ${file}, which holds a token. Run: chmod 600 '${file}'`)
    return login as StoredLogin
  } catch {
    return undefined
  }
}
