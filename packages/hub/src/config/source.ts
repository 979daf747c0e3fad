/**
 * Where the configuration is kept, for whoever changes it while the hub runs: read as it is written, tried before it counts,
 * and replaced in one step, so that nobody ever reads half of it.
 */
import { existsSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { stringify } from 'yaml'
import { loadConfig } from './load.ts'
import type { Loaded, LoadOptions } from './load.ts'

export interface ConfigSource {
  /** Where it is, or will be once something is written. */
  readonly file: string
  /** As it is written now; where there is no file yet, what holds instead. */
  read(): string
  /** What the hub would be told if this were written there. */
  load(text: string): Loaded
  write(text: string): void
}

export function fileSource(options: LoadOptions): ConfigSource {
  const { cwd, otherwise } = options
  const file = resolve(cwd, options.file ?? join(cwd, 'parley.yaml'))
  return {
    file,
    read: () => (existsSync(file) ? readFileSync(file, 'utf8') : stringify(otherwise, { lineWidth: 0 })),
    load: (text) => loadConfig({ ...options, file, text }),
    write(text) {
      const half = `${file}.new`
      // As open as it was; a new one is for its owner alone, because it may hold secrets.
      writeFileSync(half, text, { mode: statSync(file, { throwIfNoEntry: false })?.mode ?? 0o600 })
      renameSync(half, file)
    },
  }
}
