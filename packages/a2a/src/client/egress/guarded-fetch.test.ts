import assert from 'node:assert/strict'
import { getEventListeners, once } from 'node:events'
import { createServer as createHttpServer, type RequestListener, type Server, type ServerResponse } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import type { AddressInfo, LookupFunction, Socket } from 'node:net'
import { after, describe, it } from 'node:test'
import { A2AError } from '../../model/error.ts'
import { selfSigned } from '../../testing/fixtures/self-signed-certificate.ts'
import { discover, fetchCard } from '../card/card-discovery.ts'
import { guardedFetch, type GuardOptions } from './guarded-fetch.ts'
import { createHttpClient } from '../http/http-client.ts'
import { defaultClientLimits } from '../call-options.ts'

const opened: Server[] = []
after(() => {
  for (const server of opened) {
    server.close()
    server.closeAllConnections()
  }
})
async function listenOn(host: string, listener: RequestListener, port = 0, tls?: { key: string; cert: string }) {
  const server = tls === undefined ? createHttpServer(listener) : createHttpsServer(tls, listener)
  opened.push(server)
  server.listen(port, host)
  await once(server, 'listening')
  return { port: (server.address() as AddressInfo).port, server }
}
const listen = (listener: RequestListener) => listenOn('127.0.0.1', listener)

