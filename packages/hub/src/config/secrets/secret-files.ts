/**
 * Secrets in files, for `${file:…}`. Only files in the folders for secrets are read: a person who may edit the configuration could
 * otherwise send any file of the machine to an address of their choice.
 */
import { closeSync, constants, fstatSync, openSync, readSync, realpathSync } from 'node:fs'
import { resolve, sep } from 'node:path'
import { maxSecretBytes, type SecretResult, secretText } from './secret-provider.ts'

export interface SecretFilesOptions {
  /** Relative paths are resolved against it, and files in it may be read. */
  readonly baseDir: string
  /** Other folders whose files may be read. Default: where containers mount secrets. */
  readonly roots?: readonly string[] | undefined
  /** Never read: it holds the database and the master key. */
  readonly dataDir: string
}

export interface SecretFiles {
  read(name: string): SecretResult
  /** The files that were read or are missing: a change of one changes the configuration. */
  readonly files: ReadonlySet<string>
  /** For the operator. */
  readonly warnings: ReadonlySet<string>
}

/** Where Docker, Podman and Kubernetes mount secrets. */
export const mountedSecretFolders = ['/run/secrets', '/var/run/secrets']
const otherUsersRead = 0o004

export function openSecretFiles({ baseDir, roots = mountedSecretFolders, dataDir }: SecretFilesOptions): SecretFiles {
  const files = new Set<string>()
  const warnings = new Set<string>()
  const allowed = [...roots, baseDir]

  /** Links are followed first: a link in a folder for secrets must not lead out of it. */
  function isAllowed(real: string): boolean {
    return allowed.some((root) => isWithin(real, realPath(root))) && !isWithin(real, realPath(dataDir))
  }

  function read(name: string): SecretResult {
    if (name === '') return { problem: 'must name a file: ${file:/run/secrets/name}' }
    const file = resolve(baseDir, name)
    const outside = {
      problem: `${file} is not in a folder for secrets (${allowed.join(', ')}): move it there, or add its folder to PARLEY_SECRET_ROOTS before the hub starts`,
    }
    // Before it is touched: whether another file exists is no business of an editor of the configuration.
    if (!allowed.some((root) => isWithin(file, resolve(root)))) return outside
    files.add(file)
    try {
      const real = realpathSync(file)
      if (!isAllowed(real)) return outside
      return readText(real, file)
    } catch (reason) {
      const { code, message } = reason as NodeJS.ErrnoException
      if (code === 'ENOENT') return { problem: `${file} does not exist` }
      return { problem: code === 'EACCES' ? `${file} cannot be read: permission denied` : message }
    }
  }

  function readText(real: string, file: string): SecretResult {
    // The opening of a named pipe would wait for a writer, and the hub with it. Windows has neither.
    const handle = openSync(real, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
    try {
      const { mode } = fstatSync(handle)
      if (!fstatSync(handle).isFile()) return { problem: `${file} is not a file` }
      const isMounted = mountedSecretFolders.some((root) => isWithin(file, root))
      if (!isMounted && (mode & otherUsersRead) !== 0 && process.platform !== 'win32') {
        warnings.add(`other users may read the secret in ${file}: make it private with chmod 600`)
      }
      const bytes = Buffer.alloc(maxSecretBytes + 1)
      const text = secretText(bytes.subarray(0, readSync(handle, bytes, 0, bytes.length, 0)))
      return 'problem' in text ? { problem: `${file} ${text.problem}` } : text
    } finally {
      closeSync(handle)
    }
  }

  return { read, files, warnings }
}

function isWithin(file: string, folder: string): boolean {
  return file.startsWith(folder.endsWith(sep) ? folder : folder + sep)
}

/** A folder that does not exist contains nothing. */
function realPath(folder: string): string {
  try {
    return realpathSync(folder)
  } catch {
    return resolve(folder)
  }
}
