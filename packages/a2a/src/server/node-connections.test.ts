/** Clients that connect and send slowly, or nothing: real sockets, with short timeouts. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { after, describe, it } from 'node:test'
import { connect as connectTls } from 'node:tls'
import { Worker } from 'node:worker_threads'
import { memoryStore } from '../stores/memory/memory-store.ts'
import { selfSigned } from '../testing/fixtures/self-signed-certificate.ts'
import { serve, type ServeOptions, type Server } from './node.ts'

const somaxconn = '/proc/sys/net/core/somaxconn'
const servers: Server[] = []
after(() => Promise.all(servers.map((server) => server.close())))

const log = { debug() {}, info() {}, warn() {}, error() {} }

async function open(options: Partial<ServeOptions>): Promise<Server> {
  const server = await serve({
    port: 0,
    store: memoryStore(),
    agent: () => 'ok',
    log,
    quiet: true,
    ...options,
  } as ServeOptions)
  servers.push(server)
  return server
}

interface Client {
  readonly socket: Socket
  /** Everything that the server sent, once the connection is closed. */
  readonly closed: Promise<string>
}

function client(socket: Socket, text = ''): Client {
  let received = ''
  socket.on('error', () => {})
  socket.on('data', (data: Buffer) => void (received += data.toString('latin1')))
  if (text !== '') socket.write(text)
  // Not once(): it rejects with an error of the socket, such as EPIPE when the last byte meets a closed connection.
  const closed = new Promise<string>((resolve) => socket.on('close', () => resolve(received)))
  return { socket, closed }
}

/** A client of `server` whose connection was accepted, and which has sent a text. */
async function dial(server: Server, text = ''): Promise<Client> {
  const accepted = once(server.server, 'connection')
  const made = client(connect(server.port, '127.0.0.1'), text)
  await accepted
  return made
}

const head =
  'POST /message:send HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n'
const get = 'GET /.well-known/agent-card.json HTTP/1.1\r\nHost: localhost\r\n\r\n'
const answered = async ({ socket }: Client): Promise<string> => String((await once(socket, 'data'))[0]).slice(0, 15)

/** Sends one more byte periodically. The last may meet a closed connection; the response is then not seen. */
function trickle({ socket, closed }: Client, byte: string): Promise<string> {
  const timer = setInterval(() => socket.write(byte), 20)
  return closed.finally(() => clearInterval(timer))
}

describe('clients that send slowly', () => {
  it('get 408 and are closed when the head of a request is late, or never begins', async () => {
    const server = await open({ headTimeoutMs: 200 })
    const [begun, mute, slow] = [
      await dial(server, `${head}X-Slow: `),
      await dial(server),
      await dial(server, `${head}X-Slow: `),
    ]
    await trickle(slow, 'a')
    assert.match(await begun.closed, /^HTTP\/1\.1 408 /)
    assert.match(await mute.closed, /^HTTP\/1\.1 408 /)
  })

  it('get 408 and are closed when the body of a request is late', async () => {
    const server = await open({ headTimeoutMs: 200, requestTimeoutMs: 300 })
    const [begun, slow] = [await dial(server, `${head}\r\n{`), await dial(server, `${head}\r\n{`)]
    await trickle(slow, ' ')
    assert.match(await begun.closed, /^HTTP\/1\.1 408 /)
  })
})

