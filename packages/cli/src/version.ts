/** The version of the program, from its package.json. The bundle is in `dist`, this file in `src`: both are beside it. */
import { readFileSync } from 'node:fs'

export function programVersion(): string {
  const manifest = readFileSync(new URL('../package.json', import.meta.url), 'utf8')
  return (JSON.parse(manifest) as { version: string }).version
}
