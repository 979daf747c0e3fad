/**
 * Keeps the walls of ARCHITECTURE.md standing. Everything is derived from the source
 * text, so that there is no second list of modules to keep up to date; each rule is a
 * function of the files and answers with sentences, and each is also shown a house
 * that breaks it.
 */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { describe, it } from 'node:test'

const root = join(import.meta.dirname, '..')

/** Path from the root, with forward slashes, to the source text. */
type Files = Readonly<Record<string, string>>
type Rule = (files: Files) => readonly string[]

interface Import {
  readonly specifier: string
  readonly typeOnly: boolean
  /** The file meant, for relative imports. */
  readonly target: string | undefined
}

const rooms: Readonly<Record<string, readonly string[]>> = {
  model: [],
  versions: ['model'],
  bindings: ['model', 'versions'],
  client: ['model', 'versions', 'bindings'],
  stores: ['model'],
  agents: ['model', 'client'],
  engine: ['model', 'stores', 'agents'],
  server: ['model', 'versions', 'bindings', 'engine'],
  // An application of the others: one module of functions over a client and a handler.
  simple: ['model', 'versions', 'client', 'stores', 'agents', 'server'],
}
/** Composition roots: they may reach into more rooms than the room they stand in. */
const alsoMayImport: Readonly<Record<string, readonly string[]>> = {
  'server/node.ts': ['stores', 'agents', 'client'],
  // A door, and both halves of gRPC stand behind it.
  'server/grpc/index.ts': ['client'],
}
/** The engine knows these two doors, as types, and nothing behind them. */
const engineDoors = ['stores/store.ts', 'agents/agent.ts']

const sdk = 'packages/a2a/src/'
const isTest = (file: string): boolean => file.endsWith('.test.ts')
const inPackages = (files: Files): [string, string][] =>
  Object.entries(files).filter(([file]) => file.startsWith('packages/') && !isTest(file))
const inSdk = (files: Files): [string, string][] => inPackages(files).filter(([file]) => file.startsWith(sdk))
const lineOf = (text: string, index: number): number => text.slice(0, index).split('\n').length

