/**
 * Bundles `@parley/cli` with the parts of the SDK that it uses. Coding agents start the program in loops, and Node spends most of a
 * short run on resolving and reading files: a call needs a hundred modules, and a few chunks of the bundle. Third-party packages stay
 * dependencies, since only gRPC needs them.
 */
import { globSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { build, type Plugin } from 'esbuild'

export interface BundleOptions {
  readonly sources: string
  readonly dist: string
  /** Relative to `sources`: `main.ts`. */
  readonly entries: readonly string[]
  /** The packages that are not part of the bundle. */
  readonly external: readonly string[]
}

export async function bundleProgram({ sources, dist, entries, external }: BundleOptions): Promise<void> {
  rmSync(dist, { recursive: true, force: true })
  await build({
    entryPoints: entries.map((entry) => join(sources, entry)),
    outbase: sources,
    outdir: dist,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    conditions: ['parley-source'],
    external: [...external],
    chunkNames: 'chunk-[hash]',
    plugins: [commandsInOneChunk(sources), builtinsWithoutFacade],
    // Names stay as they are, so that a stack trace in a report can be read.
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: 'none',
    logLevel: 'warning',
  })
}

/** Parts of the client that most runs do not need. */
const rarelyUsed =
  /grpc|oauth|device-code|card-signature|simple-tasks|v0_2|v0_3|redirects|card-search|retry-card|json-nodes|tools/

/** Commands that call no agent: they load nothing of the client. */
const localCommands = ['completion', 'config-show', 'help']
/** Commands that bring much code of their own. */
const largeCommands = ['server', 'push-listen', 'conformance']

/**
 * esbuild makes one chunk for each set of entry points that share a file, and every `import()` is an entry point: fifty chunks for a
 * call. Here the commands that call an agent are one module, and every other part that loads on demand imports it too, so that all that
 * they share has the same set of entry points and becomes one chunk.
 */
function commandsInOneChunk(sources: string): Plugin {
  const [group, onDemand] = ['agent-commands', new Set<string>()]
  const isCommand = (file: string, names: readonly string[]): boolean =>
    names.some((name) => file === join(sources, 'commands', `${name}.ts`))
  const isShared = (file: string): boolean => !isCommand(file, localCommands) && !isCommand(file, largeCommands)
  const nameOf = (file: string): string => JSON.stringify(relative(sources, file))
  // What the table of commands and run.ts load on demand.
  const shared = globSync('{commands/specs/*,run}.ts', { cwd: sources })
    .map((file) => join(sources, file))
    .flatMap((file) => importsOnDemand(file))
    .filter(isShared)
  return {
    name: 'commands-in-one-chunk',
    setup({ onLoad, onResolve }) {
      onResolve({ filter: new RegExp(`^${group}$`) }, () => ({ path: group, namespace: group }))
      onResolve({ filter: /^\./ }, ({ kind, importer, path }) => {
        if (kind === 'dynamic-import') onDemand.add(join(dirname(importer), path))
        return undefined
      })
      onLoad({ filter: /.*/, namespace: group }, () => ({
        contents: shared.map((file) => `export * as ${nameOf(file)} from '${file}'`).join('\n'),
        resolveDir: sources,
      }))
      onLoad({ filter: /packages\/(cli|a2a)\/src\/.*\.ts$/ }, ({ path }) => {
        const source = readFileSync(path, 'utf8')
        if (path.includes('/a2a/src/client/') || path.includes('/a2a/src/bindings/'))
          return { contents: withGroup(path, withStaticImports(source)), loader: 'ts' }
        if (!path.includes('/commands/specs/') && path !== join(sources, 'run.ts'))
          return { contents: withGroup(path, source), loader: 'ts' }
        const contents = source.replaceAll(dynamicImport, (found, specifier: string) => {
          const file = join(dirname(path), specifier)
          return isShared(file) ? `import('${group}').then((modules) => modules[${nameOf(file)}])` : found
        })
        return { contents, loader: 'ts' }
      })
    },
  }
  function withGroup(path: string, source: string): string {
    const isApart =
      !onDemand.has(path) || isCommand(path, localCommands) || path === join(sources, 'process-terminal.ts')
    return isApart ? source : `import '${group}'\n${source}`
  }
}

function importsOnDemand(file: string): readonly string[] {
  return [...readFileSync(file, 'utf8').matchAll(dynamicImport)].map(([, path = '']) => join(dirname(file), path))
}

/** Loaded by Node at its start. Their import is cheap, and works in a Node that is too old for this program. */
const loadedAtStart = ['node:fs', 'node:module', 'node:os', 'node:path']

/**
 * An `import` of a module of Node reads all its exports, also those that Node loads on demand: node:http so loads the classes of fetch
 * and WebSocket, for as long as an empty program runs. `getBuiltinModule` reads only what is used.
 */
const builtinsWithoutFacade: Plugin = {
  name: 'builtins-without-facade',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:/ }, ({ path }) =>
      loadedAtStart.includes(path) ? { path, external: true } : { path, namespace: 'builtin' },
    )
    onLoad({ filter: /.*/, namespace: 'builtin' }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule('${path}')`,
    }))
  },
}

const dynamicImport = /(?<!typeof\s)\bimport\(\s*'(\.{1,2}\/[^']+)'\s*\)/g

/**
 * The source with static imports instead of those on demand, except for the parts that most runs do not need. The client loads its parts
 * on demand, which keeps web pages small; here each part would be a file of its own.
 */
export function withStaticImports(source: string): string {
  const paths: string[] = []
  const code = source.replaceAll(dynamicImport, (found, path: string) => {
    if (rarelyUsed.test(path)) return found
    paths.push(path)
    return `Promise.resolve(part${paths.length})`
  })
  return [...paths.map((path, index) => `import * as part${index + 1} from '${path}'`), code].join('\n')
}
