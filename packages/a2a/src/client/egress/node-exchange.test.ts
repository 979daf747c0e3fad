import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once, type EventEmitter } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import type { TLSSocket } from 'node:tls'
import { after, describe, it } from 'node:test'
import { setImmediate as turnOfTheLoop } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { A2AError } from '../../model/error.ts'
import type { DirectFetch, HttpAnswer } from '../contract.ts'
import { defaultClientLimits } from '../call-options.ts'
import { createHttpClient } from '../http/http-client.ts'
import { readText } from '../http/read-text.ts'
import { selfSigned } from '../../testing/fixtures/self-signed-certificate.ts'
import { guardedFetch } from './guarded-fetch.ts'
import { nodeFetch } from './node-exchange.ts'

const opened: Server[] = []
after(() => {
  for (const server of opened) {
    server.close()
    server.closeAllConnections()
  }
})
async function listen(listener: RequestListener) {
  const server = createServer(listener)
  const sockets: Socket[] = []
  server.on('connection', (socket) => sockets.push(socket))
  opened.push(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, sockets }
}
/** Resolves when the client has closed its next response, or the request, which then has returned its connection. */
function nextClosed(which: 'request' | 'response'): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const channel = 'http.client.response.finish'
  subscribe(channel, function observe(message) {
    unsubscribe(channel, observe)
    // Not `once` of node:events, which listens to errors too: the exchange may have no listener for them.
    ;(message as Record<typeof which, EventEmitter>)[which].on('close', resolve)
  })
  return promise
}
const never = new AbortController().signal
const ask = ({ exchange }: DirectFetch, url: string, over: object = {}): Promise<HttpAnswer> =>
  exchange({ url: new URL(url), method: 'GET', headers: {}, signal: never, ...over })
const textOf = (answer: HttpAnswer): Promise<string> => readText(answer, 1_000_000, never)
const hasCode = (code: string) => (error: unknown) => error instanceof A2AError && error.code === code

