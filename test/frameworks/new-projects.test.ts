/** The test of a project that `parley init --framework` writes passes, for each framework. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { it } from 'node:test'
import { createProject, frameworks, type ProjectFramework } from 'create-parley'

for (const framework of Object.keys(frameworks) as ProjectFramework[]) {
  it(`a new project for ${framework} passes its own test`, async (t) => {
    // Beside the frameworks, so that its imports find them.
    const folder = mkdtempSync(join(import.meta.dirname, '.example-'))
    t.after(() => rmSync(folder, { recursive: true, force: true }))
    await createProject(folder, { framework })
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
