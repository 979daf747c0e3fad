import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, request as httpRequest, type RequestListener, type Server } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { after, describe, it } from 'node:test'
import express from 'express'
import fastify from 'fastify'
import { readSse } from '../../testing/fixtures/read-sse.ts'
import { memoryStore } from '../../stores/memory/memory-store.ts'
import { type AgentSettings, createHandler, type Handler, type ServerOptions } from '../index.ts'

const closers: (() => Promise<unknown>)[] = []
after(async () => {
  for (const close of closers.reverse()) await close()
})

function open(over: ServerOptions & Partial<AgentSettings> = {}): Handler {
  const handler = createHandler({ store: memoryStore(), agent: ({ text }) => `Hello, ${text}!`, ...over })
  closers.push(() => handler.close())
  return handler
}
async function listen(listener: RequestListener): Promise<{ url: string; server: Server; port: number }> {
  const server = createServer(listener)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  closers.push(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, server, port }
}
/** With arbitrary headers, including those that fetch forbids. */
function statusFor(port: number, path: string, headers: Record<string, string>): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    httpRequest({ host: '127.0.0.1', port, path, headers }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
      .on('error', reject)
      .end()
  })
}
let count = 0
const message = (text = 'hi') => ({ messageId: `m${++count}`, role: 'ROLE_USER', parts: [{ text }] })
const rpc = (method: string, params: unknown) => ({ jsonrpc: '2.0', id: 1, method, params })
async function post(url: string, body: unknown, headers: Record<string, string> = {}) {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const response = await fetch(url, {
    method: 'POST',
    body: text,
    headers: { 'content-type': 'application/json', ...headers },
  })
  return { status: response.status, headers: response.headers, json: JSON.parse((await response.text()) || '{}') }
}

