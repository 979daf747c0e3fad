import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { Hono } from 'hono'
import { memoryStore } from '../../stores/memory/memory-store.ts'
import { type AgentSettings, createHandler, type Handler, type ServerOptions } from '../index.ts'

const opened: Handler[] = []
after(() => Promise.all(opened.map((handler) => handler.close())))
function open(over: ServerOptions & Partial<AgentSettings> = {}): Handler {
  const handler = createHandler({ store: memoryStore(), agent: ({ text }) => `Hello, ${text}!`, ...over })
  opened.push(handler)
  return handler
}
let count = 0
const sending = (url: string, init: RequestInit = {}): Request =>
  new Request(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ message: { messageId: `m${++count}`, role: 'ROLE_USER', parts: [{ text: 'hi' }] } }),
    ...init,
  })

describe("with the web's fetch", () => {
  it('works below a path under Hono', async () => {
    const handler = open({ prefix: '/agent' })
    const app = new Hono()
    app.all('/agent/*', (c) => handler.fetch(c.req.raw))
    app.get('/', (c) => c.text('home'))
    const sent = await app.request(sending('https://x.example/agent/message:send'))
    assert.equal(JSON.parse(await sent.text()).task.status.state, 'TASK_STATE_COMPLETED')
    const card = JSON.parse(await (await app.request('https://x.example/agent/.well-known/agent-card.json')).text())
    assert.equal(card.url, 'https://x.example/agent/a2a')
    assert.equal(await (await app.request('https://x.example/')).text(), 'home')
    assert.equal((await handler.fetch(new Request('https://x.example/elsewhere'))).status, 404)
    assert.equal((await handler.fetch(new Request('https://x.example/agents'))).status, 404)
  })

  it('reads no further than its reader [B-95]', async () => {
    let said = 0
    const handler = open({
      async *agent() {
        for (; said < 50; said++) yield { artifact: { artifactId: `a${said}`, parts: [{ text: 'x'.repeat(20_000) }] } }
      },
    })
    const response = await handler.fetch(sending('http://localhost/message:stream'))
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    const { value } = await reader.read()
    assert.ok((value?.length ?? 0) < 60_000)
    await reader.cancel()
  })

  it('ends when the body is canceled or the request aborted [B-103]', async () => {
    let release: () => void = () => {}
    const held = new Promise<void>((resolve) => (release = resolve))
    const handler = open({
      limits: { streamsPerCaller: 1 },
      async *agent() {
        yield 'one'
        await held
      },
    })
    for (const leave of ['cancel', 'abort'] as const) {
      const leaving = new AbortController()
      const response = await handler.fetch(sending('http://localhost/message:stream', { signal: leaving.signal }))
      assert.equal(response.status, 200, leave)
      const reader = (response.body as ReadableStream<Uint8Array>).getReader()
      await reader.read()
      if (leave === 'abort') leaving.abort()
      else await reader.cancel()
    }
    let again = await handler.fetch(sending('http://localhost/message:stream'))
    while (again.status === 429) {
      await new Promise(setImmediate)
      again = await handler.fetch(sending('http://localhost/message:stream'))
    }
    await again.body?.cancel()
    release()
  })

  it('keeps a stream alive with comments [B-101]', async () => {
    let release: () => void = () => {}
    const held = new Promise<void>((resolve) => (release = resolve))
    const handler = open({
      keepAliveMs: 10,
      async *agent() {
        yield 'one'
        await held
      },
    })
    const response = await handler.fetch(sending('http://localhost/message:stream'))
    let text = ''
    for await (const chunk of response.body as ReadableStream<Uint8Array>) {
      text += new TextDecoder().decode(chunk)
      if (text.includes(': keep-alive\n\n')) release()
    }
    assert.match(text, /TASK_STATE_COMPLETED/)
  })

  it('answers allowed origins, and varies by origin', async () => {
    const handler = open({ cors: ['https://app.example'] })
    const ask = (headers: Record<string, string>, method = 'GET'): Promise<Response> =>
      handler.fetch(new Request('http://localhost/.well-known/agent-card.json', { method, headers }))
    const invited = await ask({ origin: 'https://app.example' })
    assert.equal(invited.headers.get('access-control-allow-origin'), 'https://app.example')
    assert.equal(invited.headers.get('vary'), 'A2A-Version, Origin')
    assert.equal((await ask({ origin: 'https://evil.example' })).headers.get('access-control-allow-origin'), null)
    const preflight = await ask({ origin: 'https://app.example', 'access-control-request-method': 'POST' }, 'OPTIONS')
    assert.equal(preflight.status, 204)
    const failing = await handler.fetch(
      new Request('http://localhost/tasks/x', { headers: { origin: 'https://app.example' } }),
    )
    assert.deepEqual([failing.status, failing.headers.get('access-control-allow-origin')], [404, 'https://app.example'])
  })

  it('accepts calls only after recovery, and none if that fails', async () => {
    const store = memoryStore()
    let go: () => void = () => {}
    const gate = new Promise<void>((resolve) => (go = resolve))
    const slow = { ...store, keys: { ...store.keys, list: async () => (await gate, store.keys.list()) } }
    const handler = createHandler({ store: slow, agent: () => 'x' })
    opened.push(handler)
    assert.equal((await handler.fetch(new Request('http://localhost/readyz'))).status, 503)
    const early = handler.fetch(sending('http://localhost/message:send'))
    go()
    assert.equal((await early).status, 200)
    assert.equal((await handler.fetch(new Request('http://localhost/readyz'))).status, 200)

    const broken = { ...store, keys: { ...store.keys, list: () => Promise.reject(new Error('disk')) } }
    const logged: string[] = []
    const log = { debug() {}, info() {}, warn() {}, error: (text: string) => void logged.push(text) }
    const failed = createHandler({ store: broken, agent: () => 'x', log })
    await assert.rejects(
      failed.ready,
      (reason: Error) => reason.message === 'The store does not answer' && /disk/.test(String(reason.cause)),
    )
    assert.equal((await failed.fetch(sending('http://localhost/message:send'))).status, 503)
    assert.deepEqual(logged, ['the server could not start'])
  })
})
