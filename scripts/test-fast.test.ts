/** The quick check of a change must fail for type errors, lint errors and failed tests alike. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { describe, it } from 'node:test'
import { createScratchRepository, scratchEnv } from './scratch-repository.ts'

describe('npm run test:fast', { concurrency: false }, () => {
  const { root, write } = createScratchRepository({
    'packages/a/src/one.ts': 'export const one: number = 1\n',
    'packages/a/src/one.test.ts': `import assert from 'node:assert/strict'
import { it } from 'node:test'
import { one } from './one.ts'
it('is one', () => { assert.equal(one, 1) })
`,
    'packages/a/src/other.test.ts': "import { it } from 'node:test'\nit('did not change', () => {})\n",
  })
  const fast = () => {
    const options = { cwd: root, env: scratchEnv, encoding: 'utf8' } as const
    const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/test-fast.ts'], options)
    return { status, output: stdout + stderr, closing: stdout.trimEnd().split('\n').at(-1) ?? '' }
  }

  it('runs nothing when nothing changed', () => {
    const { status, output, closing } = fast()
    assert.match(output, /No file differs from HEAD/)
    assert.match(closing, /^0 passed, 0 failed, 0 skipped {2}\(\d+\.\d s\)$/)
    assert.equal(status, 0)
  })

  it('fails for a type error, a lint error and a failed test of a changed file', () => {
    write('packages/a/src/one.ts', "export const one: number = '1'\nexport const two = { a: 1, a: 2 }\n")
    const { status, output, closing } = fast()
    assert.equal(status, 1)
    assert.match(output, /one\.ts.*error TS2322/)
    assert.match(output, /✖ is one {2}\(packages\/a\/src\/one\.test\.ts:4\)/)
    for (const step of ['types', 'lint', 'units']) assert.match(output, new RegExp(`^✖ ${step}$`, 'm'))
    assert.match(closing, /^0 passed, 3 failed, 0 skipped/)
  })
})
