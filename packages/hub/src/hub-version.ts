/** Which version of the hub this is, as its package says. */
import { readFileSync } from 'node:fs'

export function hubVersion(): string {
  const manifest = readFileSync(new URL('../package.json', import.meta.url), 'utf8')
  return (JSON.parse(manifest) as { version: string }).version
}
