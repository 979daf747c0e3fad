/**
 * Enforces the import rules of ARCHITECTURE.md. Everything is derived from the source
 * text, so that there is no second list of modules to keep up to date. Each rule is a
 * function from the files to a list of violations, and each is also run on a file
 * that breaks it.
 */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { describe, it } from 'node:test'
import { exportedNames } from '../scripts/size.ts'

const root = join(import.meta.dirname, '..')

/** Path from the root, with forward slashes, to the source text. */
type Files = Readonly<Record<string, string>>
type Rule = (files: Files) => readonly string[]

interface Import {
  readonly specifier: string
  readonly typeOnly: boolean
  /** What the file gets of it; `*` if that cannot be told. */
  readonly names: readonly string[]
  /** The file meant, for relative imports. */
  readonly target: string | undefined
}

const moduleImports: Readonly<Record<string, readonly string[]>> = {
  model: [],
  versions: ['model'],
  bindings: ['model', 'versions'],
  client: ['model', 'versions', 'bindings'],
  stores: ['model'],
  agents: ['model', 'client'],
  adapters: ['model', 'client', 'agents'],
  engine: ['model', 'stores', 'agents'],
  server: ['model', 'versions', 'bindings', 'engine'],
  // An application of the others: one module of functions over a client and a handler.
  simple: ['model', 'versions', 'client', 'stores', 'agents', 'server'],
}
/** Composition roots: they may import more modules than the module they are in. */
const alsoMayImport: Readonly<Record<string, readonly string[]>> = {
  'server/node.ts': ['stores', 'agents', 'client'],
  // Completes a log store.
  'server/handler.ts': ['stores'],
  'server/options.ts': ['stores'],
  'server/serve-options.ts': ['stores', 'client'],
  // An entry point that exports both halves of gRPC.
  'server/grpc/index.ts': ['client'],
}
/** The engine imports these two contracts, as types, and no implementation of them. */
const engineContracts = ['stores/store.ts', 'agents/agent.ts']

const sdk = 'packages/a2a/src/'
const isTest = (file: string): boolean => file.endsWith('.test.ts')
const inPackages = (files: Files): [string, string][] =>
  Object.entries(files).filter(([file]) => file.startsWith('packages/') && !isTest(file))
const inSdk = (files: Files): [string, string][] => inPackages(files).filter(([file]) => file.startsWith(sdk))
const lineOf = (text: string, index: number): number => text.slice(0, index).split('\n').length

const clause = String.raw`(?:\*(?:\s+as\s+\w+)?|\w+|(?:\w+\s*,\s*)?\{[^}]*\})`
const fromImport = new RegExp(String.raw`^\s*(?:import|export)\s+(type\s+)?(${clause})\s+from\s+['"]([^'"]+)['"]`, 'gm')
const bareImport = /^\s*import\s+['"]([^'"]+)['"]/gm
const dynamicImport = /(?:const\s*(\{[^{}]*\})\s*=\s*await\s+)?(?<!\.)\bimport\(\s*['"]([^'"]+)['"]\s*\)(?:\)\.(\w+))?/g

function namesIn(list: string | undefined): readonly string[] {
  if (list?.startsWith('{') !== true) return ['*']
  const names = list.slice(1, -1).split(',')
  return names
    .map((name) =>
      name
        .trim()
        .replace(/^type /, '')
        .replace(/(:| as ).*/s, ''),
    )
    .filter((name) => name !== '')
}

function importsOf(file: string, text: string): readonly Import[] {
  const found = (specifier: string, typeOnly: boolean, names?: string): Import => ({
    specifier,
    typeOnly,
    names: namesIn(names),
    target: specifier.startsWith('.') ? posix.join(posix.dirname(file), specifier) : undefined,
  })
  return [
    ...[...text.matchAll(fromImport)].map((match) => found(match[3] ?? '', match[1] !== undefined, match[2])),
    ...[...text.matchAll(bareImport)].map((match) => found(match[1] ?? '', false)),
    ...[...text.matchAll(dynamicImport)].map((match) =>
      found(match[2] ?? '', false, match[1] ?? `{${match[3] ?? '*'}}`),
    ),
  ]
}