describe('under node:http', () => {
  it('answers with one length-delimited body, and keeps the connection', async () => {
    const { url } = await listen(open().node)
    const sent = await post(`${url}/a2a`, rpc('SendMessage', { message: message('größe') }))
    assert.equal(sent.json.result.task.artifacts[0].parts[0].text, 'Hello, größe!')
    assert.equal(Number(sent.headers.get('content-length')), Buffer.byteLength(JSON.stringify(sent.json)))
    assert.equal(sent.headers.get('connection'), 'keep-alive')
  })

  it('sends no length where there can be no body', async () => {
    const origin = 'https://page.example'
    const { url } = await listen(open({ cors: [origin] }).node)
    const headers = { origin, 'access-control-request-method': 'POST' }
    const preflight = await fetch(url, { method: 'OPTIONS', headers })
    assert.deepEqual([preflight.status, preflight.headers.get('content-length')], [204, null])
  })

  it('reads a body in many pieces, and stops buffering one that is too large [B-41]', async () => {
    const { url } = await listen(open({ limits: { bodyBytes: 50_000 } }).node)
    const pieces = (size: number): ReadableStream<Uint8Array> => {
      const text = JSON.stringify(rpc('SendMessage', { message: message('x'.repeat(size)) }))
      return ReadableStream.from(text.match(/.{1,1000}/gs)?.map((piece) => new TextEncoder().encode(piece)) ?? [])
    }
    const send = async (size: number) => {
      const init = {
        method: 'POST',
        body: pieces(size),
        duplex: 'half',
        headers: { 'content-type': 'application/json' },
      }
      const response = await fetch(`${url}/a2a`, init as RequestInit)
      return { status: response.status, json: JSON.parse(await response.text()) }
    }
    assert.ok((await send(30_000)).json.result)
    const refused = await send(5_000_000)
    assert.equal(refused.status, 413)
    assert.equal(refused.json.error.data.reason, 'PAYLOAD_TOO_LARGE')
    const declared = await post(`${url}/a2a`, 'x'.repeat(100_000))
    assert.equal(declared.status, 413)
  })

  it('ends a stream when its client disconnects, and the task continues [B-103]', async () => {
    let release: () => void = () => {}
    const held = new Promise<void>((resolve) => (release = resolve))
    const handler = open({
      limits: { streamsPerCaller: 1 },
      async *agent() {
        yield 'one'
        await held
        yield 'two'
      },
    })
    const { url } = await listen(handler.node)
    const leaving = new AbortController()
    const init = {
      method: 'POST',
      body: JSON.stringify({ message: message() }),
      headers: { 'content-type': 'application/json' },
    }
    const response = await fetch(`${url}/message:stream`, { ...init, signal: leaving.signal })
    const events = readSse(response.body as ReadableStream<Uint8Array>)
    const first = await events.next()
    const { id } = JSON.parse(first.value?.data ?? '').task
    leaving.abort()
    // The slot is released as soon as the server has noticed.
    let again = await fetch(`${url}/tasks/${id}:subscribe`)
    while (again.status === 429) again = await fetch(`${url}/tasks/${id}:subscribe`)
    assert.equal(again.status, 200)
    release()
    const rest = await Array.fromAsync(readSse(again.body as ReadableStream<Uint8Array>))
    assert.match(rest.map(({ data }) => data).join(), /two.*TASK_STATE_COMPLETED/s)
  })

  it('disconnects a reader that reads nothing, and holds nothing for it meanwhile [B-95]', async () => {
    const big = 'x'.repeat(100_000)
    let said = 0
    const handler = open({
      stallMs: 300,
      limits: { streamsPerCaller: 1 },
      async *agent() {
        for (; said < 400; said++) yield { artifact: { artifactId: `a${said}`, parts: [{ text: big }] } }
      },
    })
    const { url, server, port } = await listen(handler.node)
    let most = 0
    server.on('request', (_request, response) => {
      const write = response.write.bind(response) as (chunk: unknown) => boolean
      response.write = (chunk: unknown) => {
        const canContinue = write(chunk)
        most = Math.max(most, response.writableLength)
        return canContinue
      }
    })
    const body = JSON.stringify({ message: message() })
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => {})
    socket.pause()
    socket.write(
      `POST /message:stream HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    )
    const [, response] = (await once(server, 'request')) as [unknown, NodeJS.WritableStream]
    await once(response, 'close')
    assert.ok(most > 0 && most < 1_000_000, `${most} bytes were waiting for a reader that read nothing`)
    socket.destroy()
    // Its slot is free, and the task was not slowed down.
    const list = JSON.parse(await (await fetch(`${url}/tasks`)).text())
    assert.equal(list.tasks[0].status.state, 'TASK_STATE_COMPLETED')
    assert.equal((await post(`${url}/message:stream`, { message: {} })).status, 400)
  })

  it('sends the headers of a stream before its first event if that is slow', async () => {
    let release: () => void = () => {}
    const held = new Promise<void>((resolve) => (release = resolve))
    const { url } = await listen(
      open({
        openAfterMs: 1,
        async *agent() {
          await held
          yield 'late'
        },
      }).node,
    )
    const init = {
      method: 'POST',
      body: JSON.stringify({ message: message() }),
      headers: { 'content-type': 'application/json' },
    }
    const response = await fetch(`${url}/message:stream`, init)
    assert.equal(response.headers.get('content-type'), 'text/event-stream')
    release()
    assert.match(await response.text(), /late/)
  })

  it('lists tasks for local anonymous callers, and not for those of a proxy', async () => {
    const { url } = await listen(open().node)
    assert.equal((await fetch(`${url}/tasks`)).status, 200)
    assert.equal((await fetch(`${url}/tasks`, { headers: { 'x-forwarded-for': '203.0.113.9' } })).status, 403)
    assert.equal((await fetch(`${url}/tasks`, { headers: { 'x-real-ip': '203.0.113.9' } })).status, 403)
    for (const outward of [{ trustProxy: true }, { publicUrl: 'https://agents.example' }]) {
      const { url: behind } = await listen(open(outward).node)
      assert.equal((await fetch(`${behind}/tasks`)).status, 403)
      const { url: openUrl } = await listen(open({ ...outward, allowAnonymousList: true }).node)
      assert.equal((await fetch(`${openUrl}/tasks`)).status, 200)
    }
    const { url: closed } = await listen(open({ allowAnonymousList: false }).node)
    assert.equal((await fetch(`${closed}/tasks`)).status, 403)
  })

  it('answers at a loopback address for this machine only, without authentication', async () => {
    const { port } = await listen(open({ publicUrl: 'https://mine.example:8443/x' }).node)
    for (const host of [`localhost:${port}`, `127.0.0.1:${port}`, 'Mine.example']) {
      assert.equal(await statusFor(port, '/tasks/x', { host }), 404, host)
    }
    assert.equal(await statusFor(port, '/tasks/x', { host: 'evil.example' }), 403)
    assert.equal(await statusFor(port, '/tasks/x', { host: 'localhost', origin: 'https://evil.example' }), 403)
    assert.equal(await statusFor(port, '/healthz', { host: 'evil.example' }), 200)
    const guarded = await listen(open({ authenticate: () => ({ id: 'a' }) }).node)
    assert.equal(await statusFor(guarded.port, '/tasks/x', { host: 'any.example' }), 404)
    const listed = await listen(open({ hosts: ['named.example'] }).node)
    assert.equal(await statusFor(listed.port, '/tasks/x', { host: 'named.example' }), 404)
    assert.equal(await statusFor(listed.port, '/tasks/x', { host: 'localhost' }), 403)
  })

  it('checks the Host also when the sender has disconnected before', async () => {
    const received: string[] = []
    const handler = open({ agent: ({ text }) => void received.push(text) })
    const { url, port } = await listen((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        const hand = (): void => handler.node(Object.assign(request, { body: Buffer.concat(chunks) }), response)
        if (request.headers['x-leaves'] === undefined) return hand()
        request.socket.once('close', () => hand())
        request.socket.destroy()
      })
    })
    for (const host of ['localhost', 'evil.example']) {
      const body = JSON.stringify({ message: message(host) })
      const socket = connect(port, '127.0.0.1').on('error', () => {})
      socket.write(
        `POST /message:send HTTP/1.1\r\nHost: ${host}\r\nX-Leaves: 1\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      )
      await once(socket, 'close')
    }
    await post(`${url}/message:send`, { message: message('last') })
    assert.deepEqual(received, ['localhost', 'last'])
  })

  it('survives a client that disconnects during its body', async () => {
    const { url, port, server } = await listen(open().node)
    const socket = connect(port, '127.0.0.1')
    socket.write(
      'POST /a2a HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"jsonrpc"',
    )
    const [, response] = (await once(server, 'request')) as [unknown, NodeJS.WritableStream]
    socket.destroy()
    await once(response, 'close')
    assert.ok((await post(`${url}/a2a`, rpc('SendMessage', { message: message() }))).json.result)
  })

  it('loses a connection and not the process when another handler has already responded', async () => {
    const handler = open()
    const { url } = await listen((request, response) => {
      response.writeHead(200)
      response.write('another handler was')
      handler.node(request, response)
    })
    for (const path of ['/a2a', '/message:stream', '/.well-known/agent-card.json']) {
      const method = path.includes('card') ? 'GET' : 'POST'
      const body = path === '/a2a' ? rpc('SendMessage', { message: message() }) : { message: message() }
      const init = {
        method,
        headers: { 'content-type': 'application/json' },
        ...(method === 'POST' ? { body: JSON.stringify(body) } : {}),
      }
      await assert.rejects(async () => (await fetch(`${url}${path}`, init)).text(), path)
    }
  })

  it('removes its prefix if the framework does not', async () => {
    const { url } = await listen(open({ prefix: '/agent/' }).node)
    assert.ok((await post(`${url}/agent`, rpc('SendMessage', { message: message() }))).json.result)
    assert.equal((await post(`${url}/agent/message:send`, { message: message() })).status, 200)
    const card = JSON.parse(await (await fetch(`${url}/agent/.well-known/agent-card.json`)).text())
    assert.equal(card.url, `${url}/agent/a2a`)
    assert.equal((await fetch(`${url}/agents/healthz`)).status, 404)
    assert.equal((await fetch(`${url}/healthz`)).status, 404)
  })
})

