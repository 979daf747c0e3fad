/**
 * The quick start of the README, as written: from nothing to three agents of three kinds, with real clients of two versions at
 * each of them. Only the ports differ, to avoid conflicts.
 */
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, describe, it } from 'node:test'
import type { Message as Message0_3, Task as Task0_3 } from 'a2a-sdk-0.3'
import { ClientFactory as ClientFactory0_3 } from 'a2a-sdk-0.3/client'
import { SendMessageRequest, Task } from 'a2a-sdk-1'
import { ClientFactory } from 'a2a-sdk-1/client'
import { newFolder } from './running-hub.ts'

const root = join(import.meta.dirname, '../..')
const readme = await readFile(join(root, 'README.md'), 'utf8')
const from = readme.indexOf('## Three agents of three kinds')
const section = readme.slice(from, readme.indexOf('\n## ', from + 1))
const blocks = (language: string): readonly string[] =>
  [...section.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))].map(([, code = '']) => code)

/** A line of the README as a process. Resolves with the line that it prints when it is ready. */
async function run(line: string, env: Record<string, string>, pattern: RegExp): Promise<string> {
  const child = spawn('sh', ['-c', `exec ${line}`], {
    cwd: root,
    env: { PATH: `${join(root, 'node_modules/.bin')}:${process.env['PATH']}`, HOME: process.env['HOME'], ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    // npm starts child processes: all of them are ended together.
    detached: true,
  })
  after(() => {
    try {
      process.kill(-(child.pid ?? 0), 'SIGKILL')
    } catch {
      // It has already exited.
    }
  })
  const said: string[] = []
  const found = Promise.withResolvers<string>()
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (text) => {
      said.push(text)
      if (pattern.test(text)) found.resolve(text)
    })
  }
  void once(child, 'exit').then(() => found.reject(new Error(`${line} ended:\n${said.join('\n')}`)))
  return found.promise
}

const expected: readonly [agent: string, text: string, answer: string][] = [
  ['greeter', 'you', 'Hello, you!'],
  ['words', 'one two three', '3'],
  ['gpt', 'Hello', 'You said "Hello", and I am only a script.'],
]

describe('the quick start of the README', { timeout: 120_000 }, () => {
  it('leads to three agents of three kinds, called by clients of 0.3 and 1.0, in under two minutes', async () => {
    const startedAt = performance.now()
    const [file = ''] = blocks('yaml')
    const [start = '', calls = ''] = blocks('sh')
    const example = await readFile(join(root, 'examples/hub/parley.yaml'), 'utf8')
    const withoutComment = (text: string): string => text.slice(text.indexOf('agents:'))
    assert.equal(withoutComment(file), withoutComment(example))

    const lines = start.split('\n').map((line) => line.replace(/\s*(&\s*)?(#.*)?$/, ''))
    const [install, model = '', hub = ''] = lines
    assert.equal(install, 'npm ci')
    const modelUrl = /http:\S+/.exec(await run(model, { PORT: '0' }, /scripted model is at/))?.[0] ?? ''
    const folder = await newFolder()
    await cp(join(root, 'examples/hub'), folder, { recursive: true })
    await writeFile(join(folder, 'parley.yaml'), example.replace('http://127.0.0.1:4010/v1', modelUrl))
    const listening = await run(hub.replace('examples/hub/', `${folder}/`), { PORT: '0' }, /listening on/)
    const url = /http:\S+/.exec(listening)?.[0] ?? ''

    const commands = calls.split(/^(?=curl )/m).filter((text) => text.startsWith('curl '))
    assert.equal(commands.length, 3)
    for (const command of commands) {
      const ids: string[] = []
      // A second run of the same snippet is answered as well.
      for (const _ of [1, 2]) {
        const answer = await fetch(...requestOf(command, url))
        assert.equal(answer.status, 200, command)
        const text = await answer.text()
        assert.equal(JSON.parse(text).error, undefined, command)
        ids.push(/"id":"([^"]+)"/.exec(text)?.[1] ?? '')
      }
      if (command.includes('messageId')) assert.notEqual(ids[0], ids[1], command)
    }

    for (const [agent, text, answer] of expected) {
      const card = `/a2a/${agent}/.well-known/agent-card.json`
      const old = await new ClientFactory0_3().createFromUrl(url, card)
      const oldTask = (await old.sendMessage({ message: oldMessage(text) })) as Task0_3
      assert.equal(textOf(oldTask), answer, `${agent} to a client of 0.3`)
      const client = await new ClientFactory().createFromUrl(url, card)
      const said = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }] }
      const task = await client.sendMessage(SendMessageRequest.fromJSON({ message: said }))
      assert.equal(textOf(Task.toJSON(task as Task) as Answered), answer, `${agent} to a client of 1.0`)
    }
    const seconds = (performance.now() - startedAt) / 1_000
    assert.ok(seconds < 120, `it took ${seconds} s`)
  })
})

function oldMessage(text: string): Message0_3 {
  return { kind: 'message', messageId: crypto.randomUUID(), role: 'user', parts: [{ kind: 'text', text }] }
}

interface Answered {
  readonly artifacts?: readonly { readonly parts: readonly object[] }[]
}

function textOf({ artifacts = [] }: Answered): string {
  const parts = artifacts.flatMap((artifact) => artifact.parts) as { text?: string }[]
  return parts
    .map(({ text = '' }) => text)
    .join('')
    .trim()
}

/** Converts a curl command to a fetch, so that the test needs no curl: a shell expands it, including generated ids. */
function requestOf(command: string, url: string): [string, RequestInit] {
  const script = `curl() { printf '%s\\0' "$@"; }; ${command}`
  const words = execFileSync('sh', ['-c', script], { encoding: 'utf8', stdio: 'pipe' }).split('\0')
  const after = (flag: string): string[] =>
    words.flatMap((word, at) => (word === flag ? [words[at + 1] as string] : []))
  const address = words.find((word) => word.startsWith('http://')) ?? ''
  const [body] = after('-d')
  const headers = after('-H').map((header) => header.split(': ') as [string, string])
  const sent = body === undefined ? {} : { method: 'POST', body }
  return [address.replace('http://127.0.0.1:3000', url), { headers, ...sent }]
}
