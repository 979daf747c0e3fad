/**
 * The place where the configuration is kept, for changes at run time. It reads the text as written, checks it before it takes
 * effect, and replaces the file atomically, so that no reader sees a partial file.
 */
import { existsSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { stringify } from 'yaml'
import { loadConfig, type LoadedConfig, type LoadConfigOptions } from './load-config.ts'

export interface ConfigSource {
  /** The path of the file, which may not exist until the first write. */
  readonly file: string
  /** The current text of the file; the effective configuration if there is no file yet. */
  read(): string
  /** The configuration that the hub would load if this text were written. */
  load(text: string): LoadedConfig
  write(text: string): void
}

export function fileSource(options: LoadConfigOptions): ConfigSource {
  const { cwd, fallback } = options
  const file = resolve(cwd, options.file ?? join(cwd, 'parley.yaml'))
  return {
    file,
    read: () => (existsSync(file) ? readFileSync(file, 'utf8') : stringify(fallback, { lineWidth: 0 })),
    load: (text) => loadConfig({ ...options, file, text }),
    write(text) {
      const temporaryFile = `${file}.new`
      // Keeps the mode of the file. A new file is readable only by its owner, because it may contain secrets.
      writeFileSync(temporaryFile, text, { mode: statSync(file, { throwIfNoEntry: false })?.mode ?? 0o600 })
      renameSync(temporaryFile, file)
    },
  }
}