describe('under Express', () => {
  for (const [name, parser] of [
    ['a body parser', express.json()],
    ['a raw body', express.raw({ type: '*/*' })],
    ['no parser', undefined],
  ] as const) {
    it(`works below a path, with ${name} before it`, async () => {
      const app = express()
      if (parser !== undefined) app.use(parser)
      app.use('/agent', open().node)
      app.get('/agent-not', (_request, response) => void response.send('other'))
      const { url } = await listen(app)
      assert.ok((await post(`${url}/agent`, rpc('SendMessage', { message: message() }))).json.result)
      assert.ok((await post(`${url}/agent/a2a`, rpc('SendMessage', { message: message() }))).json.result)
      const rest = await post(
        `${url}/agent/message:send`,
        { message: message() },
        { 'content-type': 'application/a2a+json' },
      )
      assert.equal(rest.status, 200)
      const streamed = await fetch(`${url}/agent/message:stream`, {
        method: 'POST',
        body: JSON.stringify({ message: message() }),
        headers: { 'content-type': 'application/json' },
      })
      assert.match(await streamed.text(), /TASK_STATE_COMPLETED/)
      const card = JSON.parse(await (await fetch(`${url}/agent/.well-known/agent-card.json`)).text())
      assert.equal(card.url, `${url}/agent/a2a`)
      assert.equal(await (await fetch(`${url}/agent-not`)).text(), 'other')
      const empty = await fetch(`${url}/agent/tasks/x:cancel`, { method: 'POST' })
      assert.equal(empty.status, 404)
    })
  }

  for (const [name, parser] of [
    ['parsed', express.json({ limit: '1mb' })],
    ['kept as text', express.text({ type: '*/*', limit: '1mb' })],
    ['kept as bytes', express.raw({ type: '*/*', limit: '1mb' })],
  ] as const) {
    it(`refuses a body that is too large, though it was ${name} by a parser with a higher limit [B-41]`, async () => {
      const app = express()
      app.use(parser, open({ limits: { bodyBytes: 5_000 } }).node)
      const { url } = await listen(app)
      assert.ok((await post(`${url}/a2a`, rpc('SendMessage', { message: message('x'.repeat(3_000)) }))).json.result)
      const refused = await post(`${url}/a2a`, rpc('SendMessage', { message: message('x'.repeat(6_000)) }))
      assert.equal(refused.status, 413)
      assert.equal(refused.json.error.data.reason, 'PAYLOAD_TOO_LARGE')
    })
  }

  it('answers at a loopback address for this machine only', async () => {
    const app = express()
    app.use('/agent', open().node)
    const { port } = await listen(app)
    assert.equal(await statusFor(port, '/agent/tasks/x', { host: `localhost:${port}` }), 404)
    assert.equal(await statusFor(port, '/agent/tasks/x', { host: 'evil.example' }), 403)
  })

  it('passes on other requests', async () => {
    const app = express()
    app.use(open().node)
    app.get('/', (_request, response) => void response.send('home'))
    app.get('/api/tasks', (_request, response) => void response.send('other tasks'))
    const { url } = await listen(app)
    assert.equal(await (await fetch(url)).text(), 'home')
    assert.equal(await (await fetch(`${url}/api/tasks`)).text(), 'other tasks')
    assert.equal((await fetch(`${url}/nothing`)).status, 404)
    assert.ok((await post(url, rpc('SendMessage', { message: message() }))).json.result)
    assert.equal((await fetch(`${url}/message:send`)).status, 405)
  })
})