describe('a direct exchange', () => {
  it('sends method, headers and body, and returns status, headers and body', async () => {
    const { url } = await listen((request, response) => {
      const { method, headers } = request
      void text(request).then((body) => {
        response.writeHead(201, { 'X-One': '1', 'Set-Cookie': ['a=1', 'b=2'] })
        response.end([method, headers['x-two'], headers['content-length'], headers.connection, body].join(' '))
      })
    })
    const headers = { 'x-two': '2', connection: 'close', 'content-length': '99' }
    const answer = await ask(nodeFetch(), `${url}/path?q=1`, { method: 'POST', body: 'naïve', headers })
    assert.deepEqual([answer.status, answer.ok, answer.headers.get('x-one')], [201, true, '1'])
    assert.deepEqual([answer.headers.get('Set-Cookie'), answer.headers.get('x-three')], ['a=1, b=2', null])
    assert.equal(await textOf(answer), 'POST 2 6 keep-alive naïve')
  })

  it('uses one connection for one request after the other, also if a body was not read to its end', async () => {
    const { url, sockets } = await listen((_, response) => response.end('one'.repeat(1_000)))
    const fetch = nodeFetch()
    for (let nth = 0; nth < 3; nth++) await textOf(await ask(fetch, url))
    const unread = await ask(fetch, url)
    await unread.body?.cancel()
    await turnOfTheLoop()
    const reader = (await ask(fetch, url)).body?.getReader()
    await reader?.read()
    await reader?.cancel()
    await turnOfTheLoop()
    await textOf(await ask(fetch, url))
    assert.equal(sockets.length, 1)
  })

  it('closes the connection of a stream that is left', async () => {
    let response: ServerResponse | undefined
    const { url } = await listen((_, answer) => {
      response = answer
      answer.write('first')
    })
    const reader = (await ask(nodeFetch(), url)).body?.getReader()
    assert.equal(Buffer.from((await reader?.read())?.value ?? []).toString(), 'first')
    const pending = reader?.read()
    const closed = once(response!, 'close')
    await reader?.cancel()
    assert.equal((await pending)?.done, true)
    await closed
  })

  it('fails if the connection breaks within the body', async () => {
    const { url } = await listen((_, response) => {
      response.writeHead(200, { 'content-length': '100' })
      response.write('first', () => response.destroy())
    })
    await assert.rejects(textOf(await ask(nodeFetch(), url)), hasCode('INTERRUPTED'))
  })

  it('fails if the connection broke before the body is read', { timeout: 120_000 }, async () => {
    for (const encoding of ['identity', 'gzip']) {
      const { url, sockets } = await listen((_, response) => {
        response.writeHead(200, { 'content-length': '100', 'content-encoding': encoding }).write('{"a"')
      })
      const closed = nextClosed('response')
      const answer = await ask(nodeFetch(), url)
      sockets[0]!.destroy()
      await closed
      await assert.rejects(textOf(answer), hasCode('INTERRUPTED'))
    }
  })

  it('closes the connection of a peer that sends a body after a 205', { timeout: 120_000 }, async () => {
    const closings: Promise<unknown>[] = []
    const { url } = await listen((_, { socket }) => {
      closings.push(once(socket!, 'close'))
      // A ServerResponse omits such a body.
      socket!.write('HTTP/1.1 205 Reset Content\r\ntransfer-encoding: chunked\r\n\r\n1\r\nx\r\n')
    })
    const fetch = nodeFetch()
    assert.equal((await ask(fetch, url)).body, null)
    assert.equal((await fetch(new Request(url))).body, null)
    assert.equal(closings.length, 2)
    await Promise.all(closings)
  })

  it('uses the connection again after a response without a body', async () => {
    const { url, sockets } = await listen((request, response) => {
      // Node closes the connection after a HEAD whose response gives no length.
      if (request.method === 'HEAD') response.setHeader('content-length', 5)
      response.writeHead(Number(request.url?.slice(1))).end()
    })
    const fetch = nodeFetch()
    for (const [method, status] of [
      ['HEAD', 200],
      ['GET', 204],
      ['GET', 205],
      ['GET', 304],
    ] as const) {
      const closed = nextClosed('request')
      assert.equal((await ask(fetch, `${url}/${status}`, { method })).body, null)
      await closed
    }
    assert.equal(sockets.length, 1)
  })

  it('stops when the signal aborts, with its reason', async () => {
    const controller = new AbortController()
    const { url } = await listen(() => controller.abort(new Error('enough')))
    await assert.rejects(ask(nodeFetch(), url, { signal: controller.signal }), /enough/)
    await assert.rejects(ask(nodeFetch(), url, { signal: controller.signal }), /enough/)
  })

  it('does not send a header that HTTP does not allow, and does not quote it', async () => {
    const { url } = await listen((_, response) => response.end())
    for (const headers of [{ secret: 'a\nb' }, { 'se cret': 'a' }])
      await assert.rejects(ask(nodeFetch(), url, { headers }), (error: Error) => {
        assert.doesNotMatch(error.message, /se ?cret/)
        return hasCode('INVALID_PARAMS')(error)
      })
  })

  it('sends header values without the whitespace around them, as the fetch does', async () => {
    const { url } = await listen((request, response) => response.end(request.headersDistinct['x-key']?.join()))
    for (const [value, sent] of [
      ['secret\n', 'secret'],
      [' \t\r\na b\r\n\t ', 'a b'],
      ['\u00a0a\u00a0', '\u00a0a\u00a0'],
      ['\n', ''],
    ] as const) {
      const headers = { 'x-key': value }
      assert.equal(await textOf(await ask(nodeFetch(), url, { headers })), sent)
      assert.equal(await (await nodeFetch()(new Request(url, { headers }))).text(), sent)
    }
  })

  it('rejects an encoding that has the name of a property of every object', { timeout: 120_000 }, async () => {
    const { url, sockets } = await listen((request, response) => {
      response.writeHead(200, { 'content-encoding': request.url!.slice(1) }).write('{}')
    })
    for (const encoding of ['constructor', 'toString', '__proto__']) {
      await assert.rejects(ask(nodeFetch(), `${url}/${encoding}`), hasCode('INVALID_AGENT_RESPONSE'))
      await assert.rejects(nodeFetch()(new Request(`${url}/${encoding}`)), hasCode('INVALID_AGENT_RESPONSE'))
    }
    assert.equal(sockets.length, 6)
    for (const socket of sockets) if (!socket.closed) await once(socket, 'close')
  })

  it('reads a compressed response of an address that the operator chose, and of no other', async () => {
    const { url } = await listen((request, response) => {
      assert.equal(request.headers['accept-encoding'], 'identity')
      response.setHeader('content-encoding', request.url === '/odd' ? 'zip' : 'gzip').end(gzipSync('hello'))
    })
    assert.equal(await textOf(await ask(nodeFetch(), url)), 'hello')
    assert.equal(await (await nodeFetch()(new Request(url))).text(), 'hello')
    await assert.rejects(ask(nodeFetch(), `${url}/odd`), hasCode('INVALID_AGENT_RESPONSE'))
    const guarded = guardedFetch({ allowHttp: true, allowLoopback: true })
    await assert.rejects(ask(guarded, url), hasCode('INVALID_AGENT_RESPONSE'))
  })

  it('applies the guard to every exchange [B-26 S0-36]', async () => {
    const { url, sockets } = await listen((_, response) => response.end('secret'))
    await assert.rejects(ask(guardedFetch({ allowHttp: true }), url), hasCode('PERMISSION_DENIED'))
    const named = url.replace('127.0.0.1', 'localhost')
    await assert.rejects(ask(guardedFetch({ allowHttp: true }), named), hasCode('PERMISSION_DENIED'))
    await assert.rejects(ask(guardedFetch({ allowLoopback: true }), url), hasCode('PERMISSION_DENIED'))
    assert.equal(sockets.length, 0)
    assert.equal(await textOf(await ask(guardedFetch({ allowHttp: true, allowLoopback: true }), url)), 'secret')
  })
})

