/**
 * Finds LangGraph's serializer in the packages of the graph's author: it revives messages as the classes that the graph uses, so it
 * must come from the same copy. It is no dependency of this package, which is why its name is not a literal of an import.
 */
import type { GraphSerializer } from './turn-checkpointer.ts'

const packageName = '@langchain/langgraph'

interface LangGraphModule {
  readonly MemorySaver: new () => { readonly serde: GraphSerializer }
}

/** Node's modules, as far as they are needed. Absent elsewhere. */
interface NodeModules {
  getBuiltinModule?(name: 'node:module'): { findPackageJSON?(name: string, base: string): string | undefined }
  getBuiltinModule?(name: 'node:fs'): { readFileSync(path: string, encoding: 'utf8'): string }
  getBuiltinModule?(name: 'node:url'): { pathToFileURL(path: string): URL }
  readonly argv?: readonly string[]
  cwd?(): string
}

/**
 * The serializer of the LangGraph that is installed for a file. Default: for the program that runs.
 *
 * Throws if there is none: pass `serializer`, or compile the graph with a checkpointer, which has one.
 */
export async function langGraphSerializer(file?: string): Promise<GraphSerializer> {
  const { MemorySaver } = await importLangGraph(file)
  return new MemorySaver().serde
}

async function importLangGraph(file: string | undefined): Promise<LangGraphModule> {
  const node = (globalThis as { readonly process?: NodeModules }).process ?? {}
  const bases = file === undefined ? [node.argv?.[1], `${node.cwd?.() ?? ''}/index.js`] : [file]
  for (const base of bases) {
    const found = base === undefined ? undefined : entryPointFor(base, node)
    if (found !== undefined) return (await import(found)) as LangGraphModule
  }
  try {
    return (await import(packageName)) as LangGraphModule
  } catch (cause) {
    throw new Error(`${packageName} was not found: compile the graph with a checkpointer, or pass serializer`, {
      cause,
    })
  }
}

/** The ES module of the package that a file would import. */
function entryPointFor(file: string, node: NodeModules): string | undefined {
  const [module, files, url] = [
    node.getBuiltinModule?.('node:module'),
    node.getBuiltinModule?.('node:fs'),
    node.getBuiltinModule?.('node:url'),
  ]
  if (module?.findPackageJSON === undefined || files === undefined || url === undefined) return undefined
  try {
    const manifest = module.findPackageJSON(packageName, url.pathToFileURL(file).href)
    if (manifest === undefined) return undefined
    const { exports } = JSON.parse(files.readFileSync(manifest, 'utf8')) as {
      readonly exports?: { readonly '.'?: { readonly import?: string | { readonly default?: string } } }
    }
    const entry = exports?.['.']?.import
    const path = typeof entry === 'string' ? entry : entry?.default
    return path === undefined ? undefined : new URL(path, url.pathToFileURL(manifest)).href
  } catch {
    return undefined
  }
}
