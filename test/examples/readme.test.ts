/** The README does what it says: its program runs, its calls are answered. */
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { root, runProgram } from './program.ts'

const readme = await readFile(join(root, 'README.md'), 'utf8')

function blocks(language: string): string[] {
  return [...readme.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))].map(
    ([, code]) => code as string,
  )
}

/** A curl command as the fetch it stands for, so that the test needs no curl. */
function toRequest(command: string, port: string): Request {
  const words = [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare]) => quoted ?? (bare as string))
  const url = words.find((word) => word.startsWith('http://')) as string
  const after = (flag: string): string[] =>
    words.flatMap((word, at) => (word === flag ? [words[at + 1] as string] : []))
  const [body] = after('-d')
  return new Request(url.replace('127.0.0.1:3000', `127.0.0.1:${port}`), {
    method: after('-X')[0] ?? (body === undefined ? 'GET' : 'POST'),
    headers: after('-H').map((header) => header.split(': ') as [string, string]),
    ...(body !== undefined ? { body } : {}),
  })
}

describe('the README', () => {
  it('names the two commands that do all', () => {
    assert.match(readme, /npm ci && npm start/)
    assert.match(readme, /npm ci && npm test/)
  })

  it('shows an agent that runs as it is printed', async () => {
    const [program] = blocks('ts')
    // Inside the repository, so that the import finds the package.
    const folder = await mkdtemp(join(root, 'test/examples/.readme-'))
    try {
      const file = join(folder, 'main.ts')
      await writeFile(file, program as string)
      await using running = await runProgram(file)
      const response = await fetch(`${running.url}/.well-known/agent-card.json`)
      assert.equal(((await response.json()) as { name: string }).name, 'Greeter')
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  it('shows calls that a started hub answers', async () => {
    await using hub = await runProgram(join(root, 'packages/hub/src/cli/main.ts'))
    const { port } = new URL(hub.url)
    const commands = blocks('sh')
      .join('\n')
      .split(/^(?=curl )/m)
      .filter((text) => text.startsWith('curl '))
      .map((text) => text.split(/\n\n|\n#/)[0] as string)
    assert.equal(commands.length, 5)
    for (const command of commands) {
      const response = await fetch(toRequest(command, port))
      const text = await response.text()
      assert.equal(response.status, 200, text)
      assert.match(text, /completed|TASK_STATE_COMPLETED/, command)
    }
  })
})
