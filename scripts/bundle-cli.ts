/**
 * Bundles `@parley/cli` with the parts of the SDK that it uses. Coding agents start the program in loops, and Node spends most of a
 * short run on loading: each file costs a millisecond, and a call needs a hundred modules. The bundle has one chunk for the program
 * and one for the commands that scripts call in loops. Third-party packages stay dependencies, since only gRPC needs them.
 */
import { cpSync, globSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { build, type BuildOptions, type Plugin } from 'esbuild'

export interface BundleOptions {
  readonly sources: string
  readonly dist: string
  /** Relative to `sources`: `main.ts`. */
  readonly entries: readonly string[]
  /** The packages that are not part of the bundle. */
  readonly external: readonly string[]
}

export async function bundleProgram(options: BundleOptions): Promise<void> {
  const { sources, dist, entries, external } = options
  rmSync(dist, { recursive: true, force: true })
  const bundle = (files: readonly string[], more: BuildOptions) =>
    build({
      entryPoints: files.map((file) => join(sources, file)),
      outbase: sources,
      outdir: dist,
      bundle: true,
      format: 'esm',
      platform: 'node',
      target: 'node24',
      conditions: ['parley-source'],
      external: [...external],
      // Names stay as they are, so that a stack trace in a report can be read.
      minifyWhitespace: true,
      minifySyntax: true,
      legalComments: 'none',
      logLevel: 'warning',
      ...more,
    })
  const ofProgram = entries.filter((entry) => entry !== forHub)
  const plugins = [commandsInOneChunk({ ...options, entries: ofProgram }), builtinsOnDemand]
  await bundle(ofProgram, { splitting: true, chunkNames: 'chunk-[hash]', plugins })
  // A file of its own: what the hub shares with the program would be further chunks of the program.
  if (entries.includes(forHub)) await bundle([forHub], {})
  // `a2a skill install` writes it (skill-files.ts).
  cpSync(join(packages, '../.agents/skills'), join(dist, 'skills'), { recursive: true })
}

const packages = join(import.meta.dirname, '../packages')

/** What the hub loads with every command of its own. */
const forHub = 'internal.ts'
/** Commands that call no agent: they load nothing of the client. */
const localCommands = ['completion', 'config-show', 'help']
/** Commands that scripts call in loops: their code is in one chunk, with all of the client that they need. */
const frequentCommands = [
  'card-get',
  'send',
  'task/task-get',
  'task/task-list',
  'task/task-cancel',
  'task/task-subscribe',
]
/** Parts of the client that most runs do not need. */
const rarelyUsed =
  /grpc|oauth|card-signature|simple-tasks|v0_2|v0_3|redirects|card-search|json-nodes|tools|chat|output\/turn/

/** A virtual module with the frequent commands. */
const commandGroup = 'agent-commands'
/** A virtual module that imports the modules of Node that the program uses. */
const builtinGroup = 'builtins'

/**
 * esbuild makes one chunk for each set of entry points that share a file, and every `import()` is an entry point: fifty chunks for a
 * call. Here the frequent commands are one module, and every other part that loads on demand imports it too, so that all that
 * they share has the same set of entry points and becomes one chunk.
 */
function commandsInOneChunk({ sources, entries }: BundleOptions): Plugin {
  const program = join(sources, 'process-terminal.ts')
  const isCommand = (file: string, names: readonly string[]): boolean =>
    names.some((name) => file === join(sources, 'commands', `${name}.ts`))
  const isShared = (file: string): boolean => isCommand(file, frequentCommands) || /\/(agent|output)\/[^/]+$/.test(file)
  const nameOf = (file: string): string => JSON.stringify(relative(sources, file))
  // Files with imports that stay on demand: the table of commands, and what starts them.
  const starters = ['main.ts', 'run.ts', ...globSync('commands/specs/*.ts', { cwd: sources })].map((file) =>
    join(sources, file),
  )
  const shared = starters
    .slice(1)
    .flatMap((file) => importsOnDemand(file))
    .filter(isShared)
  // Found before the build: esbuild loads files in any order, and one may be imported in both ways.
  const onDemand = new Set(
    globSync('{a2a,cli}/src/**/*.ts', { cwd: packages })
      .map((file) => join(packages, file))
      .flatMap((file) =>
        starters.includes(file)
          ? importsOnDemand(file).filter((path) => !isShared(path))
          : importsOnDemand(file, rarelyUsed),
      ),
  )

  /** What a part must import, so that it shares its chunks. */
  function groupsOf(path: string): readonly string[] {
    const entry = entries.find((one) => path === join(sources, one))
    if (path === program || entry === 'main.ts') return [builtinGroup]
    if (entry === 'index.ts' || isCommand(path, localCommands)) return [builtinGroup, program]
    return entry !== undefined || onDemand.has(path) ? [builtinGroup, program, commandGroup] : []
  }

  return {
    name: 'commands-in-one-chunk',
    setup({ onLoad, onResolve }) {
      onResolve({ filter: new RegExp(`^(${commandGroup}|${builtinGroup})$`) }, ({ path }) => ({
        path,
        namespace: path,
      }))
      onLoad({ filter: /.*/, namespace: commandGroup }, () => ({
        contents: shared.map((file) => `export * as ${nameOf(file)} from '${file}'`).join('\n'),
        resolveDir: sources,
      }))
      onLoad({ filter: /.*/, namespace: builtinGroup }, () => ({
        contents: builtinsOf(
          globSync('{agent,args,auth,commands,commands/task,output,.}/*.ts', { cwd: sources }),
          sources,
        ),
      }))
      onLoad({ filter: /packages\/(cli|a2a)\/src\/.*\.ts$/ }, ({ path }) => {
        const source = withoutEntryPoints(readFileSync(path, 'utf8'))
        const code = !starters.includes(path)
          ? withStaticImports(source)
          : source.replaceAll(dynamicImport, (found, specifier: string) => {
              const file = join(dirname(path), specifier)
              if (file === program || !isShared(file)) return found
              return `import('${commandGroup}').then((modules) => modules[${nameOf(file)}])`
            })
        const groups = groupsOf(path).map((group) => `import '${group}'`)
        return { contents: [code, ...groups].join('\n'), loader: 'ts' }
      })
    },
  }
}

const dynamicImport = /(?<!typeof\s)\bimport\(\s*'(\.{1,2}\/[^']+)'\s*\)/g