const modulesImportOnlyAllowed: Rule = (files) =>
  inSdk(files).flatMap(([file, text]) => {
    const inside = file.slice(sdk.length)
    const module = inside.split('/')[0] ?? ''
    // The two lists of exports, and the tests' module, may use everything.
    if (inside === 'index.ts' || inside === 'internal.ts' || module === 'testing') return []
    if (!(module in moduleImports)) return [`${file}: "${module}" is not a module of the SDK; see ARCHITECTURE.md`]
    const allowed = [module, ...(moduleImports[module] ?? []), ...(alsoMayImport[inside] ?? [])]
    return importsOf(file, text).flatMap(({ target }) => {
      if (target === undefined) return []
      if (!target.startsWith(sdk)) return [`${file} imports ${target}, which is outside its package`]
      const wanted = target.slice(sdk.length)
      if (allowed.includes(wanted.split('/')[0] ?? '')) return []
      return [`${file} imports ${wanted}: ${module} may import ${allowed.join(', ')} only`]
    })
  })

const engineImportsOnlyContracts: Rule = (files) =>
  inSdk(files)
    .filter(([file]) => file.startsWith(`${sdk}engine/`))
    .flatMap(([file, text]) =>
      importsOf(file, text).flatMap(({ target, typeOnly }) => {
        const wanted = target?.slice(sdk.length) ?? ''
        if (!/^(stores|agents)\//.test(wanted)) return []
        if (!engineContracts.includes(wanted))
          return [`${file} imports ${wanted}: the engine knows ${engineContracts.join(' and ')}`]
        return typeOnly ? [] : [`${file} imports ${wanted} as code: the engine takes only types from there`]
      }),
    )

const nodeModulesOnlyAtTheEdge: Rule = (files) =>
  inSdk(files)
    .filter(
      ([file]) =>
        !/^(server\/(node|serve-options)\.ts|client\/egress\/(guarded-fetch|node-exchange)\.ts|adapters\/current-turn\.ts|stores\/(sqlite|postgres|dump)\/|testing\/)/.test(
          file.slice(sdk.length),
        ),
    )
    .flatMap(([file, text]) =>
      importsOf(file, text)
        .filter(({ specifier }) => specifier.startsWith('node:'))
        .map(({ specifier }) => `${file} imports ${specifier}: the SDK must run where Node's modules are missing`),
    )

const noCycles: Rule = (files) => {
  const graph = new Map(Object.entries(files).map(([file, text]) => [file, importsOf(file, text).map((i) => i.target)]))
  const done = new Set<string>()
  const cycles: string[] = []
  const visit = (file: string, path: readonly string[]): void => {
    const start = path.indexOf(file)
    if (start >= 0) cycles.push(`import cycle: ${[...path.slice(start), file].join(' → ')}`)
    if (start >= 0 || done.has(file)) return
    for (const target of graph.get(file) ?? []) if (target !== undefined) visit(target, [...path, file])
    done.add(file)
  }
  for (const file of graph.keys()) visit(file, [])
  return cycles
}

/** A page of the console may have folders of its own, and what pages are made of is above all pages. */
const isWithinConsolePage = (file: string, specifier: string): boolean =>
  /^packages\/console\/src\/pages\/[^/]+\/[^/]+\//.test(file) && !specifier.startsWith('../../../../')

const noDeepRelativeImports: Rule = (files) =>
  Object.entries(files).flatMap(([file, text]) =>
    importsOf(file, text)
      .filter(({ specifier }) => specifier.startsWith('../../../') && !isWithinConsolePage(file, specifier))
      .map(({ specifier }) => `${file} imports ${specifier}: move the file, or use the package's entry point`),
  )

/** The runner looks for the mark in test files (scripts/suites.ts), not in what they import. */
const marksAreFound: Rule = (files) => {
  const searched = Object.entries(files).filter(
    ([file, text]) => file.endsWith('.full.test.ts') || (isTest(file) && text.includes('[full]')),
  )
  const imported = new Set(searched.flatMap(([file, text]) => importsOf(file, text).map(({ target }) => target)))
  return Object.entries(files)
    .filter(([file, text]) => !isTest(file) && /\[full\]['"`]/.test(text) && !imported.has(file))
    .map(([file]) => `${file} has tests of the full set: mention [full] in the test file that imports it`)
}

const bannedNames = ['utils', 'util', 'helpers', 'helper', 'common', 'manager', 'types', 'interfaces', 'shared', 'core']

/** NestJS names a file by what it holds and its role, as in `a2a.module.ts`. Its users and its generator expect that. */
const nestRole = /^(examples\/nestjs\/.*)\.(controller|e2e-spec|guard|module|service)\.ts$/

const namesSayOneThing: Rule = (files) =>
  Object.keys(files).flatMap((file) => {
    const bare = file.replace(nestRole, '$1').replace(/((\.full)?\.test|\.d)?\.tsx?$/, '')
    const words = bare.split('/')
    const empty = words.find((word) => bannedNames.includes(word))
    if (empty !== undefined) return [`${file}: "${empty}" says nothing; name it after the one thing it holds`]
    const name = words.at(-1) ?? ''
    return /^[a-z0-9]+(-[a-z0-9]+(\.\d+)?)*$/.test(name) ? [] : [`${file}: file names are kebab-case`]
  })

/**
 * The command lines, and the one function of the SDK whose default address is asked for in PORT and BIND_HOST; and a test fixture that
 * passes the cache of compiled code on.
 */
const readsEnvironment = [
  'packages/hub/src/cli/main.ts',
  'packages/cli/src/main.ts',
  'packages/a2a/src/simple/own-address.ts',
  'packages/hub/src/agents/testing/test-agent-services.ts',
]

const onlyTheCommandLineReadsTheEnvironment: Rule = (files) =>
  inPackages(files)
    // A page in a browser has no environment, but shows programs that do.
    .filter(([file]) => !readsEnvironment.includes(file) && !file.startsWith('packages/console/'))
    .flatMap(([file, text]) =>
      [...text.matchAll(/\bprocess\s*\.\s*env\b|\benv\b[^\n]*from 'node:process'/g)].map(
        ({ index }) => `${file}:${lineOf(text, index)} reads process.env: only ${readsEnvironment.join(' and ')} may`,
      ),
    )

const cli = 'packages/cli/src/'
const inCli = (files: Files): [string, string][] => inPackages(files).filter(([file]) => file.startsWith(cli))

const mayAccessTheProcess = [
  `${cli}main.ts`,
  // Ends the programs of `server --exec` with their children.
  `${cli}server/run-program.ts`,
]
const processAccess = /(?<![\w.'"`/])process\s*\.\s*\w+|from 'node:process'|(?<![\w.])console\s*\.\s*\w+\(/g

/** Commands run in memory in tests, and inside `parley a2a`: the process is passed in by main.ts. */
const onlyMainAccessesTheProcess: Rule = (files) =>
  inCli(files)
    .filter(([file]) => !mayAccessTheProcess.includes(file) && !file.startsWith(`${cli}testing/`))
    .flatMap(([file, text]) =>
      // Without examples in comments.
      [...text.replaceAll(/^ *\*.*$/gm, '').matchAll(processAccess)].map(
        ({ 0: found }) => `${file} uses ${found}: only main.ts accesses the process`,
      ),
    )

/** `a2a --version`, help and completion load no command and no SDK: everything else is imported on demand. */
const commandsLoadOnDemand: Rule = (files) =>
  inCli(files)
    .filter(([file]) =>
      /^(main|run|process-terminal|stop-signal|args\/.*|commands\/(index|specs\/.*))\.ts$/.test(file.slice(cli.length)),
    )
    .flatMap(([file, text]) =>
      [...text.matchAll(fromImport)]
        .filter(([, typeOnly]) => typeOnly === undefined)
        .map(([, , , specifier = '']) => specifier)
        .filter(
          (specifier) =>
            // An entry point of two files.
            (specifier.startsWith('@parley/') && specifier !== '@parley/a2a/command-line') ||
            /^\.\.?\/(?:\.\.\/)*(agent|auth|server|chat|conformance)\//.test(specifier),
        )
        .map((specifier) => `${file} imports ${specifier}: load it on demand, since every start would load it`),
    )

/** What the judge takes of the SDK: nothing that a request or a response goes through, except for the tables of the proto files. */
const namesForTheJudge = ['descriptorRegistry', 'linkSignals', 'neutralize', 'omitUndefined']

/** The checks of `a2a conformance` judge the versions, bindings, client and server of the SDK: they share no code with them. */
const conformanceIsIndependent: Rule = (files) =>
  inCli(files)
    .filter(([file]) => file.startsWith(`${cli}conformance/`))
    .flatMap(([file, text]) =>
      importsOf(file, text)
        .filter(({ specifier }) => specifier.startsWith('@parley/'))
        .flatMap(({ specifier, names }) =>
          names
            .filter((name) => !namesForTheJudge.includes(name))
            .map((name) => `${file} imports ${name} of ${specifier}: the judge shares no code with what it judges`),
        ),
    )

const noDefaultExports: Rule = (files) =>
  inPackages(files).flatMap(([file, text]) =>
    [...text.matchAll(/^export\s+default\b|^export\s*\{[^}]*\bas default\b/gm)].map(
      ({ index }) => `${file}:${lineOf(text, index)} has a default export: export it by its name`,
    ),
  )

/** Made by a program, for a program. */
const isGenerated = (file: string): boolean => file === 'packages/console/src/api/admin.ts'

const filesStayShort: Rule = (files) =>
  inPackages(files)
    .filter(([file]) => !isGenerated(file))
    .map(([file, text]) => [file, text.split('\n').length - 1] as const)
    .filter(([, lines]) => lines > 600)
    .map(([file, lines]) => `${file} has ${lines} lines: more than 600 is more than one idea`)

/** Of a package: what `import` may name, from its own package.json. */
interface Manifest {
  readonly exports?: Readonly<Record<string, unknown>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

const packagesUseEntryPoints =
  (manifests: Readonly<Record<string, Manifest>>): Rule =>
  (files) =>
    inPackages(files).flatMap(([file, text]) => {
      const { dependencies, peerDependencies } = manifests[file.split('/')[1] ?? ''] ?? {}
      const declared = Object.keys({ ...dependencies, ...peerDependencies })
      const entryPoints = Object.keys(manifests['a2a']?.exports ?? {}).map((path) => `@parley/a2a${path.slice(1)}`)
      const home = file.split('/').slice(0, 3).join('/')
      return importsOf(file, text).flatMap(({ specifier, target }) => {
        if (target !== undefined)
          return target.startsWith(home) ? [] : [`${file} imports ${target}: use an entry point of that package`]
        if (specifier.startsWith('node:')) return []
        const name = specifier
          .split('/')
          .slice(0, specifier.startsWith('@') ? 2 : 1)
          .join('/')
        if (!declared.includes(name)) return [`${file} imports ${specifier}: ${name} is no dependency of this package`]
        if (name !== '@parley/a2a' || entryPoints.includes(specifier)) return []
        return [`${file} imports ${specifier}: the entry points are ${entryPoints.join(', ')}`]
      })
    })

interface EntryPointFolder {
  readonly folder: string
  /**
   * What the files import besides each other: packages with all their entry points, and files. In the SDK, `@parley/a2a` stands for
   * every name that one of its entry points exports, wherever it is defined. Default: no restriction.
   */
  readonly imports?: readonly string[]
  /** The folders that may import it. Default: all. */
  readonly importers?: readonly string[]
}

/** Folders that the rest of their package imports through their `index.ts` only. */
const foldersBehindEntryPoints: readonly EntryPointFolder[] = [
  { folder: 'packages/hub/src/profiles/', imports: ['@parley/a2a', 'node:http', 'zod'] },
  {
    folder: 'packages/cli/src/conformance/',
    imports: [
      '@parley/a2a',
      '@bufbuild/protobuf',
      '@grpc/grpc-js',
      'node:crypto',
      'node:http',
      'node:https',
      'node:net',
    ],
  },
  { folder: `${sdk}adapters/`, imports: ['@parley/a2a', 'node:async_hooks'], importers: [] },
  { folder: `${sdk}simple/`, imports: ['@parley/a2a'], importers: [] },
  {
    folder: `${sdk}stores/dump/`,
    importers: [`${sdk}testing/`],
    imports: [
      '@parley/a2a',
      `${sdk}stores/dump-access.ts`,
      `${sdk}stores/sqlite/dump-access.ts`,
      `${sdk}stores/postgres/dump-access.ts`,
      ...['node:buffer', 'node:crypto', 'node:fs', 'node:path', 'node:stream', 'node:zlib'],
    ],
  },
]
/** The lists of exports of the SDK may name every file. */
const exportLists = [`${sdk}index.ts`, `${sdk}internal.ts`]

const foldersAreImportedThroughTheirIndex =
  (sdkNames: ReadonlySet<string>): Rule =>
  (files) =>
    inPackages(files).flatMap(([file, text]) =>
      importsOf(file, text).flatMap(({ specifier, target, names }) =>
        foldersBehindEntryPoints.flatMap(({ folder, imports, importers = [''] }) => {
          if (!file.startsWith(folder)) {
            if (target?.startsWith(folder) !== true || exportLists.includes(file)) return []
            if (!importers.some((importer) => file.startsWith(importer)))
              return [`${file} imports ${target}: no other module may`]
            return target === `${folder}index.ts` ? [] : [`${file} imports ${target}: use ${folder}index.ts`]
          }
          const isOwn = target?.startsWith(folder) === true
          if (imports === undefined || isOwn) return []
          if (imports.some((name) => `${target ?? specifier}/`.startsWith(`${name}/`))) return []
          const isOfSdk = imports.includes('@parley/a2a') && target?.startsWith(sdk) === true
          const wrong = isOfSdk ? names.filter((name) => !sdkNames.has(name)) : names
          if (wrong.length === 0) return []
          return [
            `${file} imports ${wrong.join(', ')} of ${target ?? specifier}: ${folder} may import ${imports.join(', ')} only`,
          ]
        }),
      ),
    )

/** `/internal` is no store of names that might be of use: each has an importer in another package, or in a folder above the core. */
const internalNamesAreImported: Rule = (files) => {
  const used = new Set<string>()
  for (const [file, text] of Object.entries(files)) {
    const isAboveCore = foldersBehindEntryPoints.some(({ folder }) => file.startsWith(folder) && file.startsWith(sdk))
    for (const { specifier, target, names } of file.startsWith('packages/') ? importsOf(file, text) : [])
      if (specifier === '@parley/a2a/internal' || (isAboveCore && target?.startsWith(sdk) === true))
        for (const name of names) used.add(name)
  }
  const list = `${sdk}internal.ts`
  return importsOf(list, files[list] ?? '')
    .flatMap(({ names }) => names)
    .filter((name) => !used.has(name))
    .map((name) => `${list} exports ${name}, which no other package imports: remove it`)
}

/** Shared components import no page, and `api` imports nothing that renders. */
const consoleLayers: Readonly<Record<string, readonly string[]>> = {
  api: ['api'],
  components: ['api', 'app', 'components'],
  conversation: ['api', 'app', 'components', 'conversation'],
  trace: ['api', 'app', 'components', 'trace'],
  agent: ['api', 'app', 'components', 'agent'],
  keys: ['api', 'app', 'components', 'keys'],
}

const consoleLayersImportNoPage: Rule = (files) =>
  inPackages(files).flatMap(([file, text]) => {
    const home = 'packages/console/src/'
    const layer = file.startsWith(home) ? (file.slice(home.length).split('/')[0] ?? '') : ''
    const allowed = consoleLayers[layer]
    if (allowed === undefined) return []
    return importsOf(file, text).flatMap(({ target }) => {
      const wanted = target?.slice(home.length)
      if (wanted === undefined || allowed.includes(wanted.split('/')[0] ?? '')) return []
      return [`${file} imports ${wanted}: ${layer} may import ${allowed.join(', ')} only`]
    })
  })

/** What two pages share belongs to a layer below the pages. */
const consolePagesImportNoOtherPage: Rule = (files) =>
  inPackages(files).flatMap(([file, text]) => {
    const pageOf = (path: string): string | undefined => /^packages\/console\/src\/pages\/([^/]+)\//.exec(path)?.[1]
    const page = pageOf(file)
    if (page === undefined) return []
    return importsOf(file, text).flatMap(({ target = '' }) =>
      [page, undefined].includes(pageOf(target)) ? [] : [`${file} imports ${target}: pages import no other page`],
    )
  })

const combinesSignals = 'packages/a2a/src/model/signals.ts'

/** Of `AbortSignal.any` listeners stay when the work is over, with all that they see (model/signals.ts). */
const noAbortSignalAny: Rule = (files) =>
  Object.entries(files)
    .filter(([file]) => file !== combinesSignals && file !== 'test/architecture.test.ts')
    .flatMap(([file, text]) =>
      [...text.matchAll(/\bAbortSignal\s*\.\s*any\b/g)].map(
        ({ index }) => `${file}:${lineOf(text, index)} uses AbortSignal.any: use linkSignals, which cleans up`,
      ),
    )

describe('architecture', () => {
  const pattern = '{packages/*/src,test,scripts,bench,examples}/**/*.{ts,tsx}'
  const paths = globSync(pattern, { cwd: root, exclude: ['**/node_modules/**', '**/dist/**'] })
  const files: Files = Object.fromEntries(paths.map((path) => [path, readFileSync(join(root, path), 'utf8')]))
  const manifest = (name: string): Manifest =>
    JSON.parse(readFileSync(join(root, 'packages', name, 'package.json'), 'utf8')) as Manifest
  const manifests = Object.fromEntries(
    ['a2a', 'cli', 'hub', 'console', 'create-parley'].map((name) => [name, manifest(name)]),
  )

  const sdkNames = new Set(
    Object.values(manifests['a2a']?.exports ?? {}).flatMap((entryPoint) => {
      const { values, types } = exportedNames(
        join(root, 'packages/a2a', (entryPoint as Record<string, string>)['parley-source']!),
      )
      return [...values, ...types]
    }),
  )

  const rules: [sentence: string, rule: Rule, broken: Files][] = [
    [
      'a module imports only the modules allowed to it',
      modulesImportOnlyAllowed,
      { [`${sdk}engine/a.ts`]: "import type { X } from '../versions/v.ts'" },
    ],
    [
      'the engine takes types only from stores and agents',
      engineImportsOnlyContracts,
      { [`${sdk}engine/a.ts`]: "import { x } from '../stores/store.ts'" },
    ],
    [
      "Node's own modules stay at the edge of the SDK",
      nodeModulesOnlyAtTheEdge,
      { [`${sdk}engine/a.ts`]: "import { once } from 'node:events'" },
    ],
    [
      'modules do not import in circles',
      noCycles,
      { 'a/x.ts': "export * from './y.ts'", 'a/y.ts': "import('./x.ts')" },
    ],
    [
      'no import climbs three folders',
      noDeepRelativeImports,
      { 'a/b/c/x.ts': "import {\n  a,\n} from '../../../y.ts'" },
    ],
    [
      'tests of the full set are found',
      marksAreFound,
      { 'test/a/x.test.ts': "import { y } from './y.ts'", 'test/a/y.ts': "it('waits [full]', () => {})" },
    ],
    ['names say one thing', namesSayOneThing, { [`${sdk}engine/utils.ts`]: '' }],
    [
      'only the command line reads the environment',
      onlyTheCommandLineReadsTheEnvironment,
      { [`${sdk}a.ts`]: 'process.env.X' },
    ],
    [
      'only main.ts of the command line a2a accesses the process',
      onlyMainAccessesTheProcess,
      { [`${cli}commands/send.ts`]: 'process.stdout.write(text)' },
    ],
    [
      'the start of a2a loads no command',
      commandsLoadOnDemand,
      { [`${cli}commands/specs/calls.ts`]: "import { connect } from '@parley/a2a/client'" },
    ],
    [
      'the checks of a2a conformance share no code with what they judge',
      conformanceIsIndependent,
      { [`${cli}conformance/checks/a.ts`]: "import { connect } from '@parley/a2a/client'" },
    ],
    ['nothing is exported by default', noDefaultExports, { [`${sdk}a.ts`]: 'export default 1' }],
    ['no file is longer than 600 lines', filesStayShort, { [`${sdk}a.ts`]: '\n'.repeat(601) }],
    [
      'shared layers of the console import no page',
      consoleLayersImportNoPage,
      { 'packages/console/src/components/a.tsx': "import { Page } from '../pages/tasks/tasks-page.tsx'" },
    ],
    [
      'pages of the console import no other page',
      consolePagesImportNoOtherPage,
      { 'packages/console/src/pages/push/a.tsx': "import { Row } from '../tasks/list/task-row.tsx'" },
    ],
    [
      'signals are combined in one place, which cleans up',
      noAbortSignalAny,
      { 'packages/hub/src/a.ts': 'const both = AbortSignal.any([one, two])' },
    ],
    [
      'folders with an entry point are imported through it',
      foldersAreImportedThroughTheirIndex(sdkNames),
      { 'packages/hub/src/a.ts': "import { x } from './profiles/chat.ts'" },
    ],
    [
      'folders with an entry point import only what their row lists',
      foldersAreImportedThroughTheirIndex(sdkNames),
      { 'packages/hub/src/profiles/a.ts': "import { x } from '../http/json-response.ts'" },
    ],
    [
      'adapters, simple tasks and dumps are above the core of the SDK',
      foldersAreImportedThroughTheirIndex(sdkNames),
      { [`${sdk}stores/a.ts`]: "import { writeDump } from './dump/index.ts'" },
    ],
    [
      'such folders in the SDK import only names that it exports',
      foldersAreImportedThroughTheirIndex(sdkNames),
      { [`${sdk}adapters/a.ts`]: "import { type Turn, followUp } from '../agents/agent.ts'" },
    ],
    [
      'every name of @parley/a2a/internal is imported by another package',
      internalNamesAreImported,
      { [`${sdk}internal.ts`]: "export type { X } from './model/x.ts'" },
    ],
    [
      'packages import each other by their entry points',
      packagesUseEntryPoints(manifests),
      { 'packages/hub/src/a.ts': "import { x } from '@parley/a2a/engine'" },
    ],
  ]
  for (const [sentence, rule, broken] of rules) {
    it(sentence, () => {
      assert.equal(rule(broken).length, 1, 'the rule does not report a file that breaks it')
      assert.deepEqual(rule(files), [])
    })
  }

  it('looks at every file', () => {
    assert.ok(paths.some((path) => path.startsWith(sdk)) && paths.some((path) => path.startsWith('test/')))
  })
})
