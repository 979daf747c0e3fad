import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { A2AError } from '../../model/error.ts'
import { openRawServers } from '../../testing/fixtures/raw-server.ts'
import type { AuthCredentials, Fetch, OutgoingHttpRequest } from '../contract.ts'
import { createHttpClient, type HttpClientDeps } from './http-client.ts'
import { readText } from './read-text.ts'
import { defaultClientLimits } from '../call-options.ts'

const listen = openRawServers()
const never = new AbortController().signal
const secrets: AuthCredentials = {
  headers: { authorization: 'Bearer secret', 'x-api-key': 'secret' },
  query: { key: 'secret' },
  cookies: { sid: 'secret' },
}
const http = (parts: Partial<HttpClientDeps> = {}) =>
  createHttpClient({
    limits: defaultClientLimits,
    authenticate: () => secrets,
    headers: { 'x-own': 'secret' },
    ...parts,
  })
const asked = (url: string, over: Partial<OutgoingHttpRequest> = {}): OutgoingHttpRequest => ({
  method: 'GET',
  url,
  headers: { 'A2A-Version': '1.0', 'x-of-this-call': 'secret' },
  signal: never,
  ...over,
})
const post = { method: 'POST', body: '{"text":"hi"}' }
const isRefused = (message: RegExp) => (error: unknown) => {
  assert.ok(error instanceof A2AError, String(error))
  assert.equal(error.code, 'INVALID_AGENT_RESPONSE')
  assert.equal(error.details['reason'], 'REDIRECT')
  assert.match(error.message, message)
  assert.doesNotMatch(error.message, /secret/)
  return true
}
/** A server without a socket, for what a socket cannot provide: a browser's responses, and TLS. */
const socketless =
  (answers: Record<string, () => Response>, seen: Request[] = []): Fetch =>
  async (request) => {
    seen.push(request)
    return answers[request.url]?.() ?? new Response('end')
  }
const to = (location: string, status = 302) => new Response(null, { status, headers: { location } })

