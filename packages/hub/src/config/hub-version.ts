/** The version of the hub, from its package.json. */
import { readFileSync } from 'node:fs'

export function hubVersion(): string {
  const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  return (JSON.parse(manifest) as { version: string }).version
}
