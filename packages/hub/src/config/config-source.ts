/**
 * The place where the configuration is kept, for changes at run time. It reads the text as written, checks it before it takes
 * effect, and replaces the file atomically, so that no reader sees a partial file.
 */
import { existsSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { stringify } from 'yaml'
import type { LoadedConfig, LoadConfigOptions } from './load-config.ts'
import { configBaseDir } from './check-config.ts'
import { checkWithSecrets, loadWithSecrets } from './secrets/load-with-secrets.ts'
import { createSecretCache, type SecretCache } from './secrets/secret-cache.ts'

export interface ConfigSource {
  /** The path of the file, which may not exist until the first write. */
  readonly file: string
  /** The current text of the file; the effective configuration if there is no file yet. */
  read(): string
  /** The configuration that the hub loads if this text is written. */
  load(text: string): Promise<LoadedConfig>
  /** The same without starting a program for secrets that the current text does not have. */
  check(text: string): Promise<LoadedConfig>
  write(text: string): void
}

/** Without `cache`, the secrets of providers are read anew by each source. */
export function fileSource(options: LoadConfigOptions, cache: SecretCache = ownCache(options)): ConfigSource {
  const { cwd, fallback } = options
  const file = resolve(cwd, options.file ?? join(cwd, 'parley.yaml'))
  const read = (): string => (existsSync(file) ? readFileSync(file, 'utf8') : stringify(fallback, { lineWidth: 0 }))
  return {
    file,
    read,
    load: (text) => loadWithSecrets({ ...options, file, text }, cache),
    check: (text) => checkWithSecrets({ ...options, file, text }, cache, read()),
    write(text) {
      const temporaryFile = `${file}.new`
      // Keeps the mode of the file. A new file is readable only by its owner, because it may contain secrets.
      writeFileSync(temporaryFile, text, { mode: statSync(file, { throwIfNoEntry: false })?.mode ?? 0o600 })
      renameSync(temporaryFile, file)
    },
  }
}

function ownCache({ file, cwd }: LoadConfigOptions): SecretCache {
  return createSecretCache({ baseDir: file === undefined ? cwd : configBaseDir(resolve(cwd, file)), env: {} })
}
