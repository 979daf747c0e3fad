/** The README is correct: its program runs, and it has the commands and statements that users rely on. */
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { root, runProgram } from './program.ts'

const readme = await readFile(join(root, 'README.md'), 'utf8')

describe('the README', () => {
  it('names the two commands that run everything', () => {
    assert.match(readme, /npm ci && npm start/)
    assert.match(readme, /npm ci && npm test/)
  })

  it('states that the agent declares whether its task continues after a crash', () => {
    assert.match(readme, /declared by\s+the agent/)
    assert.match(readme, /plain function.*ends as FAILED/s)
  })

  it('never names the package that is not ours', () => assert.doesNotMatch(readme, /npx parley/))

  it('shows an agent that runs as printed', async () => {
    const program = /```ts\n([\s\S]*?)```/.exec(readme)?.[1] ?? ''
    // Inside the repository, so that the import finds the package.
    const folder = await mkdtemp(join(root, 'test/examples/.readme-'))
    try {
      const file = join(folder, 'main.ts')
      await writeFile(file, program)
      await using running = await runProgram(file)
      const response = await fetch(`${running.url}/.well-known/agent-card.json`)
      assert.equal(((await response.json()) as { name: string }).name, 'Greeter')
    } finally {
      await rm(folder, { recursive: true })
    }
  })
})
