/** Every page of this suite is run by a test, its programs have correct types, and it names no package that is not ours. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { pageSteps, readPage, root } from './page-steps.ts'
import { guides, tutorials } from './pages.ts'

const pages = [...tutorials, ...guides]
/** Those of this repository, because its sources are compiled, too. */
const settings = {
  extends: '../../../tsconfig.base.json',
  compilerOptions: { noEmit: true, composite: false },
  include: ['**/*.ts'],
}

describe('the tutorials and how-to guides', () => {
  it('are run by a test', () => {
    assert.ok(tutorials.length >= 4)
    const tests = globSync('*.test.ts', { cwd: import.meta.dirname })
      .map((file) => readFileSync(join(import.meta.dirname, file), 'utf8'))
      .join('\n')
    assert.deepEqual(
      pages.filter((page) => !tests.includes(`'${page}'`)),
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
      for (const step of pages.flatMap((page) => pageSteps(readPage(page)))) {
        if (step.kind !== 'file' || !step.name.endsWith('.ts')) continue
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
