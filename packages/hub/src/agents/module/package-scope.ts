/**
 * Whether Node takes a file for an ES module, which the nearest package.json says: `"type": "commonjs"`, as `npm init` writes
 * it, makes `import` and `export` a syntax error. Node reads a package.json once for the life of the process, so that a file
 * that was fixed would stay wrong until a restart; here it is read again.
 */
import { readFileSync, statSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { dirname, join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

export interface PackageScope {
  readonly file: string
  readonly type: 'module' | 'commonjs' | undefined
}

/** The endings that mean what package.json says. Others (`.mts`, `.cjs`) say it themselves. */
const byPackage = /\.(js|ts)$/

/** The package.json that decides about the file, as it is now; nothing where none does. */
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
  try {
    const type = (JSON.parse(readFileSync(file, 'utf8')) as { readonly type?: unknown } | null)?.type
    return type === 'module' || type === 'commonjs' ? type : undefined
  } catch {
    return undefined
  }
}

/** Folders whose package.json Node may remember as CommonJS. */
const remembered = new Set<string>()

/** From now on files of this scope are what its package.json says at the time they are loaded. */
export function readAgain({ file }: PackageScope): void {
  if (remembered.size === 0) registerHooks({ resolve })
  remembered.add(dirname(file) + sep)
}

type Resolve = NonNullable<Parameters<typeof registerHooks>[0]['resolve']>

const resolve: Resolve = (specifier, context, next) => {
  const found = next(specifier, context)
  const isModule = found.format?.startsWith('commonjs') === true && isNowModule(found.url)
  return isModule ? { ...found, format: found.format === 'commonjs' ? 'module' : 'module-typescript' } : found
}

function isNowModule(url: string): boolean {
  const file = url.startsWith('file:') ? fileURLToPath(url) : ''
  if (!byPackage.test(file) || ![...remembered].some((folder) => file.startsWith(folder))) return false
  const type = packageScopeOf(file)?.type
  // Without a type Node goes by the syntax.
  return type === undefined ? /^\s*(import|export)\b/m.test(readFileSync(file, 'utf8')) : type === 'module'
}
