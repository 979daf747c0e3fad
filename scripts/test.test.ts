/** All other results depend on the runner, so it is tested with failing, crashing, empty and skipping suites, and with signals. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  watch,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, describe, it } from 'node:test'
import { eventually } from '../packages/a2a/src/testing/fixtures/eventually.ts'
import { findSuites, type TestSet } from './suites.ts'

const scratch = mkdtempSync(join(tmpdir(), 'parley-runner-'))
after(() => rmSync(scratch, { recursive: true, force: true }))

/** A repository with our runner and the given test files. */
function createRepository(name: string, files: Readonly<Record<string, string>>): string {
  const root = join(scratch, name)
  cpSync(import.meta.dirname, join(root, 'scripts'), { recursive: true, filter: (path) => !path.endsWith('.test.ts') })
  writeFileSync(join(root, 'package.json'), '{ "type": "module" }')
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), `import { describe, it } from 'node:test'\n${text}`)
  }
  return root
}

/** Without the variables by which node's runner would treat ours as a test file, and with its own folder for temporary files. */
function startOptions(root: string) {
  const temporary = join(root, 'tmp')
  mkdirSync(temporary, { recursive: true })
  return { cwd: root, env: { PATH: process.env['PATH'], TMPDIR: temporary } }
}

/** Runs the suites of such a repository that hold tests of a set. */
function runIn(
  name: string,
  files: Readonly<Record<string, string>>,
  env: Record<string, string> = {},
  set: TestSet = 'all',
) {
  const root = createRepository(name, files)
  const suites = findSuites(root, set).map((suite) => suite.name)
  const chosen = suites.filter((suite) => suite !== 'check')
  const { cwd, env: own } = startOptions(root)
  const { status, stdout } = spawnSync(process.execPath, ['scripts/test.ts', `--set=${set}`, ...chosen], {
    cwd,
    env: { ...own, ...env },
    encoding: 'utf8',
  })
  return { root, status, stdout, suites, closing: stdout.trimEnd().split('\n').at(-1) }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ')
  } catch {
    return false
  }
}

