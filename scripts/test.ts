/**
 * `npm test`: the quick set of every suite, each in its own process, then one closing line. Names as
 * arguments select whole suites (`npm test -- units matrix`); options are passed to node's
 * test runner (`npm test -- units --test-name-pattern=cancel`), but for two:
 * `--set=full` (`npm run test:full`) selects the tests that `npm test` leaves out, `--set=quick` the others, also of named suites;
 * `--stress` (`npm run test:stress`) runs the suites beside busy loops. A test that fails only there waits for a time, where it
 * should wait for an event.
 */
import { spawn } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { formatSlowestFiles, formatSuiteTimes } from './format-times.ts'
import { runStep } from './run-step.ts'
import { createScratchFolder, temporaryFolder } from './scratch-folder.ts'
import { findSuites, type Suite, type TestSet } from './suites.ts'

const root = join(import.meta.dirname, '..')
const isCi = process.env['CI'] === 'true'
const isFullMode = process.env['PARLEY_FULL'] === '1'
const cliArgs = process.argv.slice(2)
const isStressed = cliArgs.includes('--stress')
const busyLoops = 8
/** A suite that hangs is stopped and named. The long modes take hours. */
const limitMs = (isFullMode ? 600 : isStressed ? 60 : 25) * 60_000
/** The limit of suites that run only by name. */
const onRequestLimitMs = (isFullMode ? 600 : 45) * 60_000

/**
 * One suite at a time leaves a third of two cores idle: suites wait for timers, browsers and databases, and most end with one long
 * file. The long modes measure memory and time, and run alone.
 */
const lanes = Number(process.env['PARLEY_TEST_LANES'] ?? 2)

/** How many failures are repeated at the end of the log. */
const maxRepeatedFailures = 20
/** How many lines of each. */
const maxRepeatedLines = 60

const suiteNames = cliArgs.filter((word) => !word.startsWith('--'))
const options = cliArgs.filter((word) => word.startsWith('--') && word !== '--stress' && !word.startsWith('--set='))
const suitesAtOnce = isFullMode || (suiteNames.length > 0 && process.env['PARLEY_TEST_LANES'] === undefined) ? 1 : lanes

const set = chooseSet()
const names = findSuites(root, 'all').map((suite) => suite.name)
const unknown = suiteNames.filter((name) => !names.includes(name))
if (unknown.length > 0) fail(`No suite is called ${unknown.join(' or ')}. There are: ${names.join(', ')}.`)
const suites = findSuites(root, set).filter(({ name, onRequest }) =>
  suiteNames.length === 0 ? onRequest !== true : suiteNames.includes(name),
)
const empty = suiteNames.filter((name) => !suites.some((suite) => suite.name === name))
if (empty.length > 0) fail(`The ${set} set has no test of ${empty.join(' or ')}.`)

function fail(why: string): never {
  console.error(why)
  process.exit(1)
}

/** A named suite runs whole, and so do the long modes. */
function chooseSet(): TestSet {
  const name = cliArgs.find((word) => word.startsWith('--set='))?.slice('--set='.length)
  if (name === 'quick' || name === 'full' || name === 'all') return name
  if (name === undefined) return suiteNames.length > 0 || isFullMode ? 'all' : 'quick'
  return fail(`No set is called ${name}. There are: quick, full, all.`)
}

const scratch = createScratchFolder()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => stop(signal))
// npm starts a script by a shell that passes no signal on: the end of the shell is the only sign.
const { ppid: shell } = process
if (process.env['npm_lifecycle_event'] !== undefined)
  setInterval(() => process.ppid !== shell && stop('npm has ended'), 500).unref()

function stop(why: string): void {
  console.log(`\n${why}: stopped before the end`)
  process.exit(1)
}

if (isStressed) startBusyLoops()

function startBusyLoops(): void {
  const env = { ...process.env, TMPDIR: temporaryFolder(scratch) }
  for (let n = 0; n < busyLoops; n += 1) {
    const loop = spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore', env })
    loop.unref()
  }
}

/** One server for all suites with a database: otherwise each would start its own. */
async function shareDatabase(): Promise<void> {
  const clusterFile = join(root, 'test/postgres/cluster.ts')
  if (!existsSync(clusterFile)) return
  const { shareCluster } = (await import(clusterFile)) as { shareCluster(): Promise<{ missing?: string }> }
  const { missing } = await shareCluster()
  if (missing !== undefined) console.log(`${isCi ? '✖' : '!'} tests on PostgreSQL are skipped: ${missing}`)
}
let sharedDatabase: Promise<void> | undefined