/** The same port at two addresses; a port that is free at the first may be taken at the second. */
async function listenAtBoth(atFirst: RequestListener, atSecond: RequestListener): Promise<number> {
  for (;;) {
    const first = await listenOn('127.0.0.2', atFirst)
    try {
      await listenOn('127.0.0.1', atSecond, first.port)
      return first.port
    } catch (reason) {
      if ((reason as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw reason
    }
  }
}
/** Other systems have only one loopback address, and these tests need a second one. */
const onLinux = { skip: process.platform === 'linux' ? false : 'only Linux answers at every address of 127.0.0.0/8' }

/** A resolver that returns one answer after the other; the last one stays. */
function resolver(...answers: readonly (readonly string[])[]): LookupFunction & { readonly asked: string[] } {
  const asked: string[] = []
  const lookup: LookupFunction = (host, options, callback) => {
    const addresses = answers[Math.min(asked.length, answers.length - 1)] ?? []
    asked.push(host)
    assert.equal(options.all, true)
    callback(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    )
  }
  return Object.assign(lookup, { asked })
}
const isDenied = (error: unknown): boolean => {
  assert.ok(error instanceof A2AError, String(error))
  assert.equal(error.code, 'PERMISSION_DENIED')
  return true
}
const get = (url: string, options: GuardOptions = { allowHttp: true, allowLoopback: true }) =>
  guardedFetch(options)(new Request(url))

describe('a guarded fetch', () => {
  it('does not connect to a private address in any notation [B-26 S0-36]', async () => {
    const { port, server } = await listen((_, response) => response.end('secret'))
    let reached = 0
    server.on('connection', () => (reached += 1))
    const options = { allowHttp: true }
    for (const host of [
      '127.0.0.1',
      '2130706433',
      '0x7f000001',
      '0x7f.0.0.1',
      '017700000001',
      '0177.0.0.1',
      '127.1',
      '①②⑦.0.0.1',
      '127。0。0。1',
      '0.0.0.0',
      '0',
      '[::1]',
      '[::]',
      '[::ffff:127.0.0.1]',
      '[::ffff:7f00:1]',
      '[::127.0.0.1]',
      '[64:ff9b::127.0.0.1]',
      '[2002:7f00:1::]',
      'localhost',
    ]) {
      await assert.rejects(get(`http://${host}:${port}/`, options), isDenied, host)
    }
    assert.equal(reached, 0)
  })

  it('does not connect to a name that resolves to a private address, and does not reveal it', async () => {
    const lookup = resolver(['10.11.12.13', 'fd00::1', '::ffff:169.254.169.254'])
    await assert.rejects(get('https://agent.test/', { lookup }), (error: Error) => {
      assert.doesNotMatch(JSON.stringify(error) + error.message, /10\.11|fd00|169\.254/)
      assert.match(error.message, /agent\.test/)
      return isDenied(error)
    })
    await assert.rejects(get('https://agent.test/', { lookup: resolver([]) }), isDenied)
  })

  it('uses the allowed addresses of a name and skips the others', onLinux, async () => {
    const { port } = await listenOn('127.0.0.2', (_, response) => response.end('two'))
    const options = { allowHttp: true, allow: ['127.0.0.2'], lookup: resolver(['127.0.0.1', '::1', '127.0.0.2']) }
    assert.equal(await (await get(`http://agent.test:${port}/`, options)).text(), 'two')
  })

  it('connects to the checked address, whatever the next lookup returns', onLinux, async () => {
    const port = await listenAtBoth(
      (_, response) => response.setHeader('connection', 'close').end('public'),
      (_, response) => response.end('secret'),
    )
    const lookup = resolver(['127.0.0.2'], ['127.0.0.1'])
    const fetch = guardedFetch({ allowHttp: true, allow: ['127.0.0.2'], lookup })
    const url = `http://agent.test:${port}/`
    assert.equal(await (await fetch(new Request(url))).text(), 'public')
    assert.deepEqual(lookup.asked, ['agent.test'])
    await assert.rejects(fetch(new Request(url)), isDenied)
  })

  it('checks the address of the peer', onLinux, async () => {
    const bytes: Buffer[] = []
    const { port, server } = await listen((_, response) => response.end('secret'))
    server.on('connection', (socket) => socket.on('data', (chunk: Buffer) => bytes.push(chunk)))
    // On Linux 0.0.0.0 connects to this machine, so the allowed address differs from the peer's address.
    await assert.rejects(get(`http://0.0.0.0:${port}/`, { allowHttp: true, allow: ['0.0.0.0'] }), isDenied)
    assert.deepEqual(bytes, [])
  })

  it('uses https only by default, only allowed ports and no passwords', async () => {
    await assert.rejects(get('http://8.8.8.8/', {}), isDenied)
    for (const url of ['data:text/plain,hi', 'file:///etc/passwd', 'ftp://8.8.8.8/'])
      await assert.rejects(get(url), isDenied)
    await assert.rejects(get('https://8.8.8.8:25/', { ports: [443, 8443] }), isDenied)
    const { port } = await listen((_, response) => response.end('fine'))
    const options = { allowHttp: true, allowLoopback: true, ports: [port] }
    assert.equal(await (await get(`http://127.0.0.1:${port}/`, options)).text(), 'fine')
    const withPassword = { ...new Request('https://8.8.8.8/'), url: 'https://me:pw@8.8.8.8/' } as Request
    await assert.rejects(guardedFetch()(withPassword), isDenied)
  })

  it('checks the certificate against the name [B-172]', async () => {
    const { key, cert } = selfSigned('agent.test')
    const { port } = await listenOn('127.0.0.1', (_, response) => response.end('safe'), 0, { key, cert })
    const lookup = resolver(['127.0.0.1'])
    const allowed = { allowLoopback: true, lookup }
    assert.equal(await (await get(`https://agent.test:${port}/`, { ...allowed, ca: cert })).text(), 'safe')
    await assert.rejects(get(`https://agent.test:${port}/`, allowed), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' })
    await assert.rejects(get(`https://other.test:${port}/`, { ...allowed, ca: cert }), {
      code: 'ERR_TLS_CERT_ALTNAME_INVALID',
    })
    await assert.rejects(get(`https://agent.test:${port}/`, { lookup, ca: cert }), isDenied)
  })

  it('returns a redirect, and checks the request that follows it', async () => {
    const { port } = await listen((_, response) => {
      response.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data/agent.json' }).end('moved')
    })
    const fetch = guardedFetch({ allowHttp: true, allow: ['127.0.0.1'] })
    const url = `http://127.0.0.1:${port}/card.json`
    const response = await fetch(new Request(url))
    assert.equal(response.status, 302)
    assert.equal(await response.text(), 'moved')
    const http = createHttpClient({ limits: defaultClientLimits, fetch })
    await assert.rejects(fetchCard(url, { http, limits: defaultClientLimits }), isDenied)
    assert.equal(await discover(url, { fetch }), null)
  })
})

describe('the data of a guarded fetch', () => {
  it('is the unchanged request, with new connection headers', async () => {
    const seen: string[] = []
    const { port } = await listen((request, response) => {
      const { host, connection, 'x-a': a, 'content-length': length, 'accept-encoding': encoding } = request.headers
      seen.push(`${request.method} ${request.url}`, ...[host, connection, a, length, encoding].map(String))
      request.setEncoding('utf8').on('data', (chunk: string) => seen.push(chunk))
      request.on('end', () => response.writeHead(201, 'Made', { 'set-cookie': ['a=1', 'b=2'], 'x-b': 'ü' }).end('{}'))
    })
    const url = `http://127.0.0.1:${port}`
    const response = await guardedFetch({ allowHttp: true, allowLoopback: true })(
      new Request(`${url}/a?b=c`, { method: 'POST', body: 'héllo', headers: { 'x-a': '1', host: 'evil.test' } }),
    )
    const expected = ['POST /a?b=c', `127.0.0.1:${port}`, 'keep-alive', '1', '6', 'identity', 'héllo']
    assert.deepEqual(seen, expected)
    assert.equal(response.status, 201)
    assert.equal(response.statusText, 'Made')
    assert.deepEqual(response.headers.getSetCookie(), ['a=1', 'b=2'])
    assert.deepEqual(await response.json(), {})
  })

  it('uses persistent connections', async () => {
    const { port, server } = await listen((_, response) => response.end('x'))
    let connections = 0
    server.on('connection', () => (connections += 1))
    const fetch = guardedFetch({ allowHttp: true, allowLoopback: true })
    for (let count = 0; count < 3; count++) await (await fetch(new Request(`http://127.0.0.1:${port}`))).text()
    assert.equal(connections, 1)
  })

  it('has no body if there is none', async () => {
    for (const status of [204, 205, 304]) {
      const { port } = await listen((_, response) => response.writeHead(status).end())
      const response = await get(`http://127.0.0.1:${port}/`)
      assert.deepEqual([response.status, response.body], [status, null])
    }
    const { port } = await listen((_, response) => response.end('long'))
    const request = new Request(`http://127.0.0.1:${port}/`, { method: 'HEAD' })
    assert.equal((await guardedFetch({ allowHttp: true, allowLoopback: true })(request)).body, null)
  })

  it('is read with backpressure: a reader that does not read does not fill the memory', async () => {
    let written = 0
    const stuck = Promise.withResolvers<void>()
    const { port } = await listen((_, response) => {
      const chunk = Buffer.alloc(64 * 1024)
      const more = (): void => {
        for (let count = 0; count < 64; count++) {
          written += chunk.length
          if (!response.write(chunk)) return stuck.resolve()
        }
        setImmediate(more)
      }
      more()
      response.on('drain', more)
    })
    const response = await get(`http://127.0.0.1:${port}/`)
    await stuck.promise
    // Waits until the two sockets and the streams between them are full; without back-pressure it would grow for ever.
    for (let last = -1; last !== written; await new Promise((resolve) => setTimeout(resolve, 50))) last = written
    assert.ok(written < 32 * 1024 * 1024, `${written} bytes`)
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    for (let left = written; left > 0;) left -= (await reader.read()).value?.byteLength ?? Infinity
    await reader.cancel()
  })

  it('ends with the reason when it is aborted, before or after the response has begun, or cancelled', async () => {
    const answers: ServerResponse[] = []
    const { port, server } = await listen((request, response) => {
      answers.push(response)
      if (request.url === '/begin') response.write('begin')
    })
    const reason = new Error('enough')
    const fetch = guardedFetch({ allowHttp: true, allowLoopback: true })
    const url = `http://127.0.0.1:${port}`
    await assert.rejects(fetch(new Request(url, { signal: AbortSignal.abort(reason) })), reason)

    const early = new AbortController()
    const request = new Request(url, { signal: early.signal })
    const arrived = once(server, 'request')
    const waiting = fetch(request)
    await arrived
    early.abort(reason)
    await assert.rejects(waiting, reason)

    const late = new AbortController()
    const begun = new Request(`${url}/begin`, { signal: late.signal })
    const response = await fetch(begun)
    const closed = once(answers.at(-1) as ServerResponse, 'close')
    late.abort(reason)
    await assert.rejects(response.text(), reason)
    await closed

    const unread = new Request(`${url}/begin`)
    const cancelled = await fetch(unread)
    const left = once(answers.at(-1) as ServerResponse, 'close')
    await cancelled.body?.cancel()
    await left
    for (const { signal } of [request, begun, unread]) assert.equal(getEventListeners(signal, 'abort').length, 0)
  })

  it('tolerates a response that Node reads and a Response cannot represent', async () => {
    const { server, port } = await listen(() => {})
    const says = (line: string): Promise<Response> => {
      server.removeAllListeners('connection').once('connection', (socket: Socket) => {
        socket.once('data', () => socket.end(Buffer.from(`HTTP/1.1 ${line}\r\nContent-Length: 1\r\n\r\nx`, 'latin1')))
      })
      return get(`http://127.0.0.1:${port}/`)
    }
    const broken = { code: 'INVALID_AGENT_RESPONSE' }
    await assert.rejects(says('999 Beyond'), broken)
    await assert.rejects(
      says('101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x'),
      /closed without a response/,
    )
    assert.equal((await says('200 \x01Fine\xe9')).statusText, 'Fine\xe9')
  })

  it('fails when the peer disconnects, or compresses without being asked', async () => {
    const { port } = await listen((request, response) => {
      if (request.url === '/packed') return response.writeHead(200, { 'content-encoding': 'gzip' }).end('x')
      response.writeHead(200, { 'content-length': '100' }).write('half')
      setImmediate(() => request.socket.destroy())
    })
    await assert.rejects((await get(`http://127.0.0.1:${port}/`)).text(), { code: 'ECONNRESET' })
    await assert.rejects(get(`http://127.0.0.1:${port}/packed`), { code: 'INVALID_AGENT_RESPONSE' })
    await assert.rejects(get('http://127.0.0.1:1/'), { code: 'ECONNREFUSED' })
  })
})
