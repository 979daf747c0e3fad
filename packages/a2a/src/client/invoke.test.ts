import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, describe, it } from 'node:test'
import type { Agent } from '../agents/agent.ts'
import { artifact, fail, inputRequired, reject, reply, status } from '../agents/reports.ts'
import { memoryStore } from '../stores/memory/memory-store.ts'
import { serve, type Server as ServedAgent } from '../server/node.ts'
import { openScriptedPeers } from '../testing/fixtures/scripted-peer.ts'
import { eventually } from '../testing/fixtures/eventually.ts'
import { invoke } from './invoke.ts'

const openOddPeer = openScriptedPeers()
const served: ServedAgent[] = []
const servers: Server[] = []
after(async () => {
  await Promise.all(served.map((server) => server.close()))
  await Promise.all(servers.map(close))
})
async function close(server: Server): Promise<void> {
  server.closeAllConnections()
  server.close()
  await once(server, 'close')
}
async function open(agent: Agent, settings: object = {}): Promise<string> {
  const server = await serve({ name: 'Agent', port: 0, store: memoryStore(), agent, ...settings })
  served.push(server)
  return server.url
}
const limits = { pollMs: 5, firstDelayMs: 1, maxDelayMs: 5 }

describe('invoke', () => {
  it('returns the text of the artifacts and the id of the task [S0-7 S0-11 S0-31]', async () => {
    const url = await open(async function* ({ text }) {
      yield status('thinking')
      yield 'You said '
      yield text
    })
    const { taskId, ...rest } = await invoke(url, 'hi')
    assert.match(taskId ?? '', /^[\da-f-]{36}$/)
    assert.deepEqual(rest, { success: true, responseText: 'You said hi', error: undefined })
  })

  it('returns the last message of the agent without an artifact [S0-25]', async () => {
    const url = await open(async function* () {
      yield status('one')
      yield { state: 'TASK_STATE_COMPLETED', message: 'two' }
    })
    assert.equal((await invoke(url, 'hi')).responseText, 'two')
    const direct = await invoke(await open(() => reply('Hello')), 'hi')
    assert.deepEqual(direct, { success: true, taskId: undefined, responseText: 'Hello', error: undefined })
  })

  it('returns the reason of a failure: of the agent, or its own [S0-34]', async () => {
    const failed = await invoke(await open(() => fail('The upstream is down')), 'hi')
    assert.deepEqual(
      [failed.success, failed.error, failed.responseText],
      [false, 'The upstream is down', 'The upstream is down'],
    )
    assert.equal((await invoke(await open(() => reject('Not my job')), 'hi')).error, 'Not my job')
    const halfway = await invoke(
      await open(async function* () {
        yield artifact('a', { text: 'half of it' })
        yield fail('and then it broke')
      }),
      'hi',
    )
    assert.deepEqual([halfway.error, halfway.responseText], ['and then it broke', 'half of it'])
    const wordless = await openOddPeer(() => [
      { kind: 'task', id: 't', contextId: 'c', status: { state: 'failed' } },
      'end',
    ])
    assert.deepEqual(await invoke(wordless.url, 'hi'), {
      success: false,
      taskId: 't',
      responseText: '',
      error: 'Task failed',
    })
    const asked = await invoke(await open(() => inputRequired('Which city?')), 'hi')
    assert.deepEqual([asked.success, asked.error], [false, 'Which city?'])
  })

  it('sends the skill and the context [S0-11]', async () => {
    const url = await open(({ metadata, task }) => `${JSON.stringify(metadata)} ${task.contextId}`)
    const { responseText } = await invoke(url, 'hi', { skill: 'translate', contextId: 'c-1' })
    assert.equal(responseText, '{"skillId":"translate"} c-1')
  })

  it('polls without a stream [S0-24]', async () => {
    let looks = 0
    const url = await open(
      async function* () {
        yield status('working')
        await eventually(() => looks >= 3)
        yield 'done'
      },
      { streaming: false },
    )
    const watched: string[] = []
    const result = await invoke(url, 'hi', {
      limits,
      interceptors: [
        (call, next) => {
          watched.push(call.operation)
          if (call.operation === 'GetTask') looks++
          return next(call)
        },
      ],
    })
    assert.deepEqual([result.success, result.responseText], [true, 'done'])
    assert.equal(watched[0], 'SendMessage')
    assert.ok(watched.filter((operation) => operation === 'GetTask').length >= 3)
  })

  it('times out, and returns the id of the task that it leaves behind [S0-34]', async () => {
    const url = await open(async function* ({ signal }) {
      yield status('working')
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
    })
    const result = await invoke(url, 'hi', { timeoutMs: 1_000 })
    assert.deepEqual([result.success, result.error], [false, 'Timed out after 1000ms'])
    assert.notEqual(result.taskId, undefined)
    const aborted = await invoke(url, 'hi', { signal: AbortSignal.abort(new Error('not now')) })
    assert.deepEqual([aborted.success, aborted.error], [false, 'not now'])
  })

  it('never throws: no connection, no card, a refusal, no url [S0-34]', async () => {
    const gone = createServer().listen(0, '127.0.0.1')
    await once(gone, 'listening')
    const url = `http://127.0.0.1:${(gone.address() as AddressInfo).port}`
    await close(gone)
    assert.match((await invoke(url, 'hi', { limits })).error ?? '', /cannot be reached/)
    assert.match((await invoke('no url', 'hi')).error ?? '', /no url|URL/)
    const empty = await listen(() => ({ status: 404 }))
    assert.match((await invoke(empty.url, 'hi')).error ?? '', /no agent card/)
    const locked = await open(() => 'secret', { authenticate: () => undefined })
    const refused = await invoke(locked, 'hi')
    assert.equal(refused.success, false)
    assert.match(refused.error ?? '', /^Submit failed: /)
    const broken = await listen(({ path, origin }) =>
      path.endsWith('agent-card.json')
        ? { status: 200, body: { name: 'B', version: '1', protocolVersion: '0.3.0', url: `${origin}/rpc` } }
        : { status: 500 },
    )
    assert.match((await invoke(broken.url, 'hi', { limits })).error ?? '', /^Submit failed: .*HTTP 500/)
  })
})

