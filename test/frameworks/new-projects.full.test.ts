/** A project that `parley init --framework` writes compiles and passes its own test, for each framework. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { it } from 'node:test'
import { createProject, frameworks, type ProjectFramework } from 'create-parley'

const compiler = join(import.meta.dirname, '../../node_modules/typescript/bin/tsc')

for (const framework of Object.keys(frameworks) as ProjectFramework[]) {
  it(`a new project for ${framework} compiles and passes its own test`, async (t) => {
    // Beside the frameworks, so that its imports find them.
    const folder = mkdtempSync(join(import.meta.dirname, '.example-'))
    t.after(() => rmSync(folder, { recursive: true, force: true }))
    await createProject(folder, { framework })
    compileSources(folder)
    const types = spawnSync(process.execPath, [compiler, '-p', folder], { encoding: 'utf8' })
    assert.equal(types.stdout, '')
    const { NODE_TEST_CONTEXT: _, ...env } = process.env
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      ['--conditions=parley-source', '--test', 'agent.test.ts'],
      { cwd: folder, encoding: 'utf8', env },
    )
    assert.equal(status, 0, stdout + stderr)
    assert.match(stdout, /pass 1/)
  })
}

/** The packages of this repository are its sources, which need these settings. */
function compileSources(folder: string): void {
  const file = join(folder, 'tsconfig.json')
  const { compilerOptions, ...rest } = JSON.parse(readFileSync(file, 'utf8')) as Record<string, object>
  const ofSources = {
    customConditions: ['parley-source'],
    exactOptionalPropertyTypes: true,
    lib: ['esnext', 'dom', 'dom.iterable'],
  }
  writeFileSync(file, JSON.stringify({ ...rest, compilerOptions: { ...compilerOptions, ...ofSources } }))
}
