/** Runs one step of a suite and counts its tests. `npm test` and `npm run test:fast` share it. */
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isGuarded, temporaryFolder } from './scratch-folder.ts'
import type { TestCounts } from './reporters/test-counts.ts'
import type { Step } from './suites.ts'

export interface StepRunnerOptions {
  readonly root: string
  /** The folder of the run (scratch-folder.ts). */
  readonly scratch: string
  /** Options for node's test runner, for example `--test-name-pattern=cancel`. */
  readonly testOptions?: readonly string[]
  /** Prints the output of each process when it ends. Default: at once. */
  readonly isBuffered?: boolean
}

/**
 * Other suites keep the code that they compile for the processes after them: most load the hub, which took 0.9 s of CPU time
 * instead of 1.9. V8 need not count the blocks of a function from such a cache.
 */
const countsBlocks = ['fuzz', 'path-length']

/** Runs `step`, stopped after `limitMs`. A tool counts as one test. */
export async function runStep(step: Step, limitMs: number, options: StepRunnerOptions): Promise<TestCounts> {
  const [program = '', ...rest] = step.command
  if (!step.countsTests) {
    const path = join(options.root, 'node_modules/.bin', program)
    const ok = (await runProcess(limitMs, step.name, path, rest, options)) === 0
    return { passed: ok ? 1 : 0, skipped: [], failures: ok ? [] : [`✖ ${step.command.join(' ')}`], fileMs: {} }
  }
  // A pattern of names would filter out the tests that load the files, so with options each file gets its own process.
  const isInTurn = step.inTurn === true && (options.testOptions ?? []).length === 0
  const shares = isInTurn ? filesInTurn(rest, step.processes ?? 1, options) : splitFiles(rest, step.processes ?? 1)
  const counts = sum(await Promise.all(shares.map((share) => runTests(step.name, share, limitMs, options))))
  const isEmpty = counts.passed + counts.skipped.length + counts.failures.length === 0
  return isEmpty && (options.testOptions ?? []).length === 0 ? withFailure(counts, step.name, 'no test ran') : counts
}

/** Distributed in turns: slow files are often neighbours. */
function splitFiles(rest: readonly string[], processes: number): readonly (readonly string[])[] {
  const { files, others } = separateFiles(rest)
  const count = Math.min(processes, Math.max(1, files.length))
  return Array.from({ length: count }, (_, n) => [...others, ...files.filter((_, index) => index % count === n)])
}

/** Every process gets all files, and takes the next one that is free. */
function filesInTurn(
  rest: readonly string[],
  processes: number,
  { scratch }: StepRunnerOptions,
): readonly (readonly string[])[] {
  const { files, others } = separateFiles(rest)
  const forNode = others.filter((word) => word !== '--test' && !word.startsWith('--test-concurrency'))
  const share = [...forNode, 'scripts/run-files-in-turn.ts', mkdtempSync(join(scratch, 'claims-')), ...files]
  return Array.from({ length: Math.min(processes, files.length) }, () => share)
}

function separateFiles(words: readonly string[]): { files: readonly string[]; others: readonly string[] } {
  const isFile = (word: string): boolean => word.endsWith('.test.ts')
  return { files: words.filter(isFile), others: words.filter((word) => !isFile(word)) }
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
  options: StepRunnerOptions,
): Promise<TestCounts> {
  const { scratch, testOptions = [] } = options
  const countsFile = join(mkdtempSync(join(scratch, 'counts-')), 'counts.json')
  const reporters = [
    '--test-reporter=./scripts/reporters/failures.ts',
    '--test-reporter-destination=stdout',
    '--test-reporter=./scripts/reporters/test-counts.ts',
    `--test-reporter-destination=${countsFile}`,
  ]
  const code = await runProcess(limitMs, name, process.execPath, [...reporters, ...testOptions, ...rest], options)
  const text = existsSync(countsFile) ? readFileSync(countsFile, 'utf8') : ''
  const counts = text === '' ? sum([]) : (JSON.parse(text) as TestCounts)
  // A runner that died must not look like success, even if it exited without an error.
  if (counts.failures.length > 0 || (code === 0 && text !== '')) return counts
  return withFailure(counts, name, `the test process ended with ${code} although no test failed`)
}

function withFailure(counts: TestCounts, name: string, why: string): TestCounts {
  console.log(`✖ ${name}: ${why}`)
  return { ...counts, failures: [`✖ ${why}`] }
}

/** The exit code, or the signal's name. Nothing is read from stdin. */
function runProcess(
  limitMs: number,
  name: string,
  program: string,
  args: readonly string[],
  { root, scratch, isBuffered = false }: StepRunnerOptions,
): Promise<number | string> {
  const cache = countsBlocks.includes(name) ? {} : { NODE_COMPILE_CACHE: join(scratch, 'compiled') }
  const env = { ...cache, ...process.env, TMPDIR: temporaryFolder(scratch) }
  return new Promise((resolve, reject) => {
    const output = isBuffered ? 'pipe' : 'inherit'
    const child = spawn(program, args, {
      cwd: root,
      env,
      stdio: ['ignore', output, output],
      // Out of reach of the signals of a terminal: processes that lose their parents first could not be found by the guard.
      detached: isGuarded,
    })
    const chunks: Buffer[] = []
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => chunks.push(chunk))
    const timer = setTimeout(() => {
      console.log(`✖ ${name}: not done after ${limitMs / 60_000} minutes, stopped`)
      // The whole group: another process that holds the output would keep this one waiting.
      const kill = (signal: NodeJS.Signals): boolean =>
        isGuarded && child.pid !== undefined ? process.kill(-child.pid, signal) : child.kill(signal)
      kill('SIGTERM')
      setTimeout(() => child.exitCode === null && kill('SIGKILL'), 5_000).unref()
    }, limitMs)
    child.once('error', reject)
    child.once('close', (code, signal) => {
      clearTimeout(timer)
      process.stdout.write(Buffer.concat(chunks))
      resolve(code ?? signal ?? 'an unknown end')
    })
  })
}
