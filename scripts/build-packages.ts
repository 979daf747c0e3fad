/**
 * Builds the published packages: `dist` of each has what its entry points reach. A file of JavaScript is its source with the
 * types replaced by spaces, so that every line and column is that of the source and a stack trace needs no source map. (Sources
 * beside built code were 0.9 MB packed, with maps 1.1 MB; this is 0.6.) A program that starts often is a bundle instead: bundle-cli.ts.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { bundleProgram } from './bundle-cli.ts'

const root = join(import.meta.dirname, '..')

/** In the order of their dependencies. */
export const publishedPackages = ['create-parley', 'a2a', 'cli', 'hub'] as const

/** Programs that start often: their code is a bundle, without the positions of the sources. */
export const bundledPackages: readonly string[] = ['cli']

/** A `package.json`, as far as building and packing read it. */
export interface PackageManifest {
  readonly name: string
  readonly version: string
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>
  readonly bin?: Readonly<Record<string, string>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly [field: string]: unknown
}

export function readManifest(folder: string): PackageManifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as PackageManifest
}

/** A relative import, of a source or of what was built from it: what precedes the specifier, its quote, and its path. */
const relativeImport = /(\bfrom\s*|\bimport\s*\(\s*|^\s*import\s*)(['"])(\.{1,2}\/[^'"\n]+)\.(?:ts|js)\2/gm

/** JavaScript with the lines and columns of `source`. The new specifiers are as long as the old ones. */
export function eraseTypes(source: string): string {
  const lines = source.split('\n')
  const erased = stripTypeScriptTypes(source, { mode: 'strip' }).replace(relativeImport, '$1$2$3.js$2')
  // Spaces at the end of a line that the source has too may be part of a string.
  return erased
    .split('\n')
    .map((line, index) => (/\s$/.test(lines[index] ?? '') ? line : line.trimEnd()))
    .join('\n')
}

/** Every file that `entries` import, statically or on demand, and they themselves. */
function reachable(entries: readonly string[], textOf: (file: string) => string): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  const visit = (file: string): void => {
    if (found.has(file)) return
    const text = textOf(file)
    found.set(file, text)
    for (const [, , , path = ''] of text.matchAll(relativeImport)) visit(join(dirname(file), `${path}.ts`))
  }
  for (const entry of entries) visit(entry)
  return found
}

async function buildPackage(name: string): Promise<void> {
  const folder = join(root, 'packages', name)
  const [sources, dist] = [join(folder, 'src'), join(folder, 'dist')]
  const declarations = join(root, 'node_modules/.cache/parley-declarations', name, 'src')
  const { exports, bin = {}, dependencies = {} } = readManifest(folder)
  const entries = Object.values(exports).flatMap((entry) =>
    typeof entry === 'string' ? [] : [entry['parley-source'] ?? ''],
  )
  const programs = Object.values(bin).map((file) => file.replace(/^(?:\.\/)?dist\/(.*)\.js$/, 'src/$1.ts'))
  const inSources = (file: string): string => relative(sources, join(folder, file))

  const types = reachable(entries.map(inSources), (file) =>
    readFileSync(join(declarations, declarationOf(file)), 'utf8'),
  )
  const codeEntries = [...entries, ...programs].map(inSources)
  if (bundledPackages.includes(name)) {
    const external = Object.keys(dependencies).filter((dependency) => dependency !== '@parley/a2a')
    await bundleProgram({ sources, dist, entries: codeEntries, external })
  } else {
    const code = reachable(codeEntries, (file) => eraseTypes(readFileSync(join(sources, file), 'utf8')))
    rmSync(dist, { recursive: true, force: true })
    for (const [file, text] of code) write(join(dist, file.replace(/\.ts$/, '.js')), text)
  }
  for (const [file, text] of types) write(join(dist, declarationOf(file)), text)
}

function declarationOf(file: string): string {
  return file.replace(/\.ts$/, '.d.ts')
}

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

export async function buildPackages(): Promise<void> {
  const folders = publishedPackages.map((name) => `packages/${name}`)
  execFileSync(join(root, 'node_modules/.bin/tsc'), ['-b', ...folders], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  for (const name of publishedPackages) await buildPackage(name)
}

if (import.meta.main) await buildPackages()
