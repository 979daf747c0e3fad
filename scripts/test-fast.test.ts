/** The quick check of a change must fail for type errors, lint errors and failed tests alike. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { describe, it } from 'node:test'
import { createScratchRepository, scratchEnv } from './scratch-repository.ts'

const testOf = (name: string): string =>
  `import assert from 'node:assert/strict'
import { it } from 'node:test'
import { ${name} } from './${name}.ts'
it('is one', () => { assert.equal(${name}, 1) })
`

describe('npm run test:fast', { concurrency: false }, () => {
  const { root, write } = createScratchRepository({
    'packages/a/src/one.ts': 'export const one: number = 1\n',
    'packages/a/src/one.test.ts': testOf('one'),
    'packages/a/src/other.ts': 'export const other: number = 2\n',
    'packages/a/src/other.test.ts': testOf('other'),
  })
  const fast = (...args: readonly string[]) => {
    const options = { cwd: root, env: scratchEnv, encoding: 'utf8' } as const
    const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/test-fast.ts', ...args], options)
    return { status, output: stdout + stderr, closing: stdout.trimEnd().split('\n').at(-1) ?? '' }
  }

  it('runs nothing when nothing changed', () => {
    const { status, output, closing } = fast()
    assert.match(output, /No file differs from HEAD/)
    assert.match(closing, /^0 passed, 0 failed, 0 skipped {2}\(\d+\.\d s\)$/)
    assert.equal(status, 0)
  })

  it('checks types, lint and the tests of the changed files only', () => {
    write('packages/a/src/one.ts', 'export const one: number = 2 - 1\n')
    const { status, output, closing } = fast()
    assert.equal(status, 0, output)
    for (const step of ['types', 'lint', 'units']) assert.match(output, new RegExp(`^✔ ${step}$`, 'm'))
    assert.match(closing, /^3 passed, 0 failed, 0 skipped/)
  })

  it('tests the named files', () => {
    const { status, output, closing } = fast('packages/a/src/other.ts')
    assert.equal(status, 1)
    assert.match(output, /✖ is one {2}\(packages\/a\/src\/other\.test\.ts:4\)/)
    assert.match(closing, /^2 passed, 1 failed, 0 skipped/)
  })

  it('fails for a type error, and for a lint error', () => {
    write('packages/a/src/one.ts', "export const one: number = '1'\nexport const two = { a: 1, a: 2 }\n")
    const { status, output } = fast()
    assert.equal(status, 1)
    assert.match(output, /one\.ts.*error TS2322/)
    for (const step of ['types', 'lint']) assert.match(output, new RegExp(`^✖ ${step}$`, 'm'))
  })
})
