/** What handles requests before the agents of `serve`: TLS and middleware. */
import assert from 'node:assert/strict'
import { request as httpsRequest } from 'node:https'
import { text } from 'node:stream/consumers'
import { after, describe, it } from 'node:test'
import { credentials } from '@grpc/grpc-js'
import { memoryStore } from '../stores/memory/memory-store.ts'
import { modern, openGrpcServers, grpcMessageRequest } from '../testing/fixtures/grpc-server.ts'
import { selfSigned } from '../testing/fixtures/self-signed-certificate.ts'
import { mtls } from './index.ts'
import { type Middleware, serve, type ServeOptions, type Server } from './node.ts'

const quiet = { debug() {}, info() {}, warn() {}, error() {} }
const servers: Server[] = []
after(() => Promise.all(servers.map((server) => server.close())))
async function open(options: Partial<ServeOptions>): Promise<Server> {
  const given = { port: 0, store: memoryStore(), log: quiet, drainMs: 200, agent: () => 'x', ...options }
  const server = await serve(given as ServeOptions)
  servers.push(server)
  return server
}

const certificate = selfSigned('localhost')
const client = selfSigned('billing')
const grpc = openGrpcServers()

interface Got {
  readonly status: number | undefined
  readonly hsts: string | undefined
  readonly text: string
}

/** Trusts the server's certificate; may present a client certificate. */
function get(server: Server, path: string, shown: { key?: string; cert?: string } = {}): Promise<Got> {
  return new Promise((resolve, reject) => {
    const options = {
      ca: certificate.cert,
      headers: { 'a2a-version': '1.0' },
      agent: false,
      servername: 'localhost',
      ...shown,
    }
    httpsRequest(`https://127.0.0.1:${server.port}${path}`, options, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
      const hsts = response.headers['strict-transport-security']
      response.on('end', () => resolve({ status: response.statusCode, hsts, text }))
    })
      .on('error', reject)
      .end()
  })
}

describe('a server with a certificate', () => {
  it('serves https, declares it in its cards, and sends HSTS', async () => {
    const server = await open({
      tls: certificate,
      middleware: ({ url }, response) => url === '/front' && !!response.end('front'),
    })
    assert.equal(server.url, `https://127.0.0.1:${server.port}`)
    const card = await get(server, '/.well-known/agent-card.json')
    const { supportedInterfaces } = JSON.parse(card.text) as { supportedInterfaces: { url: string }[] }
    assert.ok(supportedInterfaces.every(({ url }) => url.startsWith(`https://127.0.0.1:${server.port}`)))
    for (const path of ['/.well-known/agent-card.json', '/tasks/none', '/nowhere', '/healthz', '/front']) {
      assert.equal((await get(server, path)).hsts, 'max-age=31536000', path)
    }
    const brief = await open({ tls: { ...certificate, hstsSeconds: 0 } })
    assert.equal((await get(brief, '/healthz')).hsts, 'max-age=0')
  })

  it('passes client certificates to authenticate, if their authority is trusted [B-150]', async () => {
    const server = await open({ tls: { ...certificate, ca: client.cert }, authenticate: mtls() })
    assert.equal((await get(server, '/tasks/none', client)).status, 404)
    assert.equal((await get(server, '/tasks/none')).status, 401)
    assert.equal((await get(server, '/tasks/none', selfSigned('billing'))).status, 401)
    assert.equal((await get(server, '/.well-known/agent-card.json')).status, 200)
  })

  it('serves gRPC under the same certificate, and cards over it have https addresses', async () => {
    const server = await open({ tls: certificate, grpcPort: 0, extendedCard: {}, authenticate: () => ({ id: 'ann' }) })
    const peer = grpc.client(server.grpcPort ?? 0, credentials.createSsl(Buffer.from(certificate.cert)), 'localhost')
    assert.ok((await peer.call(modern, 'SendMessage', grpcMessageRequest())).payload.task)
    const { payload } = await peer.call(modern, 'GetExtendedAgentCard', {})
    assert.equal(payload.supportedInterfaces[0].url, `https://localhost:${server.port}/a2a`)
  })

  it('reports an invalid certificate before anything is opened', async () => {
    await assert.rejects(open({ tls: { cert: 'nonsense', key: 'nonsense' } }), { name: 'ConfigError', path: 'tls' })
  })
})

describe('middleware', () => {
  it('handles its requests, and leaves the rest to the agents', async () => {
    const server = await open({
      middleware(request, response) {
        if (request.url !== '/') return false
        response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Hi</h1>')
        return true
      },
    })
    assert.equal(await (await fetch(server.url)).text(), '<h1>Hi</h1>')
    assert.equal((await fetch(`${server.url}/.well-known/agent-card.json`)).status, 200)
  })

  it('may read bodies, and leaves those of the agents to them', async () => {
    const ways: Readonly<Record<string, (...pair: Parameters<Middleware>) => unknown>> = {
      '/pipe': (request, response) => request.pipe(response),
      '/text': async (request, response) => response.end(await text(request)),
      '/data': (request, response) =>
        request.on('data', (chunk) => response.write(chunk)).on('end', () => response.end()),
    }
    const front: Middleware = (request, response) => ways[request.url ?? '']?.(request, response) !== undefined
    const { url } = await open({ middleware: front })
    const post = async (path: string, body: string): Promise<string> =>
      (await fetch(url + path, { method: 'POST', body, headers: { 'content-type': 'application/json' } })).text()
    for (const path of Object.keys(ways)) {
      assert.equal(await post(path, 'hello'), 'hello')
      const large = 'x'.repeat(1_000_000)
      assert.equal(await post(path, large), large)
    }
    const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hello' }] }
    assert.match(await post('/message:send', JSON.stringify({ message })), /TASK_STATE_COMPLETED/)
  })

  it('that fails affects only its request', async () => {
    const server = await open({
      middleware({ url }) {
        if (url === '/broken') throw new Error('broken')
        return false
      },
    })
    assert.equal((await fetch(`${server.url}/broken`)).status, 500)
    assert.equal((await fetch(`${server.url}/healthz`)).status, 200)
  })

  it('is waited for when the server closes, like the agents', async () => {
    const asked = Promise.withResolvers<void>()
    const go = Promise.withResolvers<void>()
    const server = await open({
      drainMs: 5_000,
      middleware(_request, response) {
        asked.resolve()
        void go.promise.then(() => response.end('at last'))
        return true
      },
    })
    const answer = fetch(server.url)
    await asked.promise
    const closed = server.close()
    go.resolve()
    assert.equal(await (await answer).text(), 'at last')
    await closed
  })
})

describe('a closed server', () => {
  it('releases its port even if its store cannot be closed', async () => {
    const store = memoryStore()
    const server = await serve({ port: 0, log: quiet, agent: () => 'x', store, drainMs: 0 })
    store.close = () => Promise.reject(new Error('the disk is gone'))
    await assert.rejects(server.close(), /the disk is gone/)
    const next = await open({ port: server.port })
    assert.equal(next.port, server.port)
  })
})