describe('a client with a direct fetch', () => {
  const send = (
    url: string,
    fetch: DirectFetch,
    authenticate?: Parameters<typeof createHttpClient>[0]['authenticate'],
  ) =>
    createHttpClient({ fetch, authenticate, limits: defaultClientLimits, headers: { 'X-Own': 'own' } }).send({
      method: 'POST',
      url,
      headers: { Accept: 'text/plain' },
      body: 'the same',
      signal: never,
    })

  it('follows redirects, and sends neither credentials nor own headers to another origin', async () => {
    const other = await listen((request, response) => {
      const { authorization, accept, 'x-own': own } = request.headers
      void text(request).then((body) => response.end(JSON.stringify([authorization, accept, own, body])))
    })
    const first = await listen((request, response) => {
      assert.deepEqual([request.headers.authorization, request.headers['x-own']], ['Bearer key', 'own'])
      response.writeHead(307, { location: request.url === '/' ? '/again' : other.url }).end()
    })
    const answer = await send(`${first.url}/`, nodeFetch(), async () => ({ headers: { authorization: 'Bearer key' } }))
    assert.deepEqual(JSON.parse(await textOf(answer)), [null, 'text/plain', null, 'the same'])
  })

  it('sends other credentials after a refusal, with cookies in one header', async () => {
    const { url } = await listen((request, response) => {
      response.statusCode = request.headers.cookie === 'a=2; b=3' ? 200 : 401
      response.end(request.headers.cookie)
    })
    const answer = await send(url, nodeFetch(), async ({ refused }) => ({
      cookies: refused === undefined ? { a: '1' } : { a: '2', b: '3' },
    }))
    assert.deepEqual([answer.status, await textOf(answer)], [200, 'a=2; b=3'])
  })

  it('reports an address that cannot be reached as every client does', async () => {
    await assert.rejects(send('http://127.0.0.1:1/', nodeFetch()), hasCode('UNAVAILABLE'))
  })
})

describe('the TLS options of nodeFetch', () => {
  const own = selfSigned('localhost')
  const client = selfSigned('billing')
  async function listenSecurely() {
    const server = createSecureServer({ ...own, ca: client.cert, requestCert: true, rejectUnauthorized: false })
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      const socket = request.socket as TLSSocket
      response.end(socket.authorized ? String(socket.getPeerCertificate().subject.CN) : 'unknown')
    })
    opened.push(server)
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return `https://localhost:${(server.address() as AddressInfo).port}`
  }

  it('trust another authority, and present a certificate', async () => {
    const url = await listenSecurely()
    await assert.rejects(ask(nodeFetch(), url), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' })
    await assert.rejects(ask(nodeFetch({ tls: client }), url), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' })
    assert.equal(await textOf(await ask(nodeFetch({ tls: { ca: own.cert } }), url)), 'unknown')
    const tls = { ca: Buffer.from(own.cert), cert: Buffer.from(client.cert), key: client.key }
    assert.equal(await textOf(await ask(nodeFetch({ tls }), url)), 'billing')
  })

  it('accept every certificate only if asked to', async () => {
    const url = await listenSecurely()
    assert.equal(await textOf(await ask(nodeFetch({ tls: { rejectUnauthorized: false } }), url)), 'unknown')
  })
})

it('sends requests through the proxy that the given variables name, except to excluded hosts', async () => {
  const target = await listen((_, response) => response.end('direct'))
  const proxy = await listen((request, response) => response.end(`by proxy: ${request.url}`))
  const fetch = nodeFetch({ proxyEnv: { HTTP_PROXY: proxy.url } })
  assert.equal(await textOf(await ask(fetch, `${target.url}/x`)), `by proxy: ${target.url}/x`)
  const excluded = nodeFetch({ proxyEnv: { http_proxy: proxy.url, no_proxy: '127.0.0.1' } })
  assert.equal(await textOf(await ask(excluded, `${target.url}/x`)), 'direct')
})
