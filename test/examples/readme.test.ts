/** The README is correct: its program runs, its calls are answered. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import type { StreamEvent } from '@parley/a2a'
import { root, runProgram } from './program.ts'

const readme = await readFile(join(root, 'README.md'), 'utf8')

function blocks(language: string, text = readme): string[] {
  return [...text.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))].map(([, code]) => code as string)
}

/** The curl commands for the demo agents, and those in a comment, which need a value first. */
function curls(marker = ''): string[] {
  return blocks('sh', readme.slice(readme.indexOf('## Try it'), readme.indexOf('## Three agents')))
    .join('\n')
    .split(new RegExp(`^(?=${marker}curl )`, 'm'))
    .filter((text) => text.startsWith(`${marker}curl `))
    .map((text) => text.slice(marker.length).split(/\n\n|\n#/)[0] as string)
}

/** The events of a stream that has ended, with their places. */
async function eventsOf(response: Response): Promise<{ readonly id: number; readonly event: StreamEvent }[]> {
  const text = await response.text()
  assert.equal(response.status, 200, text)
  return [...text.matchAll(/^id: (\d+)\ndata: (.*)$/gm)].map(([, id, data]) => ({
    id: Number(id),
    event: JSON.parse(data as string) as StreamEvent,
  }))
}

/** Converts a curl command to a fetch, so that the test needs no curl. */
function toRequest(command: string, port: string): Request {
  const filled = command.replaceAll("'$(uuidgen || cat /proc/sys/kernel/random/uuid)'", () => randomUUID())
  const words = [...filled.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare]) => quoted ?? (bare as string))
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
  it('names the two commands that run everything', () => {
    assert.match(readme, /npm ci && npm start/)
    assert.match(readme, /npm ci && npm test/)
  })

  it('shows an agent that runs as printed', async () => {
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
    const commands = curls()
    assert.equal(commands.length, 5)
    for (const command of commands) {
      const response = await fetch(toRequest(command, port))
      const text = await response.text()
      assert.equal(response.status, 200, text)
      assert.match(text, /completed|TASK_STATE_COMPLETED/, command)
    }
  })

  it('shows how to resume a stream: exactly the events after the named one arrive', async () => {
    await using hub = await runProgram(join(root, 'packages/hub/src/cli/main.ts'))
    const { port } = new URL(hub.url)
    const [stream] = curls().filter((command) => command.includes('message:stream'))
    const [resume, ...others] = curls('# ')
    assert.deepEqual(others, [])
    assert.match(resume as string, /'Last-Event-ID: 6'/)

    const all = await eventsOf(await fetch(toRequest(stream as string, port)))
    const [first] = all
    assert.ok(first !== undefined && 'task' in first.event)
    const missed = all.filter(({ id }) => id > 6)
    assert.ok(
      missed.length > 0 && missed.length < all.length - 1,
      `6 is not in the middle: ${all.map(({ id }) => id).join(' ')}`,
    )
    const command = (resume as string).replace('{id}', first.event.task.id)
    assert.deepEqual(await eventsOf(await fetch(toRequest(command, port))), missed)
  })
})
