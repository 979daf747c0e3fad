/** Certificates and keys: as text where they are given as text, else out of the file that is named. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { ConfigError } from '@parley/a2a/server'

/** `path` is where the configuration names it. */
export function readPem(given: string, baseDir: string, path: string): string {
  // A PEM, or a key as JSON.
  if (/^\s*(-----BEGIN |\{)/.test(given)) return given.replaceAll('\\n', '\n')
  try {
    return readFileSync(resolve(baseDir, given), 'utf8')
  } catch (reason) {
    const why =
      (reason as NodeJS.ErrnoException).code === 'ENOENT' ? 'there is no such file' : 'the file cannot be read'
    throw new ConfigError(path, `${why}: ${given}`)
  }
}
