/** Saves files as an editor does, and reads what the watcher prints. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { after, describe, it } from 'node:test'
import { createScratchRepository, scratchEnv } from './scratch-repository.ts'

const testThat = (body: string): string => `import { it } from 'node:test'\nit('runs', () => { ${body} })\n`

describe('npm run test:watch', () => {
  it('tests saved files repeatedly until it is stopped', { timeout: 120_000 }, async () => {
    const { root, write } = createScratchRepository({
      'packages/a/src/one.test.ts': testThat(''),
      'packages/a/src/two.test.ts': testThat("throw new Error('was not saved')"),
    })
    const child = spawn(process.execPath, ['scripts/test-watch.ts'], {
      cwd: root,
      env: scratchEnv,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    after(() => child.kill('SIGTERM'))
    let output = ''
    child.stdout.on('data', (bytes: Buffer) => (output += bytes.toString()))
    const printed = async (pattern: RegExp): Promise<void> => {
      while (!pattern.test(output)) await once(child.stdout, 'data')
      output = ''
    }

    await printed(/Watching .*packages\/a\/src/)
    write('packages/a/src/one.test.ts', testThat("throw new Error('first save')"))
    await printed(/one\.test\.ts\n[\s\S]*first save[\s\S]*, 1 failed/)
    write('packages/a/src/one.test.ts', testThat(''))
    await printed(/one\.test\.ts\n[\s\S]*, 0 failed/)

    child.kill('SIGTERM')
    const [code] = (await once(child, 'close')) as [number | null]
    assert.equal(code, 0)
  })
})
