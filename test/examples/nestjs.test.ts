/** The example `nestjs`: the compiler has to turn its decorators into metadata, so it is built before its own tests run. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { after, it } from 'node:test'
import { root } from './program.ts'

// Below the root, where the packages are found.
const folder = mkdtempSync(join(root, 'test/examples/.nestjs-'))
after(() => rmSync(folder, { recursive: true, force: true }))

function run(command: string, ...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: root, encoding: 'utf8', env: childEnv() })
  assert.equal(status, 0, stdout + stderr)
  return stdout
}

/** Without the mark of the runner: with it, tests would report to this process. */
function childEnv(): NodeJS.ProcessEnv {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  return env
}

it('is an application of NestJS whose bots are agents: its types are correct, and its tests pass', () => {
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const options = ['--customConditions', 'parley-source', '--rootDir', root, '--outDir', folder]
  run(process.execPath, tsc, '-p', 'examples/nestjs', ...options)
  const tests = join(folder, 'examples/nestjs/app.e2e-spec.js')
  const report = run(process.execPath, '--conditions=parley-source', '--test', '--test-reporter=tap', tests)
  assert.match(report, /^# pass 6$/m)
})
