/**
 * `npm test`: every suite, each in its own process, then one closing line. Names as
 * arguments choose suites (`npm test -- units matrix`); options are handed to node's
 * test runner (`npm test -- units --test-name-pattern=cancel`).
 */
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestCounts } from './reporters/test-counts.ts'
import { findSuites } from './suites.ts'
import type { Step } from './suites.ts'

const root = join(import.meta.dirname, '..')
const isCi = process.env['CI'] === 'true'
const isFullMode = process.env['PARLEY_FULL'] === '1'
/** Set by `stress.ts`: all takes longer beside busy loops. */
const isStressed = process.env['PARLEY_STRESS'] !== undefined
/** A suite that hangs is stopped and named. The full modes are long on purpose. */
const limitMs = (isFullMode ? 600 : isStressed ? 60 : 25) * 60_000
/** So is one that is run by its name only, where nobody waits for others behind it. */
const onRequestLimitMs = (isFullMode ? 600 : 45) * 60_000

/** So many failures are repeated at the end: whoever reads the end of a long log should not have to search. */
const maxRepeatedFailures = 20
/** And of each of them so many lines. */
const maxRepeatedLines = 60

const cliArgs = process.argv.slice(2)
const suiteNames = cliArgs.filter((word) => !word.startsWith('--'))
const options = cliArgs.filter((word) => word.startsWith('--'))
const scratch = mkdtempSync(join(tmpdir(), 'parley-test-'))
process.once('exit', () => rmSync(scratch, { recursive: true, force: true }))

const all = findSuites(root)
const names = all.map((suite) => suite.name)
const unknown = suiteNames.filter((name) => !names.includes(name))
if (unknown.length > 0) {
  console.error(`No suite is called ${unknown.join(' or ')}. There are: ${names.join(', ')}.`)
  process.exit(1)
}

/** One server for all suites that want a database: each would start its own otherwise. */
async function shareDatabase(): Promise<void> {
  const clusterFile = join(root, 'test/postgres/cluster.ts')
  if (!existsSync(clusterFile)) return
  const { shareCluster } = (await import(clusterFile)) as { shareCluster(): Promise<{ missing?: string }> }
  const { missing } = await shareCluster()
  if (missing !== undefined) console.log(`${isCi ? '✖' : '!'} tests on PostgreSQL are skipped: ${missing}`)
}
let sharedDatabase: Promise<void> | undefined

/** The same for what every file in a browser would build. */
async function shareConsole(): Promise<void> {
  const file = join(root, 'test/console/built-console.ts')
  if (!existsSync(file)) return
  const { shareConsole: share } = (await import(file)) as { shareConsole(folder: string): Promise<void> }
  // If it cannot be built, each file says so as a failure of its own.
  await share(join(scratch, 'console')).catch((reason: unknown) => console.log('the console cannot be built', reason))
}

const total = { passed: 0, failed: 0, skipped: 0 }
const failures: string[] = []
const chosen = all.filter(({ name, onRequest }) =>
  suiteNames.length === 0 ? onRequest !== true : suiteNames.includes(name),
)
for (const suite of chosen) {
  if (suite.usesDatabase) await (sharedDatabase ??= shareDatabase())
  if (suite.name === 'console') await shareConsole()
  for (const step of suite.steps) {
    const startedAt = performance.now()
    const tally = await run(step, suite.onRequest === true ? onRequestLimitMs : limitMs)
    const bare = tally.skipped.filter((skip) => skip.reason === '')
    for (const { name } of bare) console.log(`${isCi ? '✖' : '!'} skipped without a reason: ${name}`)
    const unexplained = isCi ? bare.map(({ name }) => `✖ skipped without a reason: ${name}`) : []
    failures.push(...[...tally.failures, ...unexplained].map((text) => `${step.name}: ${text}`))
    const failed = tally.failures.length + unexplained.length
    const skipped = tally.skipped.length - unexplained.length
    total.passed += tally.passed
    total.failed += failed
    total.skipped += skipped
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
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
console.log(`\n${counts(total.passed, total.failed, total.skipped)}`)
process.exitCode = total.failed > 0 ? 1 : 0

function counts(passed: number, failed: number, skipped: number): string {
  return `${passed} passed, ${failed} failed, ${skipped} skipped`
}

async function run(step: Step, withinMs: number): Promise<TestCounts> {
  const [program = '', ...rest] = step.command
  if (!step.countsTests) {
    const ok = (await runProcess(withinMs, step.name, join(root, 'node_modules/.bin', program), rest)) === 0
    const failures = ok ? [] : [`✖ ${step.command.join(' ')}`]
    return { passed: ok ? 1 : 0, skipped: [], failures }
  }
  const shares = splitFiles(rest, step.processes ?? 1)
  return sum(await Promise.all(shares.map((share, n) => runTests(step.name, share, withinMs, n))))
}

/** Dealt out in turns: files that take long are often neighbours. */
function splitFiles(rest: readonly string[], processes: number): readonly (readonly string[])[] {
  const files = rest.filter((word) => word.endsWith('.test.ts'))
  const others = rest.filter((word) => !word.endsWith('.test.ts'))
  const count = Math.min(processes, Math.max(1, files.length))
  return Array.from({ length: count }, (_, n) => [...others, ...files.filter((_, index) => index % count === n)])
}

function sum(tallies: readonly TestCounts[]): TestCounts {
  return {
    passed: tallies.reduce((total, { passed }) => total + passed, 0),
    skipped: tallies.flatMap(({ skipped }) => skipped),
    failures: tallies.flatMap(({ failures }) => failures),
  }
}

async function runTests(name: string, rest: readonly string[], withinMs: number, share: number): Promise<TestCounts> {
  const tallyFile = join(scratch, `${name}-${share}.json`)
  const reporters = [
    '--test-reporter=./scripts/reporters/failures.ts',
    '--test-reporter-destination=stdout',
    '--test-reporter=./scripts/reporters/test-counts.ts',
    `--test-reporter-destination=${tallyFile}`,
  ]
  const code = await runProcess(withinMs, name, process.execPath, [...reporters, ...options, ...rest])
  const text = existsSync(tallyFile) ? readFileSync(tallyFile, 'utf8') : ''
  const tally = text === '' ? sum([]) : (JSON.parse(text) as TestCounts)
  if (tally.failures.length > 0) return tally
  // A runner that died, or ran nothing at all, must not look like success.
  const empty = tally.passed + tally.skipped.length === 0 && options.length === 0
  if (code === 0 && !empty) return tally
  const why = code === 0 ? 'no test ran' : `the test process ended with ${code} although no test failed`
  console.log(`✖ ${name}: ${why}`)
  return { ...tally, failures: [`✖ ${why}`] }
}

/** The exit code, or the signal's name. Nothing is read from stdin. */
function runProcess(
  withinMs: number,
  name: string,
  program: string,
  args: readonly string[],
): Promise<number | string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] })
    const timer = setTimeout(() => {
      console.log(`✖ ${name}: not done after ${withinMs / 60_000} minutes, stopped`)
      // On SIGTERM the runner also ends the processes it started; on SIGKILL it could not.
      child.kill('SIGTERM')
      setTimeout(() => child.kill('SIGKILL'), 5_000).unref()
    }, withinMs)
    child.once('error', reject)
    child.once('close', (code, signal) => {
      clearTimeout(timer)
      resolve(code ?? signal ?? 'an unknown end')
    })
  })
}
