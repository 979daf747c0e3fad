/** Projects for agents of frameworks. That their agents run is shown by test/frameworks. */
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import { frameworks } from './index.ts'
import { runCreate } from './run-create.ts'

const root = join(import.meta.dirname, '../../..')
const read = (...path: readonly string[]): string => readFileSync(join(...path), 'utf8')
const manifestIn = (folder: string) =>
  JSON.parse(read(folder, 'package.json')) as { readonly dependencies: Readonly<Record<string, string>> }

for (const name of Object.keys(frameworks)) {
  it(`writes a project for ${name}: the agent of the example, with the tested packages`, async (t) => {
    const cwd = mkdtempSync(join(tmpdir(), 'parley-create-'))
    t.after(() => rmSync(cwd, { recursive: true }))
    const errors: string[] = []
    const terminal = { cwd, print() {}, printError: (line: string) => void errors.push(line) }
    assert.equal(await runCreate(['project', '--framework', name], terminal), 0, errors.join('\n'))
    const project = join(cwd, 'project')
    for (const file of ['agent.ts', 'offline-model.ts']) {
      const example = join(root, 'examples', name, file)
      assert.equal(existsSync(join(project, file)), existsSync(example), file)
      if (existsSync(example)) assert.equal(read(project, file), read(example))
    }
    const tested = manifestIn(join(root, 'test/frameworks')).dependencies
    for (const [packageName, version] of Object.entries(manifestIn(project).dependencies))
      if (!packageName.startsWith('@parley/')) assert.equal(version, tested[packageName], packageName)
    assert.match(read(project, 'parley.yaml'), /kind: module/)
    const listed = Object.keys(manifestIn(project).dependencies)
    for (const file of ['agent.ts', 'agent.test.ts', 'offline-model.ts'].filter((one) =>
      existsSync(join(project, one)),
    ))
      for (const [, imported = ''] of read(project, file).matchAll(/ from '((?:@[^/']+\/)?[^./@'][^/']*)/g))
        if (!imported.startsWith('node:')) assert.ok(listed.includes(imported), `${file} imports ${imported}`)
  })
}

it('refuses an unknown framework, and names those that there are', async () => {
  const errors: string[] = []
  const terminal = { cwd: tmpdir(), print() {}, printError: (line: string) => void errors.push(line) }
  assert.equal(await runCreate(['x', '--framework=rails'], terminal), 1)
  assert.deepEqual(errors, [
    'Unknown framework rails. Choose one of: ai-sdk, langgraph, mastra, openai-agents, claude.',
  ])
})
