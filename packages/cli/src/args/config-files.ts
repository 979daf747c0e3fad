/** The configuration files of a run: the nearest `.env` or the file of `--config`, and the user's own. */
import { readFileSync, statSync } from 'node:fs'
import { platform } from 'node:os'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { usageError } from '../output/cli-error.ts'
import type { Terminal } from '../terminal.ts'
import { parseDotenv } from './dotenv.ts'
import type { ParsedArgs } from './option.ts'

export interface ConfigFile {
  readonly path: string
  readonly kind: 'named' | 'nearest' | 'global'
  /** By variable. */
  readonly values: ReadonlyMap<string, string>
  /** Whether other users of the machine can read it. */
  readonly isReadableByOthers: boolean
}

/** The folder of everything that the program keeps: `~/.config/a2a-cli`. `undefined` for a user without a home. */
export function configFolder({ environment, home }: Pick<Terminal, 'environment' | 'home'>): string | undefined {
  const base = environment['XDG_CONFIG_HOME']
  // Relative paths are invalid there, and ignored: XDG Base Directory Specification.
  if (base !== undefined && isAbsolute(base)) return join(base, 'a2a-cli')
  return home === undefined ? undefined : join(home, '.config', 'a2a-cli')
}

/** The file of `--config` or `A2ACLI_CONFIG`; no file may name another. */
export function configOption(args: ParsedArgs, environment: Terminal['environment']): string | undefined {
  return args.options.findLast(({ name }) => name === 'config')?.value ?? (environment['A2ACLI_CONFIG'] || undefined)
}

/** In the order of their precedence. `named` is the value of `--config`; a file that is missing there is a usage error. */
export function readConfigFiles(
  terminal: Pick<Terminal, 'environment' | 'home' | 'cwd'>,
  named: string | undefined,
): readonly ConfigFile[] {
  const folder = configFolder(terminal)
  const global = folder === undefined ? undefined : join(folder, '.env')
  const local =
    named === undefined ? nearestFile(terminal.cwd, global) : readConfigFile(resolve(terminal.cwd, named), 'named')
  if (named !== undefined && local === undefined) throw usageError(`--config ${named}: cannot read this file.`)
  return [local, global === undefined ? undefined : readConfigFile(global, 'global')].filter(
    (file) => file !== undefined,
  )
}

/** The `.env` of the folder or of the nearest folder above it. The global file is not a local one, even below its folder. */
function nearestFile(start: string, global: string | undefined): ConfigFile | undefined {
  for (let folder = start; ; folder = dirname(folder)) {
    const path = join(folder, '.env')
    const file = path === global ? undefined : readConfigFile(path, 'nearest')
    if (file !== undefined) return file
    if (dirname(folder) === folder) return undefined
  }
}

function readConfigFile(path: string, kind: ConfigFile['kind']): ConfigFile | undefined {
  try {
    // A project may link its file to a device that never ends. A file that the user names may be a pipe.
    if (kind !== 'named' && !isSmallFile(path)) return undefined
    const values = parseDotenv(readFileSync(path, 'utf8'))
    return { path, kind, values, isReadableByOthers: platform() !== 'win32' && (statSync(path).mode & 0o077) !== 0 }
  } catch {
    return undefined
  }
}

const maxFileBytes = 1_000_000

function isSmallFile(path: string): boolean {
  const found = statSync(path)
  return found.isFile() && found.size <= maxFileBytes
}
