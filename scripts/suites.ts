/**
 * The suites and their order: fast ones that fail often
 * come first. Every folder under test/ is a suite, and so are examples/ and bench/.
 */
import { globSync } from 'node:fs'
import { areFrameworksInstalled } from './install-frameworks.ts'

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
  'tutorials',
]
const onRequest = ['openclaw']
/** Their files share a browser and the modules of the hub, which took each file 3 s of CPU time to load. */
const inTurn = ['console']

const singleProcess = '--test-isolation=none'

const isFullMode = process.env['PARLEY_FULL'] === '1'
/**
 * What quick mode omits from the console suite: axe checks each page once, in screenshots.test.ts, and not again in both
 * themes; and full mode covers views and versions that resemble others.
 */
const quickConsoleSkips = `--test-skip-pattern=/${[
  'serious violation|accessib|axe finds',
  // screenshots.test.ts compares the width of every second page with that of a phone.
  'fits? (on )?a phone|is added on a phone|on a narrow screen|behind "More", dark',
  '(agent-down|add-agent-form|playground-new|compare|task-failed|trace-graph) renders',
  // Pages of one kind have the same keys, messages, exports and live lists.
  'from row to row, into a trace|into a webhook, to the next|is copied as curl and exported|holds new traces back',
  'not-found message (with a link|for an unknown trace)|lists recent pages',
  // Streams in every version, other calls in one.
  'conversation in (0\\.|1\\.0 over HTTP).*not streamed|for a secret \\((secret\\?protocol=1&version|auth)',
  'is searched, match by match|only the hub knows of the other change',
  'offers only to cancel|by a few letters of its name',
  'starts with the text of the address|copies the last request as a command',
  'also covers failed and canceled tasks|one external trace caused|links from a part to the whole',
].join('|')}/`
/** Of the agent contract, quick mode omits what depends on the server and not on the agent. The unit tests have it for one agent. */
const quickContractSkips = 'answers (by a stream )?in 0\\.3|killed, over memory'
/**
 * Quick mode kills each framework in three states: while an approval waits, after the effect of a tool, in a stream. The program of
 * Claude starts slowly, so that its deadline is 20 s.
 */
const quickFrameworkSkips = `--test-skip-pattern=/${[
  'killed (while the model|after (a tool|the effect of an approved))|after a rejection|fails under fail',
  `Claude.*fails at its deadline|${quickContractSkips}`,
].join('|')}/`
/** By the name of the suite. */
const quickSkips: Readonly<Record<string, string>> = {
  console: quickConsoleSkips,
  agents: `--test-skip-pattern=/${quickContractSkips}/`,
}
const fullModeOnlyFiles =
  /console\/(agent-views|durations|playground-(curl|markdown)|settings-(audit|sessions)|task-(compare|protocol|replay)|trace-graph)\.test\.ts$/

const tool = (name: string, ...command: string[]): Step => ({ name, command, countsTests: false })

const testFiles = (name: string, files: readonly string[], ...options: string[]): Suite => ({
  name,
  usesDatabase: usingDatabase.includes(name),
  onRequest: onRequest.includes(name),
  steps: [
    {
      name,
      command: ['node', '--conditions=parley-source', '--test', ...options, ...files],
      countsTests: true,
      ...(options.includes(singleProcess) || inTurn.includes(name) ? { processes: 2 } : {}),
      inTurn: inTurn.includes(name),
    },
  ],
})

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
 * The tests on real agent frameworks. They are installed in CI; on a machine without them only the file runs that reports it as
 * skipped.
 */
function frameworksSuite(files: readonly string[]): Suite {
  if (process.env['CI'] !== 'true' && !areFrameworksInstalled())
    return testFiles(
      'frameworks',
      files.filter((file) => file.endsWith('/installed.test.ts')),
    )
  const { steps } = testFiles('frameworks', files, '--test-concurrency=2', ...(isFullMode ? [] : [quickFrameworkSkips]))
  return {
    name: 'frameworks',
    steps: [
      tool('install frameworks', 'node', 'scripts/install-frameworks.ts'),
      tool('framework types', 'tsc', '-p', 'test/frameworks/tsconfig.json'),
      ...steps,
    ],
  }
}

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
    ...(units.length > 0 ? testFiles('units', units, singleProcess).steps : []),
    ...(scripts.length > 0 ? testFiles('scripts', scripts).steps : []),
  ]
}

/** All suites of the repository at `root`, in the order in which they run. */
export function findSuites(root: string): readonly Suite[] {
  const glob = (pattern: string): readonly string[] =>
    globSync(pattern, { cwd: root, exclude: ['**/node_modules/**', '**/dist/**'] }).sort()

  const suites = [check]
  const add = (name: string, files: readonly string[], ...options: string[]): void => {
    if (files.length > 0) suites.push(testFiles(name, files, ...options))
  }
  add('architecture', [...glob('test/*.test.ts'), ...glob('scripts/**/*.test.ts')])
  // Many files in one process: 40 of them took 0.5 s instead of 7 s. Tests that need a separate process belong under test/.
  add('units', glob('packages/*/src/**/*.test.ts'), singleProcess)

  const folders = new Set(['examples', 'bench', ...glob('test/*/**/*.test.ts').map((file) => file.split('/')[1] ?? '')])
  for (const folder of folders) {
    if (folder === 'frameworks') {
      suites.push(frameworksSuite(glob('test/frameworks/**/*.test.ts')))
      continue
    }
    // The real gateway needs a gigabyte and a core.
    const atOnce = onRequest.includes(folder) ? 1 : 2
    const skips = isFullMode ? undefined : quickSkips[folder]
    const files = glob(`{test/,}${folder}/**/*.test.ts`).filter((file) => isFullMode || !fullModeOnlyFiles.test(file))
    const preloads = glob(`test/${folder}/shared-browser.ts`).flatMap((file) => ['--import', `./${file}`])
    add(folder, files, `--test-concurrency=${atOnce}`, ...preloads, ...(skips === undefined ? [] : [skips]))
  }
  return suites.sort((a, b) => rank(a.name) - rank(b.name) || a.name.localeCompare(b.name))
}

function rank(name: string): number {
  const order = [...runFirst, ...runNext]
  return order.includes(name) ? order.indexOf(name) : order.length
}