interface Asked {
  readonly method: string
  readonly path: string
  readonly body: any
  readonly headers: IncomingHttpHeaders
  readonly origin: string
}

async function listen(answer: (asked: Asked) => { status: number; body?: unknown }) {
  const asked: Asked[] = []
  const server = createServer((req, res) => {
    let text = ''
    req.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
    req.on('end', () => {
      const { method = '', url: path = '', headers } = req
      const one = {
        method,
        path,
        headers,
        origin: `http://${headers.host}`,
        body: text === '' ? undefined : JSON.parse(text),
      }
      asked.push(one)
      const { status, body } = answer(one)
      res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body ?? { error: 'no' }))
    })
  }).listen(0, '127.0.0.1')
  servers.push(server)
  await once(server, 'listening')
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked }
}

describe('a peer without interfaces', () => {
  const said = (role: string, text: string) => ({ role, parts: [{ type: 'text', text }] })
  const flat = (state: string, ...messages: object[]) => ({
    id: 'task 1',
    state,
    messages: [said('user', 'Summarize this'), ...messages],
    sessionId: null,
    createdAt: '2026-02-26T10:00:00.000Z',
    updatedAt: '2026-02-26T10:00:00.000Z',
  })
  const card = { name: 'Old', version: '0.9.0', authentication: { schemes: ['Bearer'] }, skills: [] }

  /** Responds to polls of the task in order, and repeats the last response. */
  function old(looks: { status: number; body?: unknown }[], submit?: { status: number; body?: unknown }, more = {}) {
    let count = 0
    return listen(({ method, path }) => {
      if (path === '/.well-known/agent-card.json') return { status: 200, body: { ...card, ...more } }
      if (method === 'POST' && path === '/a2a/tasks/send') return submit ?? { status: 200, body: flat('working') }
      if (method === 'GET' && path === '/a2a/tasks/task%201')
        return looks[Math.min(count++, looks.length - 1)] ?? { status: 404 }
      return { status: 404 }
    })
  }
  const done = { status: 200, body: flat('completed', said('agent', 'thinking'), said('agent', 'Summary…')) }

  it('gets a task and is polled until it is done [S0-4 S0-5 S0-24 S0-25 S0-31]', async () => {
    const peer = await old([{ status: 200, body: flat('working') }, { status: 503 }, done])
    const result = await invoke(`${peer.url}/`, 'Summarize this', {
      limits,
      skill: 'sum',
      bearer: 'key',
      timeoutMs: 5_000,
    })
    assert.deepEqual(result, { success: true, taskId: 'task 1', responseText: 'Summary…', error: undefined })
    const sent = peer.asked.find(({ method }) => method === 'POST')
    const params = { message: 'Summarize this', skill: 'sum', timeoutMs: 5_000 }
    assert.deepEqual(sent?.body, { ...params, params })
    assert.equal(sent?.headers.authorization, 'Bearer key')
    assert.equal(peer.asked.filter(({ path }) => path.startsWith('/a2a/tasks/task')).length, 3)
  })

  it('may have a URL on its card that does not serve A2A', async () => {
    const peer = await listen(({ path, origin }) =>
      path === '/.well-known/agent-card.json'
        ? { status: 200, body: { ...card, url: `${origin}/`, capabilities: { streaming: true } } }
        : path === '/a2a/tasks/send'
          ? { status: 200, body: done.body }
          : { status: 404 },
    )
    const result = await invoke(peer.url, 'Summarize this', { limits })
    assert.deepEqual([result.success, result.responseText], [true, 'Summary…'])
  })

  it('is also found by the address of its card, and by a card with a version and no address', async () => {
    const peer = await old([done])
    assert.equal((await invoke(`${peer.url}/.well-known/agent-card.json`, 'hi', { limits })).success, true)
    const other = await old([done], undefined, { protocolVersion: '0.2.0' })
    assert.equal((await invoke(other.url, 'hi', { limits })).success, true)
  })

  it('fails with its message, refuses with a status, or times out [S0-34]', async () => {
    const failed = await old([{ status: 200, body: flat('failed', said('agent', 'Task timed out')) }])
    assert.deepEqual(await invoke(failed.url, 'hi', { limits }), {
      success: false,
      taskId: 'task 1',
      responseText: 'Task timed out',
      error: 'Task timed out',
    })
    const wordless = await old([{ status: 200, body: flat('failed') }])
    assert.equal((await invoke(wordless.url, 'hi', { limits })).error, 'Task failed')
    const refusing = await old([], { status: 400 })
    assert.deepEqual(await invoke(refusing.url, 'hi', { limits }), {
      success: false,
      taskId: undefined,
      responseText: '',
      error: 'Submit failed: HTTP 400',
    })
    const slow = await old([{ status: 200, body: flat('working') }])
    const late = await invoke(slow.url, 'hi', { limits, timeoutMs: 600 })
    assert.deepEqual([late.success, late.taskId, late.error], [false, 'task 1', 'Timed out after 600ms'])
    const forgetful = await old([{ status: 404 }])
    assert.deepEqual((await invoke(forgetful.url, 'hi', { limits })).error, 'HTTP 404')
    const nameless = await old([], { status: 200, body: { state: 'working' } })
    assert.match((await invoke(nameless.url, 'hi', { limits })).error ?? '', /^Submit failed: .*without an id/)
  })

  it('whose card lacks a name is not called', async () => {
    const peer = await listen(({ path }) =>
      path === '/.well-known/agent-card.json' ? { status: 200, body: { version: '1' } } : { status: 404 },
    )
    const { success, error } = await invoke(peer.url, 'hi', { limits })
    assert.equal(success, false)
    assert.match(error ?? '', /name/)
    assert.ok(peer.asked.every(({ method }) => method === 'GET'))
  })
})
