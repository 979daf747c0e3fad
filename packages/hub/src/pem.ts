/** Certificates and keys, given as text or as a file name. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { ConfigError } from '@parley/a2a/server'

/** `path` is the configuration path of the setting. */
export function readPem(given: string, baseDir: string, path: string): string {
  // A PEM, or a JSON key.
  if (/^\s*(-----BEGIN |\{)/.test(given)) return given.replaceAll('\\n', '\n')
  try {
    return readFileSync(resolve(baseDir, given), 'utf8')
  } catch (reason) {
    const why =
      (reason as NodeJS.ErrnoException).code === 'ENOENT' ? 'the file does not exist' : 'the file cannot be read'
    throw new ConfigError(path, `${why}: ${given}`)
  }
}
