/**
 * The suites, their sets and their order: fast ones that fail often
 * come first. Every folder under test/ is a suite, and so are examples/ and bench/.
 */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { areFrameworksInstalled } from './install-frameworks.ts'

/** `npm test` runs the quick set, `npm run test:full` the other tests. */
export type TestSet = 'quick' | 'full' | 'all'

/**
 * The name of a test decides its set: in the full set, it or the name of a group around it ends with this mark. A file
 * `x.full.test.ts` has only such tests, so that the quick set need not load it.
 */
const fullSetMark = '[full]'
const fullSetPattern = '/\\[full\\]/'
const isFullSetFile = (file: string): boolean => file.endsWith('.full.test.ts')

export interface Suite {
  readonly name: string
  readonly steps: readonly Step[]
  /** Whether its tests need a PostgreSQL server. */
  readonly usesDatabase?: boolean
  /** Run only by name: it downloads hundreds of megabytes. */
  readonly onRequest?: boolean
}

/** One process, or a few. A step that runs tests reports its own counts; any other counts as one test. */
export interface Step {
  readonly name: string
  readonly command: readonly string[]
  readonly countsTests: boolean
  /** How many processes share the files, if the runner does not give each file its own. */
  readonly processes?: number
  /** Each of these processes runs files one after another (run-files-in-turn.ts). */
  readonly inTurn?: boolean
}

const runFirst = ['check', 'architecture', 'units', 'conformance', 'matrix', 'interop', 'fault-injection']
/** The longest follow, so that the end is not one long suite beside nothing. */
const runNext = [
  'console',
  'bench',
  'frameworks',
  'agents',
  'torture',
  'leaks',
  'cluster',
  'deploy',
  'hub',
  'postgres',
  'a2a-proxy',
  'journeys',
]
const usingDatabase = [
  'matrix',
  'postgres',
  'bench',
  'cluster',
  'deploy',
  'push',
  'torture',
  'erase',
  'operations',
  'stores',
]
const onRequest = ['openclaw']
/** Their files share a browser and the modules of the hub, which took each file 3 s of CPU time to load. */
const inTurn = ['console']

const singleProcess = '--test-isolation=none'

const tool = (name: string, ...command: string[]): Step => ({ name, command, countsTests: false })

function testStep(name: string, files: readonly string[], ...options: string[]): Step {
  return {
    name,
    command: ['node', '--conditions=parley-source', '--test', ...options, ...files],
    countsTests: true,
    ...(options.includes(singleProcess) || inTurn.includes(name) ? { processes: 2 } : {}),
    inTurn: inTurn.includes(name),
  }
}

/** The tests of `files` that belong to `set`. */
function testSteps(root: string, set: TestSet, name: string, files: readonly string[], options: string[]): Step[] {
  const step = (stepFiles: readonly string[], ...more: string[]): Step[] =>
    stepFiles.length === 0 ? [] : [testStep(name, stepFiles, ...options, ...more)]
  if (set === 'all') return step(files)
  const mixed = files.filter((file) => !isFullSetFile(file))
  if (set === 'quick') return step(mixed, `--test-skip-pattern=${fullSetPattern}`)
  const filesWithMark = mixed.filter((file) => readFileSync(join(root, file), 'utf8').includes(fullSetMark))
  // Files that run in turn are tests themselves, which a pattern would leave out: they run whole.
  const only = inTurn.includes(name) ? [] : [`--test-name-pattern=${fullSetPattern}`]
  return [...step(files.filter(isFullSetFile)), ...step(filesWithMark, ...only)]
}

const types = tool('types', 'tsc', '-p', 'tsconfig.json')
const consoleTypes = tool('console types', 'tsc', '-p', 'packages/console/tsconfig.json')
const consoleTestTypes = tool('console test types', 'tsc', '-p', 'packages/console/tsconfig.test.json')
const lint = tool('lint', 'oxlint', '--type-aware', '--deny-warnings', '--report-unused-disable-directives')
const format = tool('format', 'oxfmt', '--check')

const typesCache = 'node_modules/.cache/parley-types.tsbuildinfo'

const check: Suite = {
  name: 'check',
  steps: [types, consoleTypes, consoleTestTypes, lint, withFiles(format, ['.'])],
}

/**
 * Before the tests on real agent frameworks. They are installed in CI; on a machine without them only the file runs that reports
 * it as skipped.
 */