describe('a redirect', () => {
  it('within an origin keeps the credentials', async () => {
    for (const status of [301, 302, 303, 307, 308]) {
      const { url, requests } = await listen((request, response) => {
        if (request.url?.startsWith('/new') !== true) response.writeHead(status, { location: '/new?x=1#there' })
        response.end('here')
      })
      assert.equal(await readText(await http().send(asked(`${url}/old`)), 10, never), 'here')
      assert.equal(requests[1]?.url, '/new?x=1&key=secret')
      assert.equal(requests[1].headers.authorization, 'Bearer secret')
      assert.equal(requests[1].headers.cookie, 'sid=secret')
      assert.equal(requests[1].headers['x-own'], 'secret')
    }
  })

  it('to another origin carries no credentials, not even those that the peer repeats [B-26]', async () => {
    const other = await listen((_, response) => response.end('elsewhere'))
    const { url } = await listen((request, response) => {
      response.writeHead(307, { location: other.url + request.url }).end()
    })
    const response = await http().send(asked(`${url}/a?x=1`, { ...post }))
    assert.equal(await readText(response, 10, never), 'elsewhere')
    const [request] = other.requests
    assert.equal(request?.url, '/a?x=1')
    assert.doesNotMatch(JSON.stringify(request.rawHeaders), /secret/)
    assert.equal(request.headers['a2a-version'], '1.0', 'what the question means stays')
  })

  it('that leads back is still followed without credentials', async () => {
    const seen: Request[] = []
    const fetch = socketless(
      {
        'https://a.test/?key=secret': () => to('https://b.test/'),
        'https://b.test/': () => to('https://a.test/admin'),
      },
      seen,
    )
    await http({ fetch }).send(asked('https://a.test/'))
    assert.equal(seen[2]?.url, 'https://a.test/admin')
    assert.doesNotMatch(JSON.stringify([...seen[2].headers]), /secret/)
  })

  it('to an origin that then refuses does not send credentials there', async () => {
    const seen: Request[] = []
    const fetch = socketless(
      {
        'https://a.test/?key=secret': () => to('https://b.test/'),
        'https://b.test/': () => new Response(null, { status: 401 }),
      },
      seen,
    )
    let count = 0
    const authenticate = (): AuthCredentials => ({ ...secrets, headers: { authorization: `Bearer ${count++}` } })
    assert.equal((await http({ fetch, authenticate }).send(asked('https://a.test/'))).status, 401)
    assert.equal(seen.length, 2)
  })

  it('keeps method and body with 307 and 308, and is refused if the body would be lost', async () => {
    for (const status of [301, 302, 303, 307, 308]) {
      const bodies: string[] = []
      const { url } = await listen((request, response) => {
        if (request.url?.startsWith('/new') !== true) return response.writeHead(status, { location: '/new' }).end()
        request.setEncoding('utf8').on('data', (chunk: string) => bodies.push(`${request.method} ${chunk}`))
        request.on('end', () => response.end())
      })
      const sent = http().send(asked(url, post))
      if (status < 307) await assert.rejects(sent, isRefused(new RegExp(`a POST with ${status}`)))
      else assert.equal((await sent).status, 200)
      assert.deepEqual(bodies, status < 307 ? [] : [`POST ${post.body}`])
    }
  })

  it('is followed up to a maximum number', async () => {
    const { url, requests } = await listen((_, response) => response.writeHead(302, { location: '/again' }).end())
    const limits = { ...defaultClientLimits, maxRedirects: 3 }
    await assert.rejects(http({ limits }).send(asked(url)), isRefused(/more than 3 times/))
    assert.equal(requests.length, 4)
    await assert.rejects(
      http({ limits: { ...limits, maxRedirects: 0 } }).send(asked(url)),
      isRefused(/must not be redirected/),
    )
  })

  it('goes only to http(s), without a password, and not from https to http', async () => {
    for (const location of ['file:///etc/passwd', 'javascript:1', 'http://me:pw@a.test/', 'http://:99999/', '']) {
      const fetch = socketless({ 'http://a.test/?key=secret': () => to(location) })
      const sent = http({ fetch }).send(asked('http://a.test/'))
      // An empty one is the same URL again.
      await assert.rejects(sent, isRefused(location === '' ? /more than/ : /cannot be followed/))
    }
    const fetch = socketless({ 'https://a.test/?key=secret': () => to('http://a.test/') })
    await assert.rejects(http({ fetch }).send(asked('https://a.test/')), isRefused(/from https to http/))
    const nowhere = socketless({ 'http://a.test/?key=secret': () => new Response(null, { status: 302 }) })
    await assert.rejects(http({ fetch: nowhere }).send(asked('http://a.test/')), isRefused(/cannot be followed/))
  })

  it('keeps the time limit', async () => {
    const { url } = await listen((request, response) => {
      if (request.url === '/') response.writeHead(302, { location: '/slow' }).end()
    })
    const sender = createHttpClient({ limits: defaultClientLimits })
    await assert.rejects(
      sender.send(asked(`${url}/`, { timeoutMs: 50 })),
      (error: A2AError) => error.code === 'TIMEOUT',
    )
  })

  it('closes the bodies of redirect responses', async () => {
    const cancelled: string[] = []
    const hop = (location: string) =>
      new Response(new ReadableStream({ cancel: () => void cancelled.push(location) }), {
        status: 302,
        headers: { location },
      })
    const fetch = socketless({ 'http://a.test/': () => hop('/b'), 'http://a.test/b': () => hop('ftp://c/') })
    await assert.rejects(
      createHttpClient({ limits: defaultClientLimits, fetch }).send(asked('http://a.test/')),
      A2AError,
    )
    assert.deepEqual(cancelled, ['/b', 'ftp://c/'])
  })
})

describe('a redirect in a browser, which hides its target', () => {
  /** Responds like a browser to `redirect: 'manual'`. */
  const browser =
    (modes: string[]): Fetch =>
    async ({ redirect }) => {
      modes.push(redirect)
      const response = redirect === 'manual' ? Response.error() : new Response('there')
      if (redirect === 'manual') Object.defineProperty(response, 'type', { value: 'opaqueredirect' })
      else Object.defineProperty(response, 'url', { value: 'https://b.test/there' })
      return response
    }

  it('is followed by the browser itself if the request has no credentials', async () => {
    const modes: string[] = []
    const sender = createHttpClient({ limits: defaultClientLimits, fetch: browser(modes) })
    const response = await sender.send(asked('https://a.test/', { headers: { 'A2A-Version': '1.0' } }))
    assert.equal(await readText(response, 10, never), 'there')
    assert.deepEqual(modes, ['manual', 'follow'])
  })

  it('is refused otherwise', async () => {
    const plain: HttpClientDeps = { limits: defaultClientLimits, fetch: browser([]) }
    const harmless = { headers: { 'A2A-Version': '1.0' } }
    for (const [parts, over] of [
      [plain, { ...harmless, ...post }],
      [plain, {}],
      [{ ...plain, headers: { 'x-own': 'secret' } }, harmless],
      [{ ...plain, authenticate: () => ({ query: { key: 'secret' } }) }, harmless],
      [{ ...plain, authenticate: () => ({ cookies: { sid: 'secret' } }) }, harmless],
    ] satisfies [HttpClientDeps, Partial<OutgoingHttpRequest>][]) {
      await assert.rejects(createHttpClient(parts).send(asked('https://a.test/', over)), isRefused(/browser/))
    }
  })
})
