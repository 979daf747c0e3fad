import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, describe, it } from 'node:test'
import { selectTests } from './select-tests.ts'

const root = mkdtempSync(join(tmpdir(), 'parley-select-'))
after(() => rmSync(root, { recursive: true, force: true }))
const src = 'packages/a/src'
const files = {
  'one.ts': 'export const one = 1',
  'one.test.ts': "import { one } from './one.ts'",
  'one-more.test.ts': "import {\n  one,\n} from './one.ts'",
  'two.tsx': "export { one } from './one.ts'",
  'two.test.ts': "import './two.tsx'",
  'deep/three.ts': "const lazy = () => import('../one.ts')",
  'deep/three.test.ts': "import './three.ts'",
  'far.ts': "import type { X } from './two.tsx'",
  'far.test.ts': "import './far.ts'",
}
for (const [name, text] of Object.entries(files)) {
  mkdirSync(dirname(join(root, src, name)), { recursive: true })
  writeFileSync(join(root, src, name), text)
}
const inSrc = (...names: readonly string[]): readonly string[] => names.map((name) => `${src}/${name}`)

describe('selectTests', () => {
  it('selects the tests of a changed file, and of the files that import it directly', () => {
    assert.deepEqual(selectTests(root, inSrc('one.ts')), {
      files: inSrc('one.test.ts', 'one-more.test.ts', 'deep/three.test.ts', 'two.test.ts'),
      leftOut: 0,
    })
  })

  it('selects a changed test itself', () => {
    assert.deepEqual(selectTests(root, inSrc('far.test.ts')).files, inSrc('far.test.ts'))
  })

  it('follows imports of types', () => {
    assert.deepEqual(selectTests(root, inSrc('two.tsx')).files, inSrc('two.test.ts', 'far.test.ts'))
  })

  it('selects the closest tests up to the maximum, and reports how many are omitted', () => {
    assert.deepEqual(selectTests(root, inSrc('far.test.ts', 'one.ts'), 2), {
      files: inSrc('far.test.ts', 'one.test.ts'),
      leftOut: 3,
    })
  })

  it('selects nothing for files that no test covers', () => {
    assert.deepEqual(selectTests(root, ['README.md', 'test/x/y.test.ts']), { files: [], leftOut: 0 })
  })
})
