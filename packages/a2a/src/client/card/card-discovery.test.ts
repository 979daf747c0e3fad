import assert from 'node:assert/strict'
import { getEventListeners, once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { beforeEach, describe, it } from 'node:test'
import { A2AError } from '../../model/error.ts'
import { createHandler } from '../../server/index.ts'
import { memoryStore } from '../../stores/memory/memory-store.ts'
import { openRawServers } from '../../testing/fixtures/raw-server.ts'
import { openServers } from '../../testing/fixtures/test-server.ts'
import { clearCardCache, discover, fetchCardDocument, fetchCard, type FetchCardDeps } from './card-discovery.ts'
import type { AuthCredentials, AuthRequest, Fetch } from '../contract.ts'
import { simpleTasksBindingUri } from '../http/http-url.ts'
import { createHttpClient, type HttpClientDeps } from '../http/http-client.ts'
import { defaultClientLimits } from '../call-options.ts'

const listen = openRawServers()
const { open } = openServers()
beforeEach(clearCardCache)

const minute = 60_000
const parts = (over: Partial<FetchCardDeps> = {}, http: Partial<HttpClientDeps> = {}): FetchCardDeps => ({
  http: createHttpClient({ limits: defaultClientLimits, ...http }),
  limits: defaultClientLimits,
  ...over,
})
const cardOf = (over: object = {}) => ({
  name: 'Ada',
  version: '1.0.0',
  supportedInterfaces: [{ url: 'https://ada.test/a2a', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
  ...over,
})
/** Cards by path, with their response headers; everything else is 404. */
const library = (cards: Record<string, object | string>, headers: Record<string, string> = {}) =>
  listen((request, response) => {
    const found = cards[request.url ?? '']
    response.writeHead(found === undefined ? 404 : 200, { 'content-type': 'application/json', ...headers })
    response.end(typeof found === 'string' ? found : JSON.stringify(found))
  })
const fails =
  (code: string, message: RegExp, details: object = {}) =>
  (error: unknown): boolean => {
    assert.ok(error instanceof A2AError, String(error))
    assert.equal(error.code, code, error.message)
    assert.match(error.message, message)
    for (const [name, value] of Object.entries(details)) assert.deepEqual(error.details[name], value)
    return true
  }
const paths = ({ requests }: { readonly requests: readonly { readonly url?: string | undefined }[] }) =>
  requests.map(({ url }) => url)

describe('a card is found', () => {
  it('at the well-known address, with the version, with or without a trailing slash [B-1 B-14 S0-8]', async () => {
    for (const end of ['', '/', '//', '#top', '?x=1']) {
      const server = await library({ '/.well-known/agent-card.json': cardOf() })
      assert.equal((await fetchCard(server.url + end, parts())).name, 'Ada')
      assert.deepEqual(paths(server), ['/.well-known/agent-card.json'])
      assert.equal(server.requests[0]?.headers['a2a-version'], '1.0')
      assert.equal(server.requests[0].headers.accept, 'application/json')
    }
  })

  it('at the path of 0.2, if it is not at the current one [B-14 B-28]', async () => {
    const server = await library({ '/.well-known/agent.json': { ...cardOf(), url: 'https://ada.test/' } })
    assert.equal((await fetchCard(new URL(server.url), parts())).name, 'Ada')
    assert.deepEqual(paths(server), ['/.well-known/agent-card.json', '/.well-known/agent.json'])
  })

  it('below the path before the root, because agents that share a host have separate paths [B-27]', async () => {
    const root = { '/.well-known/agent-card.json': cardOf({ name: 'Root' }) }
    const server = await library({ ...root, '/bots/ada/.well-known/agent-card.json': cardOf() })
    assert.equal((await fetchCard(`${server.url}/bots/ada/`, parts())).name, 'Ada')
    const older = await library({ ...root, '/bots/ada/.well-known/agent.json': cardOf() })
    assert.equal((await fetchCard(`${older.url}/bots/ada`, parts())).name, 'Ada')
  })

  it('at the root for an address that one of its interfaces lists, whatever its host', async () => {
    const at = (...urls: string[]) =>
      cardOf({
        supportedInterfaces: urls.map((url) => ({ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' })),
      })
    const listed: readonly (readonly [asked: string, ...urls: string[]])[] = [
      ['/a2a', 'https://ada.test/a2a'],
      ['/a2a/', 'https://ada.test/a2a'],
      ['/a2a', 'https://ada.test/other', 'http://inside:9999/a2a/'],
      ['/a2a', 'https://ada.test/a2a/jsonrpc'],
      ['/a2a/jsonrpc', '/a2a/jsonrpc'],
    ]
    for (const [asked, ...urls] of listed) {
      const server = await library({ '/.well-known/agent-card.json': at(...urls) })
      assert.equal((await fetchCard(server.url + asked, parts())).name, 'Ada', `${asked} of ${urls.join()}`)
    }
    const elsewhere: readonly (readonly [asked: string, ...urls: string[]])[] = [
      ['/a2a/adda', 'https://ada.test/a2a/ada'],
      ['/a2a/ad', 'https://ada.test/a2a/ada'],
      ['/a2a/ada', 'https://ada.test/'],
      ['/a2a/ada', 'https://ada.test/a2a'],
      ['/a2a/ada', 'ada.test:50051'],
    ]
    for (const [asked, ...urls] of elsewhere) {
      const server = await library({ '/.well-known/agent-card.json': at(...urls) })
      await assert.rejects(
        () => fetchCard(server.url + asked, parts()),
        fails('CARD_NOT_FOUND', /There is no agent card at .* belongs to Ada, which does not list this address/),
        `${asked} of ${urls.join()}`,
      )
    }
  })

  it('with the names of the available agents for an unknown agent', async (t) => {
    const agents = { ada: () => 'hi', eve: { agent: () => 'hi', protectCard: true } }
    const handler = createHandler({ store: memoryStore(), agents })
    t.after(() => handler.close())
    const { fetch } = handler
    await assert.rejects(
      () => fetchCard('http://localhost/a2a/adda', parts({}, { fetch })),
      fails(
        'CARD_NOT_FOUND',
        /There is no agent card at [^ ]*adda\. The server responded: No agent named adda\. Agents: ada$/,
      ),
    )
  })

  it('at the address itself, under any name', async () => {
    for (const path of [
      '/cards/ada.json',
      '/bots/7',
      '/bots/7?lang=en',
      '/a2a/ada/.well-known/agent',
      '/ada/agent-card',
    ]) {
      const server = await library({ [path]: cardOf(), '/.well-known/agent-card.json': cardOf({ name: 'Root' }) })
      assert.equal((await fetchCard(server.url + path, parts())).name, 'Ada')
    }
    for (const path of ['/ada/.well-known/agent', '/ada/agent-card', '/agent-card']) {
      const server = await library({ [path]: cardOf() })
      const base = path.replace(/\/(\.well-known\/agent|agent-card)$/, '')
      assert.equal((await fetchCard(server.url + base, parts())).name, 'Ada')
    }
  })

  it('beyond a page, a protected path or a stream at other addresses', async () => {
    const server = await listen((request, response) => {
      if (request.url === '/.well-known/agent-card.json')
        return response.end(
          JSON.stringify(
            cardOf({ supportedInterfaces: [{ url: '/app', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }] }),
          ),
        )
      // An endpoint, and a site that has a page for every path.
      if (request.url === '/app/') response.writeHead(200, { 'content-type': 'text/event-stream' }).write(':\n\n')
      else if (request.url === '/app/agent-card') response.writeHead(401).end()
      else response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html>')
    })
    assert.equal((await fetchCard(`${server.url}/app/`, parts())).name, 'Ada')
  })

  it('on our own server, in the shape of the requested version [B-1 B-9 B-14]', async () => {
    const { fetch } = open({ name: 'Ours' })
    const versionsOf = async (version?: '0.2' | '0.3' | '1.0') => {
      const card = await fetchCard('http://localhost/', parts({ version }, { fetch }))
      return [...new Set(card.supportedInterfaces.map((one) => one.protocolVersion))]
    }
    assert.deepEqual(await versionsOf(), ['1.0', '0.3'])
    assert.deepEqual(await versionsOf('1.0'), ['1.0', '0.3'])
    assert.deepEqual(await versionsOf('0.3'), ['0.3'])
    assert.deepEqual(await versionsOf('0.2'), ['0.2'])
  })

  it('as a given object', async () => {
    assert.equal((await fetchCard(cardOf(), parts())).name, 'Ada')
    await assert.rejects(fetchCard({ ...cardOf(), name: undefined }, parts()), fails('INVALID_AGENT_RESPONSE', /name/))
  })

  it('after a redirect, which is the base of its relative addresses', async () => {
    const interfaces = ['/rpc', 'rest/v2', '//other.test/x', 'http://else.test/y'].map((url) => ({
      url,
      protocolBinding: 'JSONRPC',
      protocolVersion: '1.0',
    }))
    const grpc = { url: '127.0.0.1:50051', protocolBinding: 'GRPC', protocolVersion: '1.0' }
    const flows = { clientCredentials: { tokenUrl: '/token', scopes: {} } }
    const card = cardOf({
      supportedInterfaces: [...interfaces, grpc],
      iconUrl: '../icon.png',
      securitySchemes: { o: { oauth2SecurityScheme: { flows } } },
    })
    const server = await listen((request, response) => {
      if (request.url === '/bots/ada.json') response.end(JSON.stringify(card))
      else response.writeHead(302, { location: '/bots/ada.json' }).end()
    })
    const found = await fetchCard(server.url, parts())
    assert.deepEqual(
      found.supportedInterfaces.map(({ url }) => url),
      [
        `${server.url}/rpc`,
        `${server.url}/bots/rest/v2`,
        'http://other.test/x',
        'http://else.test/y',
        '127.0.0.1:50051',
      ],
    )
    assert.equal(found.iconUrl, `${server.url}/icon.png`)
    assert.match(JSON.stringify(found.securitySchemes), new RegExp(`"tokenUrl":"${server.url}/token"`))
  })

  it('over https, with a warning for interfaces without it [B-25]', async () => {
    const warnings: object[] = []
    const log = { warn: (_: string, about: object = {}) => void warnings.push(about) }
    const url = 'http://open.test/a2a'
    const card = cardOf({ supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }] })
    const fetch: Fetch = async () => Response.json(card)
    await fetchCard('http://ada.test', parts({ log }, { fetch }))
    assert.deepEqual(warnings, [])
    assert.equal((await fetchCard('https://ada.test', parts({ log }, { fetch }))).supportedInterfaces[0]?.url, url)
    assert.deepEqual(warnings, [{ urls: [url] }])
  })
})

describe('a card is not found', () => {
  it('if there is none: the error names the address, and its details the others that were tried', async () => {
    const server = await library({})
    await assert.rejects(fetchCard(`${server.url}/a`, parts()), (error) => {
      assert.ok(error instanceof A2AError)
      assert.deepEqual([error.code, error.message], ['CARD_NOT_FOUND', `There is no agent card at ${server.url}/a`])
      assert.match(
        String(error.details['tried']),
        /\/a\/\.well-known\/agent-card\.json, .*:\d+\/\.well-known\/agent\.json$/,
      )
      return true
    })
    assert.equal(server.requests.length, 7)
    await assert.rejects(fetchCard(`${server.url}/a/b.json`, parts()), fails('CARD_NOT_FOUND', /\/a\/b\.json/))
    assert.equal(server.requests.length, 8)
  })

  it('without a required field, which the error names [S0-23 B-26]', async () => {
    for (const field of ['name', 'version']) {
      const server = await library({ '/.well-known/agent-card.json': cardOf({ [field]: undefined }) })
      await assert.rejects(
        fetchCard(server.url, parts()),
        fails('INVALID_AGENT_RESPONSE', new RegExp(field), { violations: [{ field, description: 'is required' }] }),
      )
      assert.equal(server.requests.length, 1, 'a wrong card is not passed over for an older one')
    }
    const more = await library({ '/.well-known/agent-card.json': cardOf({ surprise: 1 }) })
    assert.equal('surprise' in (await fetchCard(more.url, parts())), false)
    const field = 'supportedInterfaces'
    await assert.rejects(
      fetchCard(cardOf({ [field]: undefined }), parts()),
      fails('INVALID_AGENT_RESPONSE', /./, { violations: [{ field, description: 'is required' }] }),
    )
  })

  it('without an interface, except at card paths: there it is that of a peer with simple tasks [S0-4]', async () => {
    for (const lists of [{}, { supportedInterfaces: [] }]) {
      const server = await library({ '/team/.well-known/agent-card.json': { name: 'Old', version: '0.9.0', ...lists } })
      const { supportedInterfaces } = await fetchCard(`${server.url}/team`, parts())
      assert.deepEqual(supportedInterfaces, [
        { url: `${server.url}/team`, protocolBinding: simpleTasksBindingUri, protocolVersion: '0.2' },
      ])
    }
    const other = await library({ '/api': { name: 'Old', version: '0.9.0' } })
    await assert.rejects(fetchCard(`${other.url}/api`, parts()), fails('CARD_NOT_FOUND', /no agent card/))
  })

  it('in a page or in invalid JSON, and the error says which [B-26]', async () => {
    for (const [body, type, message] of [
      ['<!doctype html><h1>Hi</h1>', 'text/html', /an HTML page/],
      ['{"name":', 'application/json', /not JSON \(application\/json\)/],
      ['', 'text/plain', /not JSON \(text\/plain\)/],
    ] as const) {
      const server = await library({ '/.well-known/agent-card.json': body }, { 'content-type': type })
      await assert.rejects(fetchCard(server.url, parts()), fails('INVALID_AGENT_RESPONSE', message))
    }
  })

  it('if access is denied or the peer is unavailable, and the error has the status', async () => {
    for (const [status, code] of [
      [401, 'UNAUTHENTICATED'],
      [403, 'PERMISSION_DENIED'],
      [429, 'RATE_LIMITED'],
      [500, 'UNAVAILABLE'],
      [418, 'INVALID_AGENT_RESPONSE'],
    ] as const) {
      const server = await listen((_, response) => response.writeHead(status).end('no'))
      await assert.rejects(
        fetchCard(server.url, parts({ limits: { ...defaultClientLimits, firstDelayMs: 1 } })),
        fails(code, new RegExp(`HTTP ${status}`), { status: String(status) }),
      )
    }
  })

  it('if it is too large, too slow or the caller leaves, and nothing stays open [B-26 S0-36]', async () => {
    const big = await library({ '/.well-known/agent-card.json': cardOf({ description: 'x'.repeat(5_000) }) })
    const limits = { ...defaultClientLimits, cardTimeoutMs: 40 }
    const small = { ...defaultClientLimits, maxCardBytes: 4_000 }
    await assert.rejects(fetchCard(big.url, parts({ limits: small })), fails('INVALID_AGENT_RESPONSE', /4000 bytes/))
    const full = await library({ '/.well-known/agent-card.json': `[${'0,'.repeat(200)} no JSON from here on` })
    const few = parts({ limits: { ...defaultClientLimits, maxJsonNodes: 100 } })
    await assert.rejects(fetchCard(full.url, few), fails('INVALID_AGENT_RESPONSE', /more than 100 JSON values/))

    const slow = await listen((_, response) => void response.write('{'))
    await assert.rejects(fetchCard(slow.url, parts({ limits })), fails('TIMEOUT', /timed out/))
    const silent = await listen(() => {})
    await assert.rejects(fetchCard(silent.url, parts({ limits })), fails('TIMEOUT', /timed out/))
    // None, if the timeout ends before the connection is made.
    assert.ok(silent.requests.length <= 1)
    assert.equal(defaultClientLimits.cardTimeoutMs, 10_000)

    const begun = Promise.withResolvers<ServerResponse>()
    const waiting = await listen((_, response) => begun.resolve(response))
    const leaving = new AbortController()
    const fetched = fetchCard(waiting.url, parts({ signal: leaving.signal }))
    const closed = once(await begun.promise, 'close')
    leaving.abort(new Error('enough'))
    await assert.rejects(fetched, /enough/)
    await closed
    assert.equal(getEventListeners(leaving.signal, 'abort').length, 0)
  })

  it('and discover returns null for any reason [S0-9]', async () => {
    const server = await library({ '/.well-known/agent-card.json': cardOf(), '/bad/.well-known/agent-card.json': {} })
    assert.equal((await discover(server.url))?.name, 'Ada')
    assert.equal(await discover(`${server.url}/bad`), null)
    assert.equal(await discover(`${server.url}/none.json`), null)
    assert.equal(await discover('http://127.0.0.1:1'), null)
    assert.equal(await discover('no address'), null)
    assert.equal(await discover(server.url, { signal: AbortSignal.abort(), version: '0.3' }), null)
  })
})

describe('a fetched card', () => {
  it('is not fetched again within five minutes, and is after that [S0-8 S0-22 S0-32]', async () => {
    let now = Date.now()
    const server = await library({ '/.well-known/agent-card.json': cardOf() })
    const clock = parts({ now: () => now })
    const fetch = () => fetchCard(server.url, clock)
    await fetch()
    now += 2 * minute
    await fetch()
    assert.equal(server.requests.length, 1)
    now += 4 * minute
    await fetch()
    assert.equal(server.requests.length, 2)
  })

  it('is found again without another search', async () => {
    const server = await library({ '/.well-known/agent.json': cardOf() })
    await fetchCard(`${server.url}/a2a/`, parts())
    const { length } = server.requests
    await fetchCard(`${server.url}/a2a`, parts())
    assert.equal(server.requests.length, length)
    assert.equal(await fetchCard(`${server.url}/a2a?other`, parts()).then(({ name }) => name), 'Ada')
    assert.ok(server.requests.length > length, 'another question may have another answer')
  })

  it('is revalidated with its tag or date when it has expired [B-22]', async () => {
    let now = Date.now()
    const date = new Date(0).toUTCString()
    const server = await listen((request, response) => {
      const { 'if-none-match': tag, 'if-modified-since': since } = request.headers
      const isKnown = tag === '"one"' || since === date
      const always = { etag: '"one"', date: new Date(now).toUTCString() }
      const headers = { ...always, 'cache-control': 'max-age=60', 'last-modified': date }
      response.writeHead(isKnown ? 304 : 200, isKnown ? always : headers)
      response.end(isKnown ? '' : JSON.stringify(cardOf()))
    })
    const fetch = () => fetchCard(server.url, parts({ now: () => now }))
    const first = await fetch()
    now += minute + 2_000
    assert.equal(await fetch(), first)
    assert.equal(server.requests[1]?.headers['if-none-match'], '"one"')
    assert.equal(server.requests[1].headers['if-modified-since'], date)
    // Headers that the 304 left out stay valid: another minute.
    now += minute / 2
    await fetch()
    assert.equal(server.requests.length, 2)
    now += minute
    await fetch()
    assert.equal(server.requests.length, 3)
  })

  it('is replaced by a new one when it has changed', async () => {
    let count = 0
    const server = await listen((_, response) => {
      count += 1
      response.writeHead(200, { 'cache-control': 'no-cache', etag: `"${count}"` })
      response.end(JSON.stringify(cardOf({ name: `Ada ${count}` })))
    })
    assert.equal((await fetchCard(server.url, parts())).name, 'Ada 1')
    assert.equal((await fetchCard(server.url, parts())).name, 'Ada 2')
    assert.equal(server.requests[1]?.headers['if-none-match'], '"1"')
  })

  it('is not cached if the peer forbids it', async () => {
    const server = await library(
      { '/.well-known/agent-card.json': cardOf() },
      { 'cache-control': 'no-store', etag: '"1"' },
    )
    await fetchCard(server.url, parts())
    await fetchCard(server.url, parts())
    assert.equal(server.requests.length, 2)
    assert.equal(server.requests[1]?.headers['if-none-match'], undefined)
  })

  it('is cached separately by credentials, version and address [B-23]', async () => {
    const server = await library({ '/.well-known/agent-card.json': cardOf(), '/.well-known/agent.json': cardOf() })
    const as = (name: string) => ({ authenticate: (): AuthCredentials => ({ headers: { authorization: name } }) })
    const guarded: Fetch = (request) => fetch(request)
    for (const ask of [
      () => parts(),
      () => parts({}, as('one')),
      () => parts({}, as('two')),
      () => parts({}, { headers: { 'x-team': 'blue' } }),
      () => parts({ version: '0.3' as const }),
      () => parts({}, { fetch: guarded }),
    ]) {
      const { length } = server.requests
      await fetchCard(server.url, ask())
      await fetchCard(server.url, ask())
      assert.equal(server.requests.length, length + 1)
    }
  })

  it('after a 401 is cached only for the credentials that were accepted', async () => {
    const server = await listen((request, response) => {
      response.writeHead(request.headers.authorization === undefined ? 401 : 200)
      response.end(JSON.stringify(cardOf({ name: 'Private' })))
    })
    const authenticate = ({ refused }: AuthRequest): AuthCredentials | undefined =>
      refused ? { headers: { authorization: 'Bearer one' } } : undefined
    assert.equal((await fetchCard(server.url, parts({}, { authenticate }))).name, 'Private')
    await assert.rejects(fetchCard(server.url, parts()), fails('UNAUTHENTICATED', /401/))
  })

  it('is fetched once for concurrent callers, and continues when one of them leaves', async () => {
    const begun = Promise.withResolvers<ServerResponse>()
    const server = await listen((_, response) => begun.resolve(response))
    const leaving = new AbortController()
    const first = fetchCard(server.url, parts({ signal: leaving.signal }))
    const others = [fetchCard(server.url, parts()), fetchCard(`${server.url}/`, parts())]
    const response = await begun.promise
    leaving.abort(new Error('enough'))
    await assert.rejects(first, /enough/)
    response.end(JSON.stringify(cardOf()))
    const [one, two] = await Promise.all(others)
    assert.equal(one, two)
    assert.equal(server.requests.length, 1)
  })

  it('is removed on request, also while it is fetched [S0-10]', async () => {
    const begun = Promise.withResolvers<ServerResponse>()
    const server = await listen((_, response) => {
      if (server.requests.length === 1) begun.resolve(response)
      else response.end(JSON.stringify(cardOf()))
    })
    const first = fetchCard(server.url, parts())
    const response = await begun.promise
    clearCardCache()
    response.end(JSON.stringify(cardOf()))
    await first
    await fetchCard(server.url, parts())
    await fetchCard(server.url, parts())
    assert.equal(server.requests.length, 2)
    clearCardCache()
    await fetchCard(server.url, parts())
    assert.equal(server.requests.length, 3)
  })

  it('does not cache a failure', async () => {
    const server = await listen((_, response) => {
      if (server.requests.length === 1) response.writeHead(503).end()
      else response.end(JSON.stringify(cardOf()))
    })
    const once = parts({ limits: { ...defaultClientLimits, attempts: 1 } })
    await assert.rejects(fetchCard(server.url, once), fails('UNAVAILABLE', /503/))
    assert.equal((await fetchCard(server.url, parts())).name, 'Ada')
  })
})

describe('a card with its document', () => {
  it('has every field as it was sent, and the URL where it was found', async () => {
    const document = cardOf({
      supportedInterfaces: [{ url: '/x', protocolBinding: 'MORSE', protocolVersion: '9.0' }],
      later: 1,
    })
    const server = await library({ '/.well-known/agent-card.json': document })
    const found = await fetchCardDocument(server.url)
    assert.deepEqual(found.document, document)
    assert.equal(found.url, `${server.url}/.well-known/agent-card.json`)
    assert.deepEqual(found.signature, { status: 'unchecked' })
    assert.equal(found.card.supportedInterfaces[0]?.url, `${server.url}/x`)
    assert.equal((await fetchCardDocument(document)).url, undefined)
    await assert.rejects(fetchCardDocument(`${server.url}/nowhere.json`), fails('CARD_NOT_FOUND', /404/))
  })
})