describe('npm test', () => {
  it('finds suites by their folders, sums their counts, and ends with their times', () => {
    const { root, suites, stdout, closing, status } = runIn(
      'green',
      {
        'packages/a/src/x.test.ts': "it('a', () => {}); it('b', () => {})",
        'test/zebra/deep/y.test.ts':
          "describe('c', () => { it('d', () => new Promise((resolve) => setTimeout(resolve, 1_000))) })",
        'test/crash/z.test.ts': "it('e', { skip: 'needs a moon' }, () => {})",
        'test/top.test.ts': "it('f', () => {})",
      },
      { PARLEY_TEST_TIMES: 'times.json' },
    )
    assert.deepEqual(suites, ['check', 'architecture', 'units', 'crash', 'zebra'])
    assert.deepEqual([closing, status], ['4 passed, 0 failed, 1 skipped', 0])
    const [, table = ''] = stdout.split(/^suite +time\n/m)
    const seconds = [...table.matchAll(/^(?:zebra|units|crash|architecture) +(\d+\.\d) s {2}/gm)].map(([, time]) =>
      Number(time),
    )
    assert.deepEqual([seconds.length, seconds], [4, seconds.toSorted((a, b) => b - a)])
    assert.match(table, /^sum +\d+\.\d s/m)
    const [, slowest = ''] = table.split('\nslowest files\n')
    for (const file of ['test/zebra/deep/y', 'packages/a/src/x'])
      assert.match(slowest, new RegExp(`^ +\\d+\\.\\d s {2}${file}\\.test\\.ts$`, 'm'))
    const times = JSON.parse(readFileSync(join(root, 'times.json'), 'utf8')) as Record<string, object>
    assert.deepEqual(Object.keys(times['suiteMs'] ?? {}), ['architecture', 'units', 'crash', 'zebra'])
    assert.deepEqual(readdirSync(join(root, 'tmp')), [])
  })

  it('leaves out what is marked for the full set, and test:full runs that', () => {
    const passing = (...names: string[]): string => names.map((name) => `it('${name}', () => {})`).join('\n')
    const files = {
      'test/mixed/x.test.ts': `${passing('a', 'b [full]')}\ndescribe('group [full]', () => { ${passing('c', 'd')} })`,
      'test/mixed/y.full.test.ts': passing('e'),
      'test/mixed/z.test.ts': `// mentions [full]\n${passing('k')}`,
      'test/whole/y.full.test.ts': passing('f', 'g'),
      'test/console/x.test.ts': passing('h', 'i [full]'),
      'packages/a/src/x.test.ts': passing('j'),
    }
    const quick = runIn('sets', files, {}, 'quick')
    assert.deepEqual([quick.status, quick.closing], [0, '4 passed, 0 failed, 0 skipped'])
    // A file of the console runs whole: b, c, d, e, f, g, h, i.
    const full = runIn('sets', files, {}, 'full')
    assert.deepEqual([full.status, full.closing], [0, '8 passed, 0 failed, 0 skipped'])
    assert.deepEqual(
      findSuites(full.root, 'full').map(({ name }) => name),
      ['console', 'mixed', 'whole'],
    )
  })

  it('runs two suites side by side, and prints the output of each in one piece', () => {
    const meet = (own: string, other: string): string => `import { existsSync, writeFileSync } from 'node:fs'
      import { setImmediate } from 'node:timers/promises'
      it('waits for the other suite', async () => {
        console.log('${own} one')
        writeFileSync('${own}', '')
        while (!existsSync('${other}')) await setImmediate()
        console.log('${own} two')
      })`
    const files = { 'test/a/x.test.ts': meet('first', 'second'), 'test/b/y.test.ts': meet('second', 'first') }
    const { stdout, status, closing } = runIn('lanes', files, { PARLEY_TEST_LANES: '2' })
    assert.deepEqual([status, closing], [0, '2 passed, 0 failed, 0 skipped'])
    for (const name of ['first', 'second']) assert.match(stdout, new RegExp(`${name} one\\n${name} two\\n`))
    assert.match(stdout, /^took +\d+\.\d s/m)
  })

  it('runs a suite with large downloads only by name', () => {
    const root = createRepository('asked', { 'test/openclaw/x.test.ts': "it('a', () => {})" })
    assert.equal(findSuites(root, 'all').find(({ name }) => name === 'openclaw')?.onRequest, true)
    const { stdout } = spawnSync(process.execPath, ['scripts/test.ts'], { ...startOptions(root), encoding: 'utf8' })
    assert.doesNotMatch(stdout, /openclaw/)
  })

  it('fails when a test fails, a file cannot be loaded, a process dies or nothing ran, and repeats why at the end', () => {
    const { stdout, status } = runIn('red', {
      'packages/a/src/x.test.ts': "it('units die', () => process.exit(0))",
      'packages/a/src/y.test.ts': "it('goes on in the other process', () => { throw new Error('no') })",
      'test/a/x.test.ts': "describe('sums', () => { it('adds', () => { throw new Error('two is not one') }) })",
      'test/b/y.test.ts': "it('exits', () => process.exit(7))",
      'test/b/z.test.ts': 'void [describe, it]',
      'test/c/x.test.ts': "throw new Error('cannot be loaded')",
      'test/d/z.test.ts': "it('goes on', () => {})",
    })
    assert.equal(status, 1)
    const [, end = ''] = stdout.split(/✔ d .*\n/)
    assert.match(end, /^\nunits: ✖ /)
    assert.match(end, /\nunits: ✖ goes on in the other process /)
    assert.match(end, /\na: ✖ sums > adds {2}\(test\/a\/x\.test\.ts:2\)\n {4}Error: two is not one\n/)
    assert.match(end, /\nb: ✖ .*y\.test\.ts/)
    assert.match(end, /\nb: ✖ .*z\.test\.ts holds no test\n/)
    assert.match(end, /\nc: ✖ .*x\.test\.ts/)
    assert.match(end, /\n1 passed, 6 failed, 0 skipped\n$/)
  })

  it('runs a failed file once, also in a browser: there are no retries', () => {
    const failsOnce = `import { existsSync, writeFileSync } from 'node:fs'
      it('fails the first time', () => { if (!existsSync('mark')) { writeFileSync('mark', ''); throw new Error('too soon') } })
      it('passes', () => {})`
    const { status, closing, stdout } = runIn('once', {
      'test/console/x.test.ts': failsOnce,
      'test/console/y.test.ts': "it('a', () => {})",
    })
    assert.deepEqual([status, closing], [1, '2 passed, 1 failed, 0 skipped'])
    assert.match(stdout, /\nconsole: ✖ .*fails the first time /)
  })

  it('accepts a skip without a reason locally, and not in CI', () => {
    const files = { 'test/a/x.test.ts': "it('x', { skip: 1 > 0 }, () => {}); it('y', () => {})" }
    assert.equal(runIn('skips', files).closing, '1 passed, 0 failed, 1 skipped')
    const inCi = runIn('skips', files, { CI: 'true' })
    assert.deepEqual([inCi.status, inCi.closing], [1, '1 passed, 1 failed, 0 skipped'])
    assert.match(inCi.stdout, /skipped without a reason: x/)
  })

  const skip = process.platform !== 'linux' && 'the processes of a run are known on Linux only'
  const run = [process.execPath, 'scripts/test.ts', '--stress', 'long']
  const ends = [
    ['by SIGTERM', 'SIGTERM', run],
    ['by SIGKILL', 'SIGKILL', run],
    ['with the shell of npm', 'SIGTERM', ['sh', '-c', 'npm_lifecycle_event=test "$0" "$@"; true', ...run]],
  ] as const
  for (const [name, signal, [program = '', ...args]] of ends) {
    it(
      `ends every process of its tests ${name}, also the busy loops, and removes its folder`,
      { skip, timeout: 120_000 },
      async () => {
        // One child with the environment of the run and a group of its own, one without that environment.
        const test = `import { spawn } from 'node:child_process'
        import { renameSync, writeFileSync } from 'node:fs'
        it('waits', async () => {
          const forever = ['-e', 'process.on("SIGTERM", () => {}); setInterval(() => {}, 1000)']
          const own = spawn(process.execPath, forever, { detached: true, stdio: 'ignore' })
          const bare = spawn(process.execPath, forever, { stdio: 'ignore', env: {} })
          writeFileSync('running', JSON.stringify([process.pid, process.ppid, own.pid, bare.pid]))
          renameSync('running', 'pids')
          await new Promise(() => setInterval(() => {}, 1000))
        })`
        const root = createRepository(name, { 'test/long/x.test.ts': test })
        const watcher = watch(root)
        const child = spawn(program, args, { ...startOptions(root), stdio: 'ignore' })
        const ended = once(child, 'close')
        while (!existsSync(join(root, 'pids'))) await once(watcher, 'change')
        watcher.close()
        const pids = JSON.parse(readFileSync(join(root, 'pids'), 'utf8')) as number[]
        const [runner = 0] = listPids('ppid=', '-p', String(pids[1]))
        const loops = listPids('pid=', '--ppid', String(runner)).filter((pid) => !pids.includes(pid))
        assert.equal(loops.length, 9, 'eight loops and the guard')
        child.kill(signal)
        await ended
        // The guard of the run works after its end.
        const processes = [runner, ...pids, ...loops]
        await eventually(() => !processes.some(isRunning), 'the end of all processes')
        await eventually(() => readdirSync(join(root, 'tmp')).length === 0, 'an empty folder')
      },
    )
  }
})

function listPids(column: string, ...selection: readonly string[]): readonly number[] {
  const { stdout } = spawnSync('ps', ['-o', column, ...selection], { encoding: 'utf8' })
  return stdout.trim().split(/\s+/).map(Number)
}
