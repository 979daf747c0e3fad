import assert from 'node:assert/strict'
import { getEventListeners, once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { createServer as createHttp2Server } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { after, describe, it } from 'node:test'
import { A2AError } from '../../model/error.ts'
import { openRawServers } from '../../testing/fixtures/raw-server.ts'
import type { AuthCredentials, AuthRequest, Fetch, OutgoingHttpRequest } from '../contract.ts'
import { createHttpClient, type HttpClientDeps, responseOriginOf } from './http-client.ts'
import { readText } from './read-text.ts'
import { defaultClientLimits } from '../call-options.ts'
import { nodeFetch } from '../egress/node-exchange.ts'

const listen = openRawServers()
const never = new AbortController().signal
const get = (url: string, over: Partial<OutgoingHttpRequest> = {}): OutgoingHttpRequest => ({
  method: 'GET',
  url,
  headers: { 'A2A-Version': '1.0' },
  signal: never,
  ...over,
})
const http = (parts: Partial<HttpClientDeps> = {}) => createHttpClient({ limits: defaultClientLimits, ...parts })
const isA2AError =
  (code: string, details: object = {}) =>
  (error: unknown) => {
    assert.ok(error instanceof A2AError, String(error))
    assert.equal(error.code, code, error.message)
    for (const [name, value] of Object.entries(details)) assert.equal(error.details[name], value)
    return true
  }

describe('a request', () => {
  it('has its own headers, those of the user and the credentials [B-1]', async () => {
    const { url, requests } = await listen((_, response) => response.end('{}'))
    const authenticate = (): AuthCredentials => ({
      headers: { authorization: 'Bearer one' },
      query: { key: 'two three' },
      cookies: { sid: 'four', lang: 'en' },
    })
    const sender = http({ authenticate, headers: { 'x-team': 'blue', 'a2a-version': '9', cookie: 'a=b' } })
    const response = await sender.send(get(`${url}/card?x=1#part`, { method: 'POST', body: 'hello' }))
    assert.equal(await readText(response, 100, never), '{}')
    const [request] = requests
    assert.equal(request?.url, '/card?x=1&key=two+three')
    const { headers } = request
    assert.equal(headers.authorization, 'Bearer one')
    assert.equal(headers.cookie, 'a=b; sid=four; lang=en')
    assert.equal(headers['x-team'], 'blue')
    assert.equal(headers['a2a-version'], '1.0', 'the protocol decides, not the user')
  })

  it('is refused before it is sent if the address is not an http(s) URL or has a password', async () => {
    for (const url of ['ftp://agent.test/', 'agent.test', 'https://me:secret@agent.test/']) {
      await assert.rejects(http().send(get(url)), (error: Error) => {
        assert.doesNotMatch(error.message, /secret/)
        return isA2AError('INVALID_PARAMS')(error)
      })
    }
  })

  it('does not quote a header that cannot be sent', async () => {
    await assert.rejects(http({ headers: { 'x-key': 'sec\nret' } }).send(get('http://agent.test')), (error: Error) => {
      assert.doesNotMatch(error.message, /sec/)
      return isA2AError('INVALID_PARAMS')(error)
    })
  })

  it('reports the final address and the credentials of its response', async () => {
    const { url } = await listen((request, response) => {
      if (request.url === '/old') response.writeHead(301, { location: '/new' })
      response.end()
    })
    const sender = http({ authenticate: () => ({ headers: { authorization: 'Bearer one' } }) })
    const response = await sender.send(get(`${url}/old`))
    assert.equal(responseOriginOf(response)?.url.href, `${url}/new`)
    assert.equal(responseOriginOf(response)?.identity, await sender.identify(get(url)))
    assert.notEqual(responseOriginOf(response)?.identity, await http().identify(get(url)))
  })
})

describe('a 401', () => {
  const protectedBy = (token: string) =>
    listen((request, response) => {
      const isKnown = request.headers.authorization === `Bearer ${token}`
      response.writeHead(isKnown ? 200 : 401, { 'www-authenticate': 'Bearer realm="a"' })
      response.end(isKnown ? 'welcome' : 'who are you?')
    })

  it('is answered once with other credentials, if there are some', async () => {
    const { url, requests } = await protectedBy('new')
    const asked: AuthRequest[] = []
    const authenticate = (request: AuthRequest): AuthCredentials => {
      asked.push(request)
      return { headers: { authorization: request.refused ? 'Bearer new' : 'Bearer old' } }
    }
    const response = await http({ authenticate }).send(get(url, { method: 'POST', body: 'the same' }))
    assert.equal(await readText(response, 100, never), 'welcome')
    assert.equal(requests.length, 2)
    assert.deepEqual(asked[1]?.refused, {
      wwwAuthenticate: 'Bearer realm="a"',
      sent: { headers: { authorization: 'Bearer old' } },
    })
  })

  it('is returned, still readable, if there are no other credentials', async () => {
    for (const second of [undefined, { headers: { authorization: 'Bearer old' } }]) {
      const { url, requests } = await protectedBy('new')
      const authenticate = ({ refused }: AuthRequest): AuthCredentials | undefined =>
        refused ? second : { headers: { authorization: 'Bearer old' } }
      const response = await http({ authenticate }).send(get(url))
      assert.equal(response.status, 401)
      assert.equal(await readText(response, 100, never), 'who are you?')
      assert.equal(requests.length, 1)
    }
  })

  it('is not answered twice', async () => {
    const { url, requests } = await protectedBy('unknown')
    let count = 0
    const authenticate = (): AuthCredentials => ({ headers: { authorization: `Bearer ${++count}` } })
    assert.equal((await http({ authenticate }).send(get(url))).status, 401)
    assert.equal(requests.length, 2)
  })

  it('leaves no response open if the second attempt cannot be made', async () => {
    let left: Promise<unknown> | undefined
    const { url } = await listen((_, response) => {
      left = once(response, 'close')
      response.writeHead(401).write('more to come')
    })
    const authenticate = ({ refused }: AuthRequest): AuthCredentials => {
      if (refused) throw new A2AError('UNAUTHENTICATED', 'the person went away')
      return {}
    }
    await assert.rejects(http({ authenticate }).send(get(url)), isA2AError('UNAUTHENTICATED'))
    await left
  })
})

describe('a request that fails', () => {
  it('names the peer and the reason when it cannot be reached, and not the key in its query', async () => {
    const { url } = await listen((request) => request.socket.destroy())
    await assert.rejects(http().send(get(`${url}/a?key=secret`)), (error: Error) => {
      assert.match(error.message, /^http:\/\/127\.0\.0\.1:\d+\/a cannot be reached: \w+/)
      return isA2AError('UNAVAILABLE', { reason: 'NETWORK' })(error)
    })
    await assert.rejects(http().send(get('http://127.0.0.1:1/')), isA2AError('UNAVAILABLE', { reason: 'NETWORK' }))
  })

  it('says that a server speaks http and not https, or another protocol than HTTP/1.1', async () => {
    const { url } = await listen((_, response) => response.end())
    const plain = createHttp2Server()
    plain.listen(0, '127.0.0.1')
    await once(plain, 'listening')
    after(() => plain.close())
    const grpcUrl = `http://127.0.0.1:${(plain.address() as AddressInfo).port}/`
    for (const client of [http(), http({ fetch: nodeFetch() })]) {
      await assert.rejects(client.send(get(url.replace('http:', 'https:'))), /reached: it speaks http, not https \(/)
      await assert.rejects(
        client.send(get(grpcUrl)),
        /reached: it is not an HTTP\/1\.1 server; is it a port of gRPC\? \(/,
      )
    }
  })

  it('passes on the error of an injected fetch', async () => {
    const refuse: Fetch = () => Promise.reject(new A2AError('PERMISSION_DENIED', 'not there'))
    await assert.rejects(http({ fetch: refuse }).send(get('http://agent.test')), isA2AError('PERMISSION_DENIED'))
  })

  it('ends with TIMEOUT when no response begins, and closes the connection', async () => {
    let left: Promise<unknown> | undefined
    const { url } = await listen((_, response) => void (left = once(response, 'close')))
    const limits = { ...defaultClientLimits, timeoutMs: 30 }
    await assert.rejects(http({ limits }).send(get(url)), isA2AError('TIMEOUT'))
    await left
    await assert.rejects(http().send(get(url, { timeoutMs: 30 })), isA2AError('TIMEOUT'))
  })

  it('does not count the time in which a user signs in', async (t) => {
    const { url } = await listen((_, response) => response.end('in'))
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const authenticate = async (): Promise<AuthCredentials> => {
      t.mock.timers.tick(600_000)
      return {}
    }
    const response = await http({ authenticate }).send(get(url, { timeoutMs: 1_000 }))
    assert.equal(await readText(response, 10, never), 'in')
  })

  it("rejects with the caller's own reason when the caller aborts, also during the response", async () => {
    const begun = Promise.withResolvers<ServerResponse>()
    const { url } = await listen((_, response) => {
      response.write('half of ')
      begun.resolve(response)
    })
    const reason = new Error('enough')
    const early = AbortSignal.abort(reason)
    await assert.rejects(http().send(get(url, { signal: early })), reason)
    const leaving = new AbortController()
    const response = await http().send(get(url, { signal: leaving.signal }))
    const closed = once(await begun.promise, 'close')
    const text = readText(response, 100, leaving.signal)
    leaving.abort(reason)
    await assert.rejects(text, reason)
    await closed
    assert.equal(getEventListeners(leaving.signal, 'abort').length, 0)
  })

  it('does not wait for a fetch or an authenticator that ignores the signal, and drops late results', async () => {
    const late = Promise.withResolvers<Response>()
    const cancelled = Promise.withResolvers<void>()
    const deaf = http({ fetch: () => late.promise })
    await assert.rejects(deaf.send(get('http://agent.test', { timeoutMs: 10 })), isA2AError('TIMEOUT'))
    late.resolve(new Response(new ReadableStream({ cancel: () => cancelled.resolve() })))
    await cancelled.promise

    const reason = new Error('enough')
    const leaving = new AbortController()
    const sent = http({ authenticate: () => new Promise(() => {}) }).send(
      get('http://agent.test', { signal: leaving.signal }),
    )
    leaving.abort(reason)
    await assert.rejects(sent, reason)
  })
})
