/** Runs one step of a suite and counts its tests. `npm test` and `npm run test:fast` share it. */
import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestCounts } from './reporters/test-counts.ts'
import type { Step } from './suites.ts'

export interface StepRunnerOptions {
  readonly root: string
  /** A folder for the counts that the reporters write. */
  readonly scratch: string
  /** Options for node's test runner, for example `--test-name-pattern=cancel`. */
  readonly testOptions?: readonly string[]
}

/** Runs `step`, stopped after `limitMs`. A tool counts as one test. */
export async function runStep(step: Step, limitMs: number, options: StepRunnerOptions): Promise<TestCounts> {
  const [program = '', ...rest] = step.command
  if (!step.countsTests) {
    const path = join(options.root, 'node_modules/.bin', program)
    const ok = (await runProcess(limitMs, step.name, path, rest, options)) === 0
    return { passed: ok ? 1 : 0, skipped: [], failures: ok ? [] : [`✖ ${step.command.join(' ')}`], fileMs: {} }
  }
  const shares = splitFiles(rest, step.processes ?? 1)
  return sum(await Promise.all(shares.map((share, n) => runTests(step.name, share, limitMs, n, options))))
}

/** Dealt out in turns: files that take long are often neighbours. */
function splitFiles(rest: readonly string[], processes: number): readonly (readonly string[])[] {
  const files = rest.filter((word) => word.endsWith('.test.ts'))
  const others = rest.filter((word) => !word.endsWith('.test.ts'))
  const count = Math.min(processes, Math.max(1, files.length))
  return Array.from({ length: count }, (_, n) => [...others, ...files.filter((_, index) => index % count === n)])
}

function sum(counts: readonly TestCounts[]): TestCounts {
  return {
    passed: counts.reduce((total, { passed }) => total + passed, 0),
    skipped: counts.flatMap(({ skipped }) => skipped),
    failures: counts.flatMap(({ failures }) => failures),
    fileMs: Object.assign({}, ...counts.map(({ fileMs }) => fileMs)) as Record<string, number>,
  }
}

async function runTests(
  name: string,
  rest: readonly string[],
  limitMs: number,
  share: number,
  options: StepRunnerOptions,
): Promise<TestCounts> {
  const { scratch, testOptions = [] } = options
  const countsFile = join(scratch, `${name}-${share}.json`)
  const reporters = [
    '--test-reporter=./scripts/reporters/failures.ts',
    '--test-reporter-destination=stdout',
    '--test-reporter=./scripts/reporters/test-counts.ts',
    `--test-reporter-destination=${countsFile}`,
  ]
  const code = await runProcess(limitMs, name, process.execPath, [...reporters, ...testOptions, ...rest], options)
  const text = existsSync(countsFile) ? readFileSync(countsFile, 'utf8') : ''
  const counts = text === '' ? sum([]) : (JSON.parse(text) as TestCounts)
  if (counts.failures.length > 0) return counts
  // A runner that died, or ran nothing at all, must not look like success.
  const isEmpty = counts.passed + counts.skipped.length === 0 && testOptions.length === 0
  if (code === 0 && !isEmpty) return counts
  const why = code === 0 ? 'no test ran' : `the test process ended with ${code} although no test failed`
  console.log(`✖ ${name}: ${why}`)
  return { ...counts, failures: [`✖ ${why}`] }
}

/** The exit code, or the signal's name. Nothing is read from stdin. */
function runProcess(
  limitMs: number,
  name: string,
  program: string,
  args: readonly string[],
  { root }: StepRunnerOptions,
): Promise<number | string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] })
    const timer = setTimeout(() => {
      console.log(`✖ ${name}: not done after ${limitMs / 60_000} minutes, stopped`)
      // On SIGTERM the runner also ends the processes it started; on SIGKILL it could not.
      child.kill('SIGTERM')
      setTimeout(() => child.kill('SIGKILL'), 5_000).unref()
    }, limitMs)
    child.once('error', reject)
    child.once('close', (code, signal) => {
      clearTimeout(timer)
      resolve(code ?? signal ?? 'an unknown end')
    })
  })
}
