/**
 * Whether Node treats a file as an ES module. The nearest package.json decides: `"type": "commonjs"`, as `npm init` writes
 * it, makes `import` and `export` a syntax error. Node reads a package.json once per process, so that a fixed file would
 * fail until a restart; this module reads it again.
 */
import { readFileSync, statSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { dirname, join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { attempt } from '../../json/attempt.ts'

export interface PackageScope {
  readonly file: string
  readonly type: 'module' | 'commonjs' | undefined
}

/** Extensions for which package.json decides. Others (`.mts`, `.cjs`) decide for themselves. */
const byPackage = /\.(js|ts)$/

/** The package.json that applies to the file, read now; undefined if there is none. */
export function packageScopeOf(file: string): PackageScope | undefined {
  if (!byPackage.test(file)) return undefined
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    const found = join(folder, 'package.json')
    if (statSync(found, { throwIfNoEntry: false })?.isFile() === true) {
      return { file: found, type: typeIn(found) }
    }
    if (dirname(folder) === folder || folder.endsWith('node_modules')) return undefined
  }
}

function typeIn(file: string): PackageScope['type'] {
  const settings = attempt(() => JSON.parse(readFileSync(file, 'utf8')) as { readonly type?: unknown } | null)
  const type = settings?.type
  return type === 'module' || type === 'commonjs' ? type : undefined
}

/** Folders whose package.json Node may have cached as CommonJS. */
const cachedScopes = new Set<string>()

/** From now on, files of this scope use the type in package.json at the time they are loaded. */
export function rereadPackageScope({ file }: PackageScope): void {
  if (cachedScopes.size === 0) registerHooks({ resolve })
  cachedScopes.add(dirname(file) + sep)
}

type Resolve = NonNullable<Parameters<typeof registerHooks>[0]['resolve']>

const resolve: Resolve = (specifier, context, next) => {
  const found = next(specifier, context)
  const isModule = found.format?.startsWith('commonjs') === true && isNowModule(found.url)
  return isModule ? { ...found, format: found.format === 'commonjs' ? 'module' : 'module-typescript' } : found
}

function isNowModule(url: string): boolean {
  const file = url.startsWith('file:') ? fileURLToPath(url) : ''
  if (!byPackage.test(file) || ![...cachedScopes].some((folder) => file.startsWith(folder))) return false
  const type = packageScopeOf(file)?.type
  // Without a type Node detects the syntax.
  return type === undefined ? /^\s*(import|export)\b/m.test(readFileSync(file, 'utf8')) : type === 'module'
}