function importsOnDemand(file: string, of = /^/): readonly string[] {
  return [...readFileSync(file, 'utf8').matchAll(dynamicImport)]
    .filter(([, path = '']) => of.test(path))
    .map(([, path = '']) => join(dirname(file), path))
}

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
  return [code, ...paths.map((path, index) => `import * as part${index + 1} from '${path}'`)].join('\n')
}

/** By entry point of the SDK: the file from which it passes on each name. */
const passedOn = new Map(
  entryPointsOf(join(packages, 'a2a')).map(([specifier, file]) => [specifier, namesPassedOn(file)] as const),
)

function entryPointsOf(folder: string): readonly (readonly [specifier: string, file: string])[] {
  const { name, exports } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    readonly name: string
    readonly exports: Readonly<Record<string, { readonly 'parley-source': string }>>
  }
  return Object.entries(exports).map(([path, target]) => [
    `${name}${path.slice(1)}`,
    join(folder, target['parley-source']),
  ])
}

function namesPassedOn(entry: string): ReadonlyMap<string, string> {
  const lists = readFileSync(entry, 'utf8').matchAll(/^export \{([^}]*)\} from '([^']+)'/gm)
  return new Map(
    [...lists].flatMap(([, names = '', file = '']) =>
      valuesIn(names).map((name) => [name, join(dirname(entry), file)] as const),
    ),
  )
}

