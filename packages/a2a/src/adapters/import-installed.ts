/**
 * Imports a package as the author of an agent has it installed. It is no dependency of this package, so its name is not a literal of
 * an import; and it must be the copy that the agent uses, because two copies share no classes.
 */

/** Node's modules, as far as they are needed. Absent elsewhere. */
interface NodeModules {
  getBuiltinModule?(name: 'node:module'): { findPackageJSON?(name: string, base: string): string | undefined }
  getBuiltinModule?(name: 'node:fs'): { readFileSync(path: string, encoding: 'utf8'): string }
  getBuiltinModule?(name: 'node:url'): { pathToFileURL(path: string): URL }
  readonly argv?: readonly string[]
  cwd?(): string
}

type Exports = string | { readonly [condition: string]: Exports } | null | undefined

const conditions = ['node', 'import', 'module-sync', 'default']

/** The package that a file would import. Default: for the program that runs. Rejects if it is not installed. */
export async function importInstalled(name: string, file?: string): Promise<Readonly<Record<string, unknown>>> {
  const node = (globalThis as { readonly process?: NodeModules }).process ?? {}
  const bases = file === undefined ? [node.argv?.[1], `${node.cwd?.() ?? ''}/index.js`] : [file]
  for (const base of bases) {
    const found = base === undefined ? undefined : entryPointFor(name, base, node)
    if (found !== undefined) return (await import(found)) as Record<string, unknown>
  }
  return (await import(name)) as Record<string, unknown>
}

/** The ES module that `import` resolves to, from the `exports` of the package. */
function entryPointFor(name: string, file: string, node: NodeModules): string | undefined {
  const [module, files, url] = [
    node.getBuiltinModule?.('node:module'),
    node.getBuiltinModule?.('node:fs'),
    node.getBuiltinModule?.('node:url'),
  ]
  if (module?.findPackageJSON === undefined || files === undefined || url === undefined) return undefined
  try {
    const manifest = module.findPackageJSON(name, url.pathToFileURL(file).href)
    if (manifest === undefined) return undefined
    const about = JSON.parse(files.readFileSync(manifest, 'utf8')) as {
      readonly exports?: Exports
      readonly main?: string
    }
    const { exports: given, main = 'index.js' } = about
    const isMap = typeof given === 'object' && given !== null && '.' in given
    const path = given === undefined ? main : targetOf(isMap ? given['.'] : given)
    return path === undefined ? undefined : new URL(path, url.pathToFileURL(manifest)).href
  } catch {
    return undefined
  }
}

/** The first condition that applies decides, in the order of the package. */
function targetOf(target: Exports): string | undefined {
  if (typeof target === 'string') return target
  for (const [condition, next] of Object.entries(target ?? {})) {
    const found = conditions.includes(condition) ? targetOf(next) : undefined
    if (found !== undefined) return found
  }
  return undefined
}
