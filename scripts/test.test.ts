/** All other results depend on the runner, so it is tested with failing, crashing, empty and skipping suites. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, describe, it } from 'node:test'
import { findSuites } from './suites.ts'

const scratch = mkdtempSync(join(tmpdir(), 'parley-runner-'))
after(() => rmSync(scratch, { recursive: true, force: true }))

/** A repository with our runner and the given test files; runs all of its suites that hold tests. */
function runIn(name: string, files: Readonly<Record<string, string>>, env: Record<string, string> = {}) {
  const root = join(scratch, name)
  cpSync(import.meta.dirname, join(root, 'scripts'), { recursive: true, filter: (path) => !path.endsWith('.test.ts') })
  writeFileSync(join(root, 'package.json'), '{ "type": "module" }')
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), `import { describe, it } from 'node:test'\n${text}`)
  }
  const suites = findSuites(root).map((suite) => suite.name)
  const chosen = suites.filter((suite) => suite !== 'check')
  // Without the variables by which node's runner would treat ours as a test file.
  const { status, stdout } = spawnSync(process.execPath, ['scripts/test.ts', ...chosen], {
    cwd: root,
    env: { PATH: process.env['PATH'], ...env },
    encoding: 'utf8',
  })
  return { status, stdout, suites, closing: stdout.trimEnd().split('\n').at(-1) }
}