function valuesIn(list: string): readonly string[] {
  return list
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && !name.startsWith('type '))
}

/**
 * Names that an entry point of the SDK passes on are imported from their own files. Through the entry point, all files that any command
 * needs of it would be in the chunk of the frequent commands.
 */
function withoutEntryPoints(source: string): string {
  return source.replaceAll(
    /^(import|export) \{([^}]*)\} from '(@parley\/a2a[^']*)'$/gm,
    (_, word: string, names: string, specifier: string) =>
      valuesIn(names)
        .map((name) => {
          const file = passedOn.get(specifier)?.get(name.split(' ')[0] ?? '') ?? specifier
          return `${word} { ${name} } from '${file}'`
        })
        .join('\n'),
  )
}

/** Imports of the modules of Node that these files and the client use. */
function builtinsOf(files: readonly string[], sources: string): string {
  const found = files
    .filter((file) => !file.endsWith('.test.ts'))
    .flatMap((file) => [...readFileSync(join(sources, file), 'utf8').matchAll(/from '(node:[\w/]+)'/g)])
    .map(([, name = '']) => name)
  const names = new Set(['node:http', 'node:stream', 'node:zlib', ...found])
  return [...names].map((name) => `import '${name}'`).join('\n')
}

/**
 * An `import` of a module of Node loads it at once and reads all its exports, also those that Node loads on demand: node:http so loads
 * the classes of fetch and WebSocket, for as long as an empty program runs. Here a module loads when the first of its exports is used.
 */
const builtinsOnDemand: Plugin = {
  name: 'builtins-on-demand',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:/ }, ({ path, importer, kind }) => {
      // `import('node:https')` loads on demand already, and may use any name.
      if (kind === 'dynamic-import') return { path, external: true }
      const isOfDependency = /node_modules/.test(relative(packages, importer))
      return { path, namespace: isOfDependency ? 'builtin-of-dependency' : 'builtin' }
    })
    onLoad({ filter: /.*/, namespace: 'builtin-of-dependency' }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule('${path}')`,
    }))
    const used = importedNames()
    onLoad({ filter: /.*/, namespace: 'builtin' }, ({ path }) => {
      const names = [...(used.get(path) ?? [])]
      return {
        contents: `for (const name of ${JSON.stringify(names.join(' '))}.split(' '))
          Object.defineProperty(exports, name, { enumerable: true, get: () => process.getBuiltinModule('${path}')[name] })`,
      }
    })
  },
}

/** The names that the sources import of each module of Node. */
function importedNames(): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>()
  for (const file of globSync('{cli,a2a}/src/**/*.ts', { cwd: packages })) {
    const source = readFileSync(join(packages, file), 'utf8')
    for (const [, clause = '', module = ''] of source.matchAll(/^import (?!type)([^;'"]+?) from '(node:[\w/]+)'/gm)) {
      const names = found.get(module) ?? new Set()
      // A namespace or a default import may use any name.
      const listed = /\{([^}]*)\}/.exec(clause)?.[1]?.split(',') ?? Object.keys(process.getBuiltinModule(module) ?? {})
      for (const name of listed) if (!/^\s*(type\s|$)/.test(name)) names.add(name.trim().split(' ')[0] ?? '')
      found.set(module, names)
    }
  }
  return found
}

/** The bundle of the program alone, as tests run it: `node scripts/bundle-cli.ts <folder>`. */
if (import.meta.main) {
  const { dependencies } = JSON.parse(readFileSync(join(packages, 'cli/package.json'), 'utf8')) as {
    dependencies: object
  }
  await bundleProgram({
    sources: join(packages, 'cli/src'),
    dist: process.argv[2] ?? join(packages, 'cli/dist'),
    entries: ['main.ts'],
    external: Object.keys(dependencies).filter((name) => name !== '@parley/a2a'),
  })
}
