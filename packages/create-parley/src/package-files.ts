/** The files of this package. An executable replaces this file: it contains them (scripts/executable/embedded-package-files.ts). */
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'

/** The version of this package, which is that of the packages the project depends on. */
export function packageVersion(): string {
  const manifest = readFileSync(new URL('../package.json', import.meta.url), 'utf8')
  return (JSON.parse(manifest) as { readonly version: string }).version
}

/** A file of the template, by its name there. */
export function readTemplateFile(name: string): Promise<string> {
  return readFile(new URL(`../template/${name}`, import.meta.url), 'utf8')
}