describe('limits.connections', () => {
  it('closes a client that has not sent its request for a new one', async () => {
    const server = await open({ limits: { connections: 2 } })
    const slowHead = await dial(server, `${head}X-Slow: a`)
    const slowBody = await dial(server, `${head}\r\n{`)
    const third = await dial(server, get)
    assert.equal(await answered(third), 'HTTP/1.1 200 OK')
    assert.equal(await slowHead.closed, '')
    const fourth = await dial(server, get)
    assert.equal(await answered(fourth), 'HTTP/1.1 200 OK')
    assert.equal(await slowBody.closed, '')
    const { refused, dropped } = server.connections()
    assert.deepEqual({ refused, dropped }, { refused: 0, dropped: 2 })
  })

  for (const tls of [undefined, selfSigned('localhost')]) {
    it(`closes no connection whose request is being answered${tls === undefined ? '' : ', over TLS'}`, async () => {
      const turn = Promise.withResolvers<string>()
      const started = Promise.withResolvers<void>()
      const agent = (): Promise<string> => {
        started.resolve()
        return turn.promise
      }
      const server = await open({
        agent,
        limits: { connections: 1 },
        ...(tls === undefined ? {} : { tls }),
      })
      const body = JSON.stringify({ message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hi' }] } })
      const message = `${head.replace('1000', String(body.length))}\r\n${body}`
      const busy =
        tls === undefined
          ? await dial(server, message)
          : client(connectTls({ port: server.port, host: '127.0.0.1', rejectUnauthorized: false }), message)
      await started.promise
      assert.equal(await (await dial(server, get)).closed, '')
      turn.resolve('done')
      assert.equal(await answered(busy), 'HTTP/1.1 200 OK')
      const { refused, dropped } = server.connections()
      assert.deepEqual({ refused, dropped }, { refused: 1, dropped: 0 })
    })
  }

  it('refuses gRPC connections beyond it, separately from those of HTTP', async () => {
    const server = await open({ grpcPort: 0, limits: { connections: 1 } })
    const port = server.grpcPort as number
    const first = client(connect(port, '127.0.0.1'))
    await once(first.socket, 'data')
    await client(connect(port, '127.0.0.1')).closed
    const http = await dial(server, get)
    assert.equal(await answered(http), 'HTTP/1.1 200 OK')
    assert.equal(first.socket.destroyed, false)
    assert.deepEqual({ ...server.connections() }, { open: 2, refused: 1, dropped: 0 })
    first.socket.destroy()
    http.socket.destroy()
  })
})

describe('limits.connectionsPerAddress', () => {
  it('refuses an address with the maximum number', async () => {
    const server = await open({ limits: { connectionsPerAddress: 1 } })
    const first = await dial(server, get)
    assert.equal(await answered(first), 'HTTP/1.1 200 OK')
    assert.equal(await (await dial(server, get)).closed, '')
    assert.equal(server.connections().refused, 1)
    first.socket.destroy()
  })

  it('does not apply to a trusted proxy', async () => {
    const server = await open({ trustProxy: true, limits: { connectionsPerAddress: 1 } })
    const clients = [await dial(server, get), await dial(server, get)]
    for (const one of clients) assert.equal(await answered(one), 'HTTP/1.1 200 OK')
    for (const { socket } of clients) socket.destroy()
  })
})

/** Opens a server, and blocks its event loop on request until `gate` is opened. */
const busyServer = `
  const { parentPort, workerData } = require('node:worker_threads')
  import(workerData.memory).then(async ({ memoryStore }) => {
    const { serve } = await import(workerData.node)
    const server = await serve({ port: 0, store: memoryStore(), agent: () => 'ok', quiet: true })
    parentPort.on('message', () => {
      parentPort.postMessage('busy')
      Atomics.wait(workerData.gate, 0, 0)
      server.close().then(() => process.exit())
    })
    parentPort.postMessage(server.port)
  })`

const burst = 1_000
const hasQueue = existsSync(somaxconn) && Number(readFileSync(somaxconn, 'utf8')) > burst

describe('a burst of connections', () => {
  it('is queued by the system while the process is busy', { skip: !hasQueue }, async () => {
    const gate = new Int32Array(new SharedArrayBuffer(4))
    const [node, memory] = ['./node.ts', '../stores/memory/memory-store.ts'].map(
      (path) => new URL(path, import.meta.url).href,
    )
    const worker = new Worker(busyServer, { eval: true, workerData: { gate, node, memory } })
    const [port] = (await once(worker, 'message')) as [number]
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker has none
    worker.postMessage('stand still')
    await once(worker, 'message')
    const sockets = Array.from({ length: burst }, () => connect(port, '127.0.0.1').on('error', () => {}))
    await Promise.all(sockets.map((socket) => once(socket, 'connect')))
    Atomics.store(gate, 0, 1)
    Atomics.notify(gate, 0)
    for (const socket of sockets) socket.destroy()
    await once(worker, 'exit')
  })
})
