/** Busy loops that outlive a run would slow down everything after it, so the test looks for them at the end. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, watch, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'

const scratch = mkdtempSync(join(tmpdir(), 'parley-stress-'))
after(() => rmSync(scratch, { recursive: true, force: true }))

/** A repository with one suite, which writes down which loops run beside it. */
function stress(name: string, test: string) {
  const root = join(scratch, name)
  cpSync(import.meta.dirname, join(root, 'scripts'), { recursive: true, filter: (path) => !path.endsWith('.test.ts') })
  writeFileSync(join(root, 'package.json'), '{ "type": "module" }')
  for (const suite of ['chosen', 'other']) mkdirSync(join(root, 'test', suite), { recursive: true })
  writeFileSync(join(root, 'test/other/y.test.ts'), "throw new Error('this suite was not named')")
  writeFileSync(
    join(root, 'test/chosen/x.test.ts'),
    `import { it } from 'node:test'
     import { writeFileSync } from 'node:fs'
     it('runs', async () => {
       const loops = (process.env.PARLEY_STRESS ?? '').split(',').map(Number)
       for (const pid of loops) process.kill(pid, 0)
       writeFileSync('running.tmp', JSON.stringify([...loops, process.pid]))
       ${test}
     })`,
  )
  const child = spawn(process.execPath, ['scripts/stress.ts', 'chosen'], {
    cwd: root,
    env: { PATH: process.env['PATH'] },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let stdout = ''
  child.stdout.on('data', (bytes: Buffer) => (stdout += bytes.toString()))
  const file = join(root, 'running.tmp')
  return { root, file, child, said: () => stdout, ended: once(child, 'close') as Promise<[number | null]> }
}

/** The loops, then the process of the test. */
const processesIn = (file: string): readonly number[] => JSON.parse(readFileSync(file, 'utf8')) as number[]

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

async function allToEnd(pids: readonly number[]): Promise<void> {
  while (pids.some(isRunning)) await pause(10)
}

describe('npm run test:stress', () => {
  it('runs the named suites beside four busy loops, and ends them', { timeout: 60_000 }, async () => {
    const { file, said, ended } = stress('green', '')
    assert.deepEqual((await ended)[0], 0)
    assert.equal(said().trimEnd().split('\n').at(-1), '1 passed, 0 failed, 0 skipped')
    const pids = processesIn(file)
    assert.equal(pids.length, 5)
    await allToEnd(pids)
  })

  it('fails when a test fails', { timeout: 60_000 }, async () => {
    const { said, ended } = stress('red', "throw new Error('no')")
    assert.deepEqual((await ended)[0], 1)
    assert.match(said(), /0 passed, 1 failed, 0 skipped\n$/)
  })

  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    it(`leaves no loop behind when it is ended by ${signal}`, { timeout: 60_000 }, async () => {
      const { root, file, child, ended } = stress(signal, 'await new Promise((resolve) => setTimeout(resolve, 20_000))')
      const watcher = watch(root)
      while (!existsSync(file) || readFileSync(file, 'utf8') === '') await once(watcher, 'change')
      watcher.close()
      const pids = processesIn(file)
      child.kill(signal)
      // After SIGKILL the suite gets no signal; only the loops notice.
      await allToEnd(signal === 'SIGKILL' ? pids.slice(0, 4) : pids)
      if (signal === 'SIGTERM') await ended
      else for (const pid of pids) if (isRunning(pid)) process.kill(pid)
    })
  }
})