const clause = String.raw`(?:\*(?:\s+as\s+\w+)?|\w+|(?:\w+\s*,\s*)?\{[^}]*\})`
const fromImport = new RegExp(String.raw`^\s*(?:import|export)\s+(type\s+)?${clause}\s+from\s+['"]([^'"]+)['"]`, 'gm')
const bareImport = /^\s*import\s+['"]([^'"]+)['"]/gm
const dynamicImport = /(?<!\.)\bimport\(\s*['"]([^'"]+)['"]/g

function importsOf(file: string, text: string): readonly Import[] {
  const found = (specifier: string, typeOnly: boolean): Import => ({
    specifier,
    typeOnly,
    target: specifier.startsWith('.') ? posix.join(posix.dirname(file), specifier) : undefined,
  })
  return [
    ...[...text.matchAll(fromImport)].map((match) => found(match[2] ?? '', match[1] !== undefined)),
    ...[...text.matchAll(bareImport)].map((match) => found(match[1] ?? '', false)),
    ...[...text.matchAll(dynamicImport)].map((match) => found(match[1] ?? '', false)),
  ]
}

const roomsImportOnlyTheirDoors: Rule = (files) =>
  inSdk(files).flatMap(([file, text]) => {
    const inside = file.slice(sdk.length)
    const room = inside.split('/')[0] ?? ''
    // index.ts is the public list, and testing may use everything.
    if (inside === 'index.ts' || room === 'testing') return []
    if (!(room in rooms)) return [`${file}: "${room}" is no room of the house; see ARCHITECTURE.md`]
    const allowed = [room, ...(rooms[room] ?? []), ...(alsoMayImport[inside] ?? [])]
    return importsOf(file, text).flatMap(({ target }) => {
      if (target === undefined) return []
      if (!target.startsWith(sdk)) return [`${file} imports ${target}, which is outside its package`]
      const wanted = target.slice(sdk.length)
      if (allowed.includes(wanted.split('/')[0] ?? '')) return []
      return [`${file} imports ${wanted}: ${room} may import ${allowed.join(', ')} only`]
    })
  })

const engineKnowsTwoDoors: Rule = (files) =>
  inSdk(files)
    .filter(([file]) => file.startsWith(`${sdk}engine/`))
    .flatMap(([file, text]) =>
      importsOf(file, text).flatMap(({ target, typeOnly }) => {
        const wanted = target?.slice(sdk.length) ?? ''
        if (!/^(stores|agents)\//.test(wanted)) return []
        if (!engineDoors.includes(wanted))
          return [`${file} imports ${wanted}: the engine knows ${engineDoors.join(' and ')}`]
        return typeOnly ? [] : [`${file} imports ${wanted} as code: the engine takes only types from there`]
      }),
    )

const nodeModulesStayAtTheEdge: Rule = (files) =>
  inSdk(files)
    .filter(
      ([file]) =>
        !/^(server\/node\.ts|client\/guarded-fetch\.ts|stores\/(sqlite|postgres)\/|testing\/)/.test(
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
const isWithinAPage = (file: string, specifier: string): boolean =>
  /^packages\/console\/src\/pages\/[^/]+\/[^/]+\//.test(file) && !specifier.startsWith('../../../../')

const noLongWaysUp: Rule = (files) =>
  Object.entries(files).flatMap(([file, text]) =>
    importsOf(file, text)
      .filter(({ specifier }) => specifier.startsWith('../../../') && !isWithinAPage(file, specifier))
      .map(({ specifier }) => `${file} imports ${specifier}: move the file, or use the package's door`),
  )

const bannedNames = ['utils', 'util', 'helpers', 'helper', 'common', 'manager', 'types', 'interfaces', 'shared', 'core']

const namesSayOneThing: Rule = (files) =>
  Object.keys(files).flatMap((file) => {
    const words = file.replace(/(\.test|\.d)?\.tsx?$/, '').split('/')
    const empty = words.find((word) => bannedNames.includes(word))
    if (empty !== undefined) return [`${file}: "${empty}" says nothing; name it after the one thing it holds`]
    const name = words.at(-1) ?? ''
    return /^[a-z0-9]+(-[a-z0-9]+(\.\d+)?)*$/.test(name) ? [] : [`${file}: file names are kebab-case`]
  })

/** The command line, and the one function of the SDK whose default address is asked for in PORT and BIND_HOST. */
const readsEnvironment = ['packages/hub/src/cli/main.ts', 'packages/a2a/src/simple/own-address.ts']

const onlyTheCommandLineReadsTheEnvironment: Rule = (files) =>
  inPackages(files)
    // A page in a browser has no environment, but shows programs that do.
    .filter(([file]) => !readsEnvironment.includes(file) && !file.startsWith('packages/console/'))
    .flatMap(([file, text]) =>
      [...text.matchAll(/\bprocess\s*\.\s*env\b|\benv\b[^\n]*from 'node:process'/g)].map(
        ({ index }) => `${file}:${lineOf(text, index)} reads process.env: only ${readsEnvironment.join(' and ')} may`,
      ),
    )

const noDefaultExports: Rule = (files) =>
  inPackages(files).flatMap(([file, text]) =>
    [...text.matchAll(/^export\s+default\b|^export\s*\{[^}]*\bas default\b/gm)].map(
      ({ index }) => `${file}:${lineOf(text, index)} has a default export: export it by its name`,
    ),
  )

/** Made by a program, for a program. */
const isMade = (file: string): boolean => file === 'packages/console/src/api/admin.ts'

const filesStayShort: Rule = (files) =>
  inPackages(files)
    .filter(([file]) => !isMade(file))
    .map(([file, text]) => [file, text.split('\n').length - 1] as const)
    .filter(([, lines]) => lines > 400)
    .map(([file, lines]) => `${file} has ${lines} lines: more than 400 is more than one idea`)

/** Of a package: what `import` may name, from its own package.json. */
interface Manifest {
  readonly exports?: Readonly<Record<string, unknown>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

const packagesUseDoors =
  (manifests: Readonly<Record<string, Manifest>>): Rule =>
  (files) =>
    inPackages(files).flatMap(([file, text]) => {
      const { dependencies, peerDependencies } = manifests[file.split('/')[1] ?? ''] ?? {}
      const declared = Object.keys({ ...dependencies, ...peerDependencies })
      const doors = Object.keys(manifests['a2a']?.exports ?? {}).map((door) => `@parley/a2a${door.slice(1)}`)
      const home = file.split('/').slice(0, 3).join('/')
      return importsOf(file, text).flatMap(({ specifier, target }) => {
        if (target !== undefined) return target.startsWith(home) ? [] : [`${file} reaches into ${target}: use a door`]
        if (specifier.startsWith('node:')) return []
        const name = specifier
          .split('/')
          .slice(0, specifier.startsWith('@') ? 2 : 1)
          .join('/')
        if (!declared.includes(name)) return [`${file} imports ${specifier}: ${name} is no dependency of this package`]
        if (name !== '@parley/a2a' || doors.includes(specifier)) return []
        return [`${file} imports ${specifier}: the doors are ${doors.join(', ')}`]
      })
    })

/** What pages are made of knows no page, and what asks the hub knows nothing of what is shown. */
const consoleLayers: Readonly<Record<string, readonly string[]>> = {
  api: ['api'],
  parts: ['api', 'app', 'parts'],
  conversation: ['api', 'app', 'parts', 'conversation'],
  trace: ['api', 'app', 'parts', 'trace'],
}

const partsOfTheConsoleKnowNoPage: Rule = (files) =>
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

const combinesSignals = 'packages/a2a/src/model/linked-signal.ts'

/** Of `AbortSignal.any` listeners stay when the work is over, with all that they see (model/linked-signal.ts). */
const signalsAreCombinedInOnePlace: Rule = (files) =>
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
  const manifests = { a2a: manifest('a2a'), hub: manifest('hub'), console: manifest('console') }

  const rules: [sentence: string, rule: Rule, broken: Files][] = [
    [
      'a room imports only through its doors',
      roomsImportOnlyTheirDoors,
      { [`${sdk}engine/a.ts`]: "import type { X } from '../versions/v.ts'" },
    ],
    [
      'the engine takes types only from stores and agents',
      engineKnowsTwoDoors,
      { [`${sdk}engine/a.ts`]: "import { x } from '../stores/store.ts'" },
    ],
    [
      "Node's own modules stay at the edge of the SDK",
      nodeModulesStayAtTheEdge,
      { [`${sdk}engine/a.ts`]: "import { once } from 'node:events'" },
    ],
    [
      'modules do not import in circles',
      noCycles,
      { 'a/x.ts': "export * from './y.ts'", 'a/y.ts': "import('./x.ts')" },
    ],
    ['no import climbs three folders', noLongWaysUp, { 'a/b/c/x.ts': "import {\n  a,\n} from '../../../y.ts'" }],
    ['names say one thing', namesSayOneThing, { [`${sdk}engine/utils.ts`]: '' }],
    [
      'only the command line reads the environment',
      onlyTheCommandLineReadsTheEnvironment,
      { [`${sdk}a.ts`]: 'process.env.X' },
    ],
    ['nothing is exported by default', noDefaultExports, { [`${sdk}a.ts`]: 'export default 1' }],
    ['no file is longer than 400 lines', filesStayShort, { [`${sdk}a.ts`]: '\n'.repeat(401) }],
    [
      'what the pages of the console are made of knows no page',
      partsOfTheConsoleKnowNoPage,
      { 'packages/console/src/parts/a.tsx': "import { Page } from '../pages/tasks/tasks-page.tsx'" },
    ],
    [
      'signals are combined in one place, which cleans up',
      signalsAreCombinedInOnePlace,
      { 'packages/hub/src/a.ts': 'const both = AbortSignal.any([one, two])' },
    ],
    [
      'packages meet at their doors',
      packagesUseDoors(manifests),
      { 'packages/hub/src/a.ts': "import { x } from '@parley/a2a/engine'" },
    ],
  ]
  for (const [sentence, rule, broken] of rules) {
    it(sentence, () => {
      assert.equal(rule(broken).length, 1, 'the rule does not notice a house that breaks it')
      assert.deepEqual(rule(files), [])
    })
  }

  it('looks at every file', () => {
    assert.ok(paths.some((path) => path.startsWith(sdk)) && paths.some((path) => path.startsWith('test/')))
  })
})