/** The same for the build of the console. */
async function shareConsole(): Promise<void> {
  const file = join(root, 'test/console/built-console.ts')
  if (!existsSync(file)) return
  const { shareConsole: share } = (await import(file)) as { shareConsole(folder: string): Promise<void> }
  // If the build fails, each file reports it as its own failure.
  await share(join(scratch, 'console')).catch((reason: unknown) => console.log('the console cannot be built', reason))
}

/** The same for the packages, packed and installed, by a process that is their registry until this one ends. */
async function shareInstallation(): Promise<void> {
  const file = join(root, 'test/journeys/install.ts')
  if (!existsSync(file)) return
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', file], {
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true,
    env: { ...process.env, TMPDIR: temporaryFolder(scratch) },
  })
  // Without it, each file installs its own.
  for await (const line of createInterface({ input: child.stdout })) {
    process.env['PARLEY_JOURNEYS'] = line
    break
  }
  child.unref()
  for (const pipe of [child.stdin, child.stdout]) (pipe as unknown as { unref(): void }).unref()
}

const total = { passed: 0, failed: 0, skipped: 0 }
const failures: string[] = []
/** By suite. Shared setup (database, console, packages) is `setup`. */
const suiteMs: Record<string, number> = {}
const fileMs: Record<string, number> = {}
const addTime = (name: string, startedAt: number): void => {
  suiteMs[name] = (suiteMs[name] ?? 0) + performance.now() - startedAt
}
const startedAt = performance.now()
const waiting = [...suites]
const running = new Set<Suite>()
await Promise.all(Array.from({ length: suitesAtOnce }, runWaiting))

async function runWaiting(): Promise<void> {
  for (let suite = takeWaiting(); suite !== undefined; suite = takeWaiting()) {
    running.add(suite)
    await runSuite(suite)
    running.delete(suite)
  }
}

/** Suites share one database server, where the transactions of one delay the feed of another: one of them runs at a time. */
function takeWaiting(): Suite | undefined {
  const isDatabaseBusy = [...running].some(({ usesDatabase }) => usesDatabase)
  const index = waiting.findIndex(({ usesDatabase }) => !usesDatabase || !isDatabaseBusy)
  return index === -1 ? undefined : waiting.splice(index, 1)[0]
}

async function runSuite(suite: Suite): Promise<void> {
  const setupAt = performance.now()
  if (suite.usesDatabase) await (sharedDatabase ??= shareDatabase())
  if (suite.name === 'console') await shareConsole()
  if (suite.name === 'journeys') await shareInstallation()
  if (suite.usesDatabase || suite.name === 'console' || suite.name === 'journeys') addTime('setup', setupAt)
  for (const step of suite.steps) {
    const stepAt = performance.now()
    const limit = suite.onRequest === true ? onRequestLimitMs : limitMs
    // Suites that run side by side print when they end, so that their lines do not mix.
    const tally = await runStep(step, limit, { root, scratch, testOptions: options, isBuffered: suitesAtOnce > 1 })
    addTime(suite.name, stepAt)
    Object.assign(fileMs, tally.fileMs)
    const bare = tally.skipped.filter((skip) => skip.reason === '')
    for (const { name } of bare) console.log(`${isCi ? '✖' : '!'} skipped without a reason: ${name}`)
    const unexplained = isCi ? bare.map(({ name }) => `✖ skipped without a reason: ${name}`) : []
    failures.push(...[...tally.failures, ...unexplained].map((text) => `${step.name}: ${text}`))
    const failed = tally.failures.length + unexplained.length
    const skipped = tally.skipped.length - unexplained.length
    total.passed += tally.passed
    total.failed += failed
    total.skipped += skipped
    const seconds = ((performance.now() - stepAt) / 1000).toFixed(1)
    console.log(
      `${failed > 0 ? '✖' : '✔'} ${step.name.padEnd(12)} ${counts(tally.passed, failed, skipped)}  (${seconds} s)`,
    )
  }
}

for (const text of failures.slice(0, maxRepeatedFailures)) {
  console.log(`\n${text.split('\n').slice(0, maxRepeatedLines).join('\n')}`)
}
if (failures.length > maxRepeatedFailures)
  console.log(`\nand ${failures.length - maxRepeatedFailures} more failures, further up`)
const wallMs = performance.now() - startedAt
if (suites.length > 1) console.log(`\n${formatSuiteTimes(suiteMs, wallMs)}\n\n${formatSlowestFiles(fileMs, root)}`)
const timesFile = process.env['PARLEY_TEST_TIMES']
if (timesFile !== undefined) writeFileSync(timesFile, JSON.stringify({ suiteMs, fileMs }, undefined, 2))
console.log(`\n${counts(total.passed, total.failed, total.skipped)}`)
process.exitCode = total.failed > 0 ? 1 : 0

function counts(passed: number, failed: number, skipped: number): string {
  return `${passed} passed, ${failed} failed, ${skipped} skipped`
}