describe('npm test', () => {
  it('finds suites by their folders and sums their counts', () => {
    const result = runIn('green', {
      'packages/a/src/x.test.ts': "it('a', () => {}); it('b', () => {})",
      'test/zebra/deep/y.test.ts': "describe('c', () => { it('d', () => {}) })",
      'test/crash/z.test.ts': "it('e', { skip: 'needs a moon' }, () => {})",
      'test/top.test.ts': "it('f', () => {})",
    })
    assert.deepEqual(result.suites, ['check', 'architecture', 'units', 'crash', 'zebra'])
    assert.equal(result.closing, '4 passed, 0 failed, 1 skipped')
    assert.equal(result.status, 0)
  })

  it('ends with the time of each suite, the longest first, and with the slowest files', () => {
    const { stdout } = runIn(
      'times',
      {
        'packages/a/src/x.test.ts': "it('a', () => {})",
        'test/slow/y.test.ts': "it('b', () => new Promise((resolve) => setTimeout(resolve, 1_000)))",
      },
      { PARLEY_TEST_TIMES: 'times.json' },
    )
    const [, table = ''] = stdout.split(/^suite +time\n/m)
    const rows = [...table.matchAll(/^(slow|units|sum) +(\d+\.\d) s {2}/gm)].map(([, name, time]) => [
      name,
      Number(time),
    ])
    const sorted = rows.slice(0, 2).toSorted(([, a], [, b]) => Number(b) - Number(a))
    assert.deepEqual(rows.slice(0, 2), sorted)
    assert.deepEqual(new Set(rows.map(([name]) => name)), new Set(['slow', 'units', 'sum']))
    assert.equal(rows.at(-1)?.[0], 'sum')
    const [, slowest = ''] = table.split('\nslowest files\n')
    for (const file of ['test/slow/y', 'packages/a/src/x'])
      assert.match(slowest, new RegExp(`^ +\\d+\\.\\d s {2}${file}\\.test\\.ts$`, 'm'))
    const times = JSON.parse(readFileSync(join(scratch, 'times/times.json'), 'utf8')) as Record<string, object>
    assert.deepEqual(Object.keys(times['suiteMs'] ?? {}), ['units', 'slow'])
    assert.equal(Object.keys(times['fileMs'] ?? {}).length, 2)
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
    const files = { 'test/openclaw/x.test.ts': "it('a', () => {})", 'test/other/y.test.ts': "it('b', () => {})" }
    const { closing } = runIn('asked', files)
    assert.equal(closing, '2 passed, 0 failed, 0 skipped')
    const root = join(scratch, 'asked')
    assert.equal(findSuites(root).find(({ name }) => name === 'openclaw')?.onRequest, true)
    rmSync(join(root, 'test/other'), { recursive: true })
    const { stdout } = spawnSync(process.execPath, ['scripts/test.ts'], {
      cwd: root,
      env: { PATH: process.env['PATH'] },
      encoding: 'utf8',
    })
    assert.doesNotMatch(stdout, /openclaw/)
  })

  it('fails when a test fails, and prints which and why', () => {
    const result = runIn('red', {
      'test/a/x.test.ts': "describe('sums', () => { it('adds', () => { throw new Error('two is not one') }) })",
      'packages/a/src/y.test.ts': "it('goes on after a red suite', () => {})",
    })
    assert.equal(result.closing, '1 passed, 1 failed, 0 skipped')
    assert.equal(result.status, 1)
    assert.match(result.stdout, /sums > adds {2}\(test\/a\/x\.test\.ts:2\)\n {4}Error: two is not one/)
  })

  it('repeats failures after the last suite, because often only the end of a long log is kept', () => {
    const { stdout } = runIn('repeated', {
      'test/a/x.test.ts': "it('adds', () => { throw new Error('two is not one') })",
      'test/b/y.test.ts': "it('exits', () => process.exit(7))",
      'test/b/z.test.ts': 'void [describe, it]',
      'test/c/z.test.ts': "it('goes on', () => {})",
    })
    const [, end = ''] = stdout.split(/✔ c .*\n/)
    assert.match(end, /^\na: ✖ adds {2}\(test\/a\/x\.test\.ts:2\)\n {4}Error: two is not one\n/)
    assert.match(end, /\nb: ✖ .*y\.test\.ts/)
    assert.match(end, /\nb: ✖ .*z\.test\.ts holds no test\n/)
    assert.match(end, /\n1 passed, 3 failed, 0 skipped\n$/)
  })

  it('runs a failed file once, also in a browser: there are no retries', () => {
    const once = `import { existsSync, writeFileSync } from 'node:fs'
      it('fails the first time', () => { if (!existsSync('mark')) { writeFileSync('mark', ''); throw new Error('too soon') } })
      it('passes', () => {})`
    const { status, closing, stdout } = runIn('once', {
      'test/console/x.test.ts': once,
      'test/console/y.test.ts': "it('a', () => {})",
    })
    assert.deepEqual([status, closing], [1, '2 passed, 1 failed, 0 skipped'])
    assert.match(stdout, /\nconsole: ✖ .*fails the first time /)
  })

  it('fails when a file cannot be loaded, when a process dies and when nothing ran', () => {
    assert.equal(runIn('broken', { 'packages/a/src/x.test.ts': "throw new Error('no')" }).status, 1)
    const dead = runIn('dead', {
      'packages/a/src/x.test.ts': "it('x', () => process.exit(0))",
      'packages/a/src/y.test.ts': "it('y', () => {})",
      'test/a/z.test.ts': "it('z', () => {})",
    })
    assert.deepEqual([dead.status, dead.closing], [1, '2 passed, 1 failed, 0 skipped'])
    assert.equal(runIn('empty', { 'packages/a/src/x.test.ts': 'void [describe, it]' }).status, 1)
  })

  it('distributes the units among processes, and sums their failures', () => {
    const units = Object.fromEntries(
      ['a', 'b', 'c', 'd'].map((name) => [
        `packages/a/src/${name}.test.ts`,
        `it('${name}', () => { console.log('ran in', process.pid); if ('bc'.includes('${name}')) throw new Error('no') })`,
      ]),
    )
    const { stdout, closing } = runIn('shared', units)
    assert.equal(closing, '2 passed, 2 failed, 0 skipped')
    assert.equal(new Set(stdout.match(/ran in \d+/g)).size, 2)
    for (const name of ['b', 'c']) assert.match(stdout, new RegExp(`\nunits: ✖ ${name} `))
  })

  it('accepts a skip without a reason locally, and not in CI', () => {
    const files = { 'test/a/x.test.ts': "it('x', { skip: 1 > 0 }, () => {}); it('y', () => {})" }
    assert.equal(runIn('home', files).closing, '1 passed, 0 failed, 1 skipped')
    const inCi = runIn('ci', files, { CI: 'true' })
    assert.equal(inCi.closing, '1 passed, 1 failed, 0 skipped')
    assert.equal(inCi.status, 1)
    assert.match(inCi.stdout, /skipped without a reason: x/)
  })
})
