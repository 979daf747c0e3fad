import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import { memoryStore } from '../stores/memory/memory-store.ts'
import { announce, type ListeningServer } from './announce.ts'
import { serve, type ServeOptions } from './node.ts'

type Listening = Omit<ListeningServer, 'store'>

function lines(listening: Listening, { quiet = false, isTerminal = false } = {}): readonly string[] {
  const printed: string[] = []
  const store = 'SQLite in .parley/parley.db'
  announce({ ...listening, store }, { quiet, log: undefined, isTerminal, print: (line) => printed.push(line) })
  return printed
}

const url = 'http://127.0.0.1:3000'

describe('the address of a server', () => {
  it('is printed with its card, or with the paths of its agents', () => {
    assert.deepEqual(lines({ url, agents: [{ name: 'Greeter', path: '' }] }), [
      'Greeter is listening on http://127.0.0.1:3000',
      'Agent card: http://127.0.0.1:3000/.well-known/agent-card.json',
    ])
    const agents = ['ann', 'bob'].map((name) => ({ name, path: `/a2a/${name}` }))
    assert.deepEqual(lines({ url, grpcPort: 3001, agents }), [
      '2 agents are listening on http://127.0.0.1:3000, gRPC on port 3001',
      '/a2a/ann, /a2a/bob',
    ])
    assert.deepEqual(lines({ url, agents }, { quiet: true, isTerminal: true }), [])
  })

  it('is followed by the store on a terminal', () => {
    const agents = [{ name: 'Greeter', path: '' }]
    assert.deepEqual(lines({ url, agents }, { isTerminal: true }), [
      ...lines({ url, agents }),
      'Store: SQLite in .parley/parley.db',
    ])
  })

  it('is written to a given log instead', async () => {
    const entries: unknown[] = []
    const log = { debug() {}, warn() {}, error() {}, info: (...said: unknown[]) => entries.push(said) }
    const server = await serve({ port: 0, store: memoryStore(), agent: () => 'hi', log })
    await server.close()
    assert.deepEqual(entries, [['listening', { url: server.url }]])
  })

  it('comes with one warning if everyone on a network may call the agents, also if it is quiet', async (t) => {
    const printed = t.mock.method(console, 'error', () => {})
    const warnings: unknown[] = []
    const log = { debug() {}, info() {}, error() {}, warn: (message: string) => warnings.push(message) }
    const open = async (options: Partial<ServeOptions>): Promise<void> => {
      const server = await serve({ port: 0, store: memoryStore(), agent: () => 'hi', ...options } as ServeOptions)
      await server.close()
    }
    const text = 'everyone who reaches 0.0.0.0 can call the agents: set `authenticate`, or listen on 127.0.0.1'
    await open({ host: '0.0.0.0', log })
    assert.deepEqual(warnings, [text])
    await open({ host: '0.0.0.0', quiet: true })
    assert.deepEqual(
      printed.mock.calls.map((call) => call.arguments),
      [[`Warning: ${text}.`]],
    )
    await open({ host: '0.0.0.0', log, authenticate: () => ({ id: 'a' }) })
    for (const host of ['127.0.0.1', 'localhost']) await open({ host, log })
    assert.equal(warnings.length, 1)
  })

  it('does not depend on variables of the environment', async (t) => {
    const before = process.env['PORT']
    process.env['PORT'] = 'not a port'
    t.after(() => (before === undefined ? delete process.env['PORT'] : (process.env['PORT'] = before)))
    const server = await serve({ port: 0, quiet: true, store: memoryStore(), agent: () => 'hi' })
    await server.close()
  })

  it('is printed by a program on stderr, and a port in use is one sentence there', async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'parley-announce-'))
    t.after(() => rm(folder, { recursive: true }))
    const moduleUrl = JSON.stringify(new URL('./node.ts', import.meta.url).href)
    const program = `
      const { serve } = await import(${moduleUrl})
      const server = await serve({ name: 'Greeter', port: 0, agent: () => 'hi' })
      console.log(server.url)
      await serve({ name: 'Other', port: server.port, dataDir: './other', agent: () => 'hi' })`
    const child = spawn(process.execPath, ['--conditions=parley-source', '--input-type=module', '-e', program], {
      cwd: folder,
    })
    const [stdout, stderr, code] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      new Promise<number | null>((resolve) => child.once('close', resolve)),
    ])
    const at = stdout.trim()
    assert.equal(code, 1)
    const said = stderr.split('\n').filter((line) => line.includes('127.0.0.1'))
    assert.deepEqual(said.slice(0, 2), [
      `Greeter is listening on ${at}`,
      `Agent card: ${at}/.well-known/agent-card.json`,
    ])
    const { host } = new URL(at)
    assert.doesNotMatch(stderr, /^Store:/m)
    assert.ok(said[2]?.includes(`port: ${host} is already in use: choose another port`), stderr)
    assert.doesNotMatch(stderr, /^ +at /m)
  })
})
