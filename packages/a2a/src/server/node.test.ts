import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { request as httpRequest, type ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { cursorExtension } from '../model/extension.ts'
import { memoryStore } from '../stores/memory/memory-store.ts'
import { sqliteStore } from '../stores/sqlite/index.ts'
import { serve, type ServeOptions, type Server } from './node.ts'
import { cursor } from './extensions/builtin-extensions.ts'
import { requireNode } from './http/start-errors.ts'

let directory = ''
const servers: Server[] = []
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'parley-'))
})
after(async () => {
  await Promise.all(servers.map((server) => server.close()))
  await rm(directory, { recursive: true })
})
async function open(options: ServeOptions): Promise<Server> {
  const server = await serve({ port: 0, ...options })
  servers.push(server)
  return server
}
let count = 0
const post = (url: string, text = 'hi', headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${url}/message:send`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ message: { messageId: `m${++count}`, role: 'ROLE_USER', parts: [{ text }] } }),
  })
/** With an arbitrary Host, which fetch does not allow. */
function statusFor(server: Server, host: string, headers: Record<string, string> = {}): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    httpRequest(
      { host: '127.0.0.1', port: server.port, path: '/tasks/x', headers: { host, ...headers } },
      (response) => {
        response.resume()
        resolve(response.statusCode)
      },
    )
      .on('error', reject)
      .end()
  })
}

describe('serve', () => {
  it('turns a function into an agent: both bindings, a card, and durable tasks', async () => {
    const dataDir = join(directory, 'data')
    const options: ServeOptions = {
      name: 'Greeter',
      dataDir,
      async *agent({ text }) {
        yield `Hello, ${text}!`
      },
    }
    const server = await open(options)
    assert.equal(server.url, `http://127.0.0.1:${server.port}`)
    const { task } = JSON.parse(await (await post(server.url, 'you')).text())
    assert.equal(task.artifacts[0].parts[0].text, 'Hello, you!')
    const card = JSON.parse(await (await fetch(`${server.url}/.well-known/agent-card.json`)).text())
    assert.deepEqual([card.name, card.url], ['Greeter', `${server.url}/a2a`])
    await server.close()

    const again = await open(options)
    const read = JSON.parse(await (await fetch(`${again.url}/tasks/${task.id}`)).text())
    assert.equal(read.status.state, 'TASK_STATE_COMPLETED')
    const { mode } = await stat(join(dataDir, 'parley.db.key'))
    assert.equal(mode & 0o777, 0o600)
  })

  it('gives each of several agents its own path', async () => {
    const { url } = await open({
      store: memoryStore(),
      agents: { echo: ({ text }) => text, shout: ({ text }) => text.toUpperCase() },
    })
    const answerOf = async (path: string): Promise<string> => {
      const { task } = JSON.parse(await (await post(`${url}${path}`, 'hey')).text())
      return task.artifacts[0].parts[0].text
    }
    assert.deepEqual(
      [await answerOf('/a2a/echo'), await answerOf('/a2a/shout'), await answerOf('')],
      ['hey', 'HEY', 'hey'],
    )
    const { task } = JSON.parse(await (await post(`${url}/a2a/shout`)).text())
    assert.equal((await fetch(`${url}/a2a/echo/tasks/${task.id}`)).status, 404)
    assert.equal((await fetch(`${url}/a2a/shout/tasks/${task.id}`)).status, 200)
  })

  it('reports missing events, on request, when the log no longer reaches back to a cursor [B-109]', async () => {
    const file = join(directory, 'pruned.db')
    const first = await open({ store: sqliteStore(file), agent: () => 'x'.repeat(100_000) })
    const { task } = JSON.parse(await (await post(first.url)).text())
    await first.close()
    const store = sqliteStore(file)
    assert.equal(await store.prune({ logBefore: Date.now() + 60_000, batch: 10 }), 1)
    await store.close()

    const second = await open({ store: sqliteStore(file), agent: () => 'x', extensions: [cursor()] })
    const resume = async (headers: Record<string, string>): Promise<Record<string, unknown>> => {
      const stream = await fetch(`${second.url}/tasks/${task.id}:subscribe`, {
        headers: { 'last-event-id': '1', ...headers },
      })
      return JSON.parse(/data: (.*)/.exec(await stream.text())?.[1] ?? '{}').task.metadata
    }
    assert.deepEqual(await resume({}), undefined)
    const { [cursorExtension]: note } = await resume({ 'a2a-extensions': cursorExtension })
    assert.equal((note as { gap: boolean }).gap, true)
  })

  it('answers local requests only, without authentication', async () => {
    const server = await open({ store: memoryStore(), agent: () => 'x', publicUrl: 'https://mine.example:8443/x' })
    assert.equal(await statusFor(server, `localhost:${server.port}`), 404)
    assert.equal(await statusFor(server, 'mine.example'), 404)
    assert.equal(await statusFor(server, 'evil.example'), 403)
    assert.equal(await statusFor(server, `127.0.0.1:${server.port}`, { origin: 'https://evil.example' }), 403)
    const guarded = await open({ store: memoryStore(), agent: () => 'x', authenticate: () => ({ id: 'a' }) })
    assert.equal(await statusFor(guarded, 'any.example'), 404)
  })

  it('lets a response finish before it closes, and ends a stream with a retry error', async () => {
    let release: () => void = () => {}
    const held = new Promise<void>((resolve) => (release = resolve))
    let started: () => void = () => {}
    const running = new Promise<void>((resolve) => (started = resolve))
    const server = await open({
      store: memoryStore(),
      drainMs: 1_000,
      async *agent({ text }) {
        yield 'one'
        if (text === 'long') await new Promise(() => {})
        started()
        await held
      },
    })
    const stream = await fetch(`${server.url}/message:stream`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ message: { messageId: 'long', role: 'ROLE_USER', parts: [{ text: 'long' }] } }),
    })
    const short = post(server.url, 'short')
    await running
    const closing = server.close()
    release()
    assert.equal(JSON.parse(await (await short).text()).task.status.state, 'TASK_STATE_COMPLETED')
    await closing
    assert.match(await stream.text(), /event: error\ndata: .*UNAVAILABLE/)
    await assert.rejects(fetch(server.url))
  })

  it('closes within its time limit whatever an agent does', { timeout: 120_000 }, async () => {
    const server = await open({ store: memoryStore(), drainMs: 50, agent: () => new Promise<string>(() => {}) })
    const hanging = post(server.url).catch(() => undefined)
    await new Promise((resolve) => server.server.once('request', resolve))
    await server.close()
    await hanging
  })

  it('disconnects a client that does not read a response, and not one that waits for one [B-95]', async () => {
    const big = 'x'.repeat(20_000_000)
    let release: () => void = () => {}
    const held = new Promise<void>((resolve) => (release = resolve))
    const server = await open({
      store: memoryStore(),
      stallMs: 500,
      agent: ({ text }) => (text === 'wait' ? held.then(() => 'waited') : big),
    })
    const waiting = post(server.url, 'wait')
    const { task } = JSON.parse(await (await post(server.url, 'big')).text())
    assert.equal(task.artifacts[0].parts[0].text.length, big.length)
    const socket = connect(server.port, '127.0.0.1').on('error', () => {})
    socket.pause()
    socket.write(`GET /tasks/${task.id} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
    const [, response] = (await once(server.server, 'request')) as [unknown, ServerResponse]
    await once(response, 'close')
    socket.resume()
    await once(socket, 'close')
    assert.ok(socket.bytesRead < big.length)
    release()
    assert.equal(JSON.parse(await (await waiting).text()).task.artifacts[0].parts[0].text, 'waited')
  })

  it('rejects if it cannot listen, and closes its store', async () => {
    const taken = await open({ store: memoryStore(), agent: () => 'x' })
    const path = join(directory, 'other.db')
    await assert.rejects(serve({ port: taken.port, store: sqliteStore(path), agent: () => 'x' }), {
      code: 'EADDRINUSE',
    })
    await sqliteStore(path).close()
  })

  it('closes its store if the options are invalid, wherever that is detected', async () => {
    const path = join(directory, 'mistaken.db')
    const mistakes: Partial<ServeOptions>[] = [{ publicUrl: 'mine.example' }, { prefix: '/a b' }, { versions: [] }]
    for (const mistake of mistakes) {
      const store = sqliteStore(path)
      await assert.rejects(serve({ port: 0, store, agent: () => 'x', ...mistake } as ServeOptions), {
        name: 'ConfigError',
      })
      await sqliteStore(path).close()
    }
  })

  it('rejects a directory that another server uses in one sentence that names the option, without a stack', async () => {
    const dataDir = join(directory, 'twice')
    await open({ agent: () => 'x', dataDir })
    const message = `dataDir: ${join(dataDir, 'parley.db')} is in use by another store, of this process or another one. Close that one, or choose another directory.`
    await assert.rejects(serve({ port: 0, agent: () => 'x', dataDir }), {
      name: 'ConfigError',
      path: 'dataDir',
      message,
      stack: `ConfigError: ${message}`,
    })
  })

  it('rejects an invalid description, with the path of the error', async () => {
    const store = memoryStore()
    await assert.rejects(serve({ store, agents: { tasks: () => 'x' } }), { name: 'ConfigError', path: 'agents.tasks' })
    await assert.rejects(serve({ store, agent: () => 'x', publicUrl: 'mine.example' }), { path: 'publicUrl' })
    await assert.rejects(serve({ store, agent: () => 'x', prefix: '/a b' }), { path: 'prefix' })
  })

  it('reports the required Node version to an older one', () => {
    for (const old of ['20.19.0', '22.17.1', '18.0.0'])
      assert.throws(() => requireNode(old), /requires Node\.js 22\.18/)
    for (const fine of ['22.18.0', '24.0.0', process.versions.node]) assert.doesNotThrow(() => requireNode(fine))
  })
})
