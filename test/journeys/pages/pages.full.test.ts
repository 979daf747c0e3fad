/** Every page with terminals is run by a test. Its programs have correct types, and it names no package that is not ours. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { pageSteps, readPage, root } from './page-steps.ts'

const tests = globSync('*.test.ts', { cwd: import.meta.dirname })
  .map((file) => readFileSync(join(import.meta.dirname, file), 'utf8'))
  .join('\n')
const pages = [...new Set(tests.match(/(?<=')docs\/[\w/-]+\.md(?=')/g))].sort()
/** Those of this repository, because its sources are compiled, too. */
const settings = {
  extends: '../../../tsconfig.base.json',
  compilerOptions: { noEmit: true, composite: false },
  include: ['**/*.ts'],
}

describe('the tutorials and how-to guides', () => {
  it('are run by a test if they have terminals', () => {
    // The first by readme.full.test.ts, the second by the suite `deploy`.
    const others = ['docs/guides/install.md', 'docs/guides/high-availability.md']
    const walkthroughs = globSync('docs/**/*.md', { cwd: root }).filter((page) =>
      /^```sh \[terminal/m.test(readPage(page)),
    )
    assert.ok(walkthroughs.length >= 20)
    assert.deepEqual(
      walkthroughs.filter((page) => !pages.includes(page) && !others.includes(page)),
      [],
    )
  })

  it('never name the package parley, which is not ours', () => {
    assert.deepEqual(
      pages.filter((page) => /npx parley\b/.test(readPage(page))),
      [],
    )
  })

  it('have programs with correct types', async () => {
    // Inside the repository, so that imports find the packages.
    const folder = await mkdtemp(join(root, 'test/journeys/.types-'))
    try {
      await mkdir(join(folder, 'node_modules/@a2a-js'), { recursive: true })
      await symlink(join(root, 'node_modules/a2a-sdk-1'), join(folder, 'node_modules/@a2a-js/sdk'))
      await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
      await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(settings))
      let count = 0
      const files = pages.map((page) => pageSteps(readPage(page)).filter((step) => step.kind === 'file'))
      // A page with its own settings compiles its programs itself.
      for (const step of files.filter((all) => !all.some(({ name }) => name === 'tsconfig.json')).flat()) {
        if (!step.name.endsWith('.ts')) continue
        count += 1
        await mkdir(join(folder, String(count)))
        await writeFile(join(folder, String(count), step.name), step.content)
      }
      assert.ok(count >= 15)
      assert.equal(errorsOf(folder), '')
    } finally {
      await rm(folder, { recursive: true })
    }
  })
})

function errorsOf(folder: string): string {
  try {
    execFileSync(join(root, 'node_modules/.bin/tsc'), ['-p', folder], { encoding: 'utf8', stdio: 'pipe' })
    return ''
  } catch (error) {
    return (error as { stdout: string }).stdout
  }
}