describe('under Fastify', () => {
  it('works with its raw pair, whether it has parsed the body or not', async () => {
    for (const parses of [true, false]) {
      const handler = open({ prefix: '/agent' })
      const app = fastify()
      if (!parses) {
        app.removeAllContentTypeParsers()
        app.addContentTypeParser('*', (_request, _payload, done) => done(null))
      }
      app.all('/agent/*', (request, reply) => {
        reply.hijack()
        handler.node(parses ? Object.assign(request.raw, { body: request.body }) : request.raw, reply.raw)
      })
      const url = await app.listen({ port: 0, host: '127.0.0.1' })
      closers.push(() => app.close())
      assert.ok((await post(`${url}/agent/a2a`, rpc('SendMessage', { message: message() }))).json.result)
      assert.equal((await post(`${url}/agent/message:send`, { message: message() })).status, 200)
      const card = JSON.parse(await (await fetch(`${url}/agent/.well-known/agent-card.json`)).text())
      assert.equal(card.url, `${url}/agent/a2a`)
    }
  })

  it('does not wait for a body that other code has read and dropped', async () => {
    const handler = open({ prefix: '/agent' })
    const app = fastify()
    app.all('/agent/*', (request, reply) => {
      reply.hijack()
      handler.node(request.raw, reply.raw)
    })
    const url = await app.listen({ port: 0, host: '127.0.0.1' })
    closers.push(() => app.close())
    assert.equal((await post(`${url}/agent/a2a`, rpc('SendMessage', { message: message() }))).json.error.code, -32700)
  })
})