const frameworkSteps = [
  tool('install frameworks', 'node', 'scripts/install-frameworks.ts'),
  tool('framework types', 'tsc', '-p', 'test/frameworks/tsconfig.json'),
]
const hasFrameworks = (): boolean => process.env['CI'] === 'true' || areFrameworksInstalled()

/** A path may be of a file that the tool ignores. */
function withFiles(step: Step, files: readonly string[]): Step {
  return { ...step, command: [...step.command, '--no-error-on-unmatched-pattern', ...files] }
}

/** Format and lint of `files`: what the pre-commit hook runs. */
export function formatAndLintSteps(files: readonly string[]): readonly Step[] {
  const linted = files.filter(isScript)
  return [
    ...(files.length > 0 ? [withFiles(format, files)] : []),
    ...(linted.length > 0 ? [withFiles(lint, linted)] : []),
  ]
}

/** The types that a change of `files` can break, and the lint of `files`: what `npm run test:fast` runs beside the tests. */
export function typesAndLintSteps(files: readonly string[]): readonly Step[] {
  const changed = files.filter(isScript)
  if (changed.length === 0) return []
  const touches = (folder: string): boolean => changed.some((file) => file.startsWith(`packages/${folder}/`))
  // The second run with a cache took 2.7 s of CPU time instead of 15.
  const cached = { ...types, command: [...types.command, '--incremental', '--tsBuildInfoFile', typesCache] }
  return [
    cached,
    // The console compiles the SDK's sources once more, for browsers.
    ...(touches('console') || touches('a2a') ? [consoleTypes] : []),
    ...(touches('console') ? [consoleTestTypes] : []),
    withFiles(lint, changed),
  ]
}

function isScript(file: string): boolean {
  return /\.(ts|tsx|js|mjs)$/.test(file)
}

/** The given test files, as the suites run them: unit tests in one process, those of scripts each in its own. */
export function unitTestSteps(files: readonly string[]): readonly Step[] {
  const scripts = files.filter((file) => file.startsWith('scripts/'))
  const units = files.filter((file) => !file.startsWith('scripts/'))
  return [
    ...(units.length > 0 ? [testStep('units', units, singleProcess)] : []),
    ...(scripts.length > 0 ? [testStep('scripts', scripts)] : []),
  ]
}

/** The suites of the repository at `root` with tests of `set`, in the order in which they run. */
export function findSuites(root: string, set: TestSet): readonly Suite[] {
  const glob = (pattern: string): readonly string[] =>
    globSync(pattern, { cwd: root, exclude: ['**/node_modules/**', '**/dist/**'] }).sort()

  const suites = set === 'full' ? [] : [check]
  const add = (name: string, files: readonly string[], ...options: string[]): void => {
    const tests = testSteps(root, set, name, files, options)
    if (tests.length === 0) return
    const steps = name === 'frameworks' && hasFrameworks() ? [...frameworkSteps, ...tests] : tests
    suites.push({ name, steps, usesDatabase: usingDatabase.includes(name), onRequest: onRequest.includes(name) })
  }
  add('architecture', [...glob('test/*.test.ts'), ...glob('scripts/**/*.test.ts')])
  // Many files in one process: 40 of them took 0.5 s instead of 7 s. Tests that need a separate process belong under test/.
  add('units', glob('packages/*/src/**/*.test.ts'), singleProcess)

  const folders = new Set(['examples', 'bench', ...glob('test/*/**/*.test.ts').map((file) => file.split('/')[1] ?? '')])
  for (const folder of folders) {
    // The real gateway needs a gigabyte and a core.
    const atOnce = onRequest.includes(folder) ? 1 : 2
    const files = glob(`{test/,}${folder}/**/*.test.ts`)
    const isUsable = (file: string): boolean =>
      folder !== 'frameworks' || hasFrameworks() || file.endsWith('/installed.full.test.ts')
    const preloads = glob(`test/${folder}/shared-browser.ts`).flatMap((file) => ['--import', `./${file}`])
    add(folder, files.filter(isUsable), `--test-concurrency=${atOnce}`, ...preloads)
  }
  return suites.sort((a, b) => rank(a.name) - rank(b.name) || a.name.localeCompare(b.name))
}

function rank(name: string): number {
  const order = [...runFirst, ...runNext]
  return order.includes(name) ? order.indexOf(name) : order.length
}
