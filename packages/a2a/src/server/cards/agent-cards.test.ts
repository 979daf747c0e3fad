import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { memoryStore } from '../../stores/memory/memory-store.ts'
import { type AgentSettings, createHandler, type ServerOptions } from '../index.ts'

const opened: { close(): Promise<void> }[] = []
after(() => Promise.all(opened.map((handler) => handler.close())))

type Over = ServerOptions & Partial<AgentSettings>
function serveCard(over: Over = {}) {
  const handler = createHandler({
    store: memoryStore(),
    name: 'Greeter',
    description: 'Greets',
    version: '2.1.0',
    agent: () => 'hi',
    ...over,
  })
  opened.push(handler)
  return async (path: string, headers: Record<string, string> = {}, method = 'GET') => {
    const response = await handler.fetch(new Request(`http://agent.example${path}`, { method, headers }))
    const text = await response.text()
    return { status: response.status, headers: response.headers, text, card: text === '' ? {} : JSON.parse(text) }
  }
}
const path = '/.well-known/agent-card.json'

describe('the card', () => {
  it('declares each binding once per version, newest first [B-8 B-14 B-16]', async () => {
    const { card } = await serveCard()(path, { 'a2a-version': '1.0' })
    assert.deepEqual(card.supportedInterfaces, [
      { url: 'http://agent.example/a2a', protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
      { url: 'http://agent.example', protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
      { url: 'http://agent.example/a2a', protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
      { url: 'http://agent.example', protocolBinding: 'HTTP+JSON', protocolVersion: '0.3' },
    ])
    assert.equal(card.name, 'Greeter')
    assert.equal(card.version, '2.1.0')
    assert.equal(card.capabilities.streaming, true)
    assert.equal(card.capabilities.pushNotifications, false)
    assert.ok(card.skills.length > 0)
  })

  it('has the shape of the requested version, and all of them without one [B-15]', async () => {
    const get = serveCard()
    const modern = (await get(path, { 'a2a-version': '1.0' })).card
    assert.equal(modern.url, undefined)
    for (const [header, version] of Object.entries({ '0.3': '0.3.0', '0.3.0': '0.3.0', '0.2': '0.2.6' })) {
      const old = (await get(path, { 'a2a-version': header })).card
      assert.equal(old.supportedInterfaces, undefined)
      assert.equal(old.protocolVersion, version)
      assert.equal(old.url, 'http://agent.example/a2a')
      assert.equal(old.preferredTransport, 'JSONRPC')
    }
    const merged = (await get(path)).card
    assert.ok(merged.supportedInterfaces.length === 4 && merged.url === 'http://agent.example/a2a')
    assert.deepEqual((await get(path, { 'a2a-version': '7.0' })).card, merged)
  })

  it('is served at every usual path, and at agent.json for 0.2 [B-14]', async () => {
    const get = serveCard()
    for (const place of [path, '/.well-known/agent', '/agent-card', `/a2a${path}`, '/a2a/agent-card']) {
      assert.equal((await get(place)).card.name, 'Greeter', place)
    }
    const oldest = await get('/.well-known/agent.json')
    assert.match(oldest.card.protocolVersion, /^0\.2\./)
    assert.equal(oldest.card.url, 'http://agent.example/a2a')
  })

  it('can be one variant for requests without a version', async () => {
    assert.equal((await serveCard({ card: '1.0' })(path)).card.url, undefined)
    assert.equal((await serveCard({ card: '0.3' })(path)).card.supportedInterfaces, undefined)
  })

  it('has caching headers, with another tag for each variant [B-21 B-23]', async () => {
    const get = serveCard()
    const tags = new Set<string | null>()
    for (const version of ['1.0', '0.3', '']) {
      const { headers } = await get(path, { 'a2a-version': version })
      assert.equal(headers.get('cache-control'), 'public, max-age=300')
      assert.equal(headers.get('vary'), 'A2A-Version')
      assert.ok(Date.parse(headers.get('last-modified') ?? '') <= Date.now())
      assert.match(headers.get('etag') ?? '', /^"[0-9a-f]{16}"$/)
      tags.add(headers.get('etag'))
    }
    assert.equal(tags.size, 3)
  })

  it('is not sent again to a client that has it [B-22 B-23]', async () => {
    const get = serveCard()
    const { headers } = await get(path)
    const etag = headers.get('etag') ?? ''
    const lastModified = headers.get('last-modified') ?? ''
    for (const tag of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const again = await get(path, { 'if-none-match': tag })
      assert.deepEqual([again.status, again.text, again.headers.get('etag')], [304, '', etag])
    }
    assert.equal((await get(path, { 'if-modified-since': lastModified })).status, 304)
    assert.equal((await get(path, { 'if-none-match': '"other"', 'if-modified-since': lastModified })).status, 200)
    assert.equal((await get(path, { 'if-none-match': etag, 'a2a-version': '1.0' })).status, 200)
    assert.equal((await get(path, { 'if-modified-since': 'nonsense' })).status, 200)
  })

  it('answers HEAD without the body and other verbs with 405', async () => {
    const get = serveCard()
    const head = await get(path, {}, 'HEAD')
    assert.deepEqual([head.status, head.text], [200, ''])
    assert.notEqual(head.headers.get('etag'), null)
    const post = await get(path, {}, 'POST')
    assert.deepEqual([post.status, post.headers.get('allow')], [405, 'GET, HEAD'])
  })

  it('lists only what is offered', async () => {
    const modern = serveCard({ versions: ['1.0'] })
    assert.equal((await modern(path)).card.supportedInterfaces.length, 2)
    assert.equal((await modern(path)).card.url, undefined)
    assert.equal((await modern('/.well-known/agent.json')).status, 404)
    const old = serveCard({ versions: ['0.3'] })
    assert.equal((await old(path)).card.supportedInterfaces, undefined)
    assert.equal((await old(path, { 'a2a-version': '1.0' })).card.url, 'http://agent.example/a2a')
  })

  it('can be limited to authenticated callers [B-24 T-14]', async () => {
    const get = serveCard({
      protectCard: true,
      authenticate: ({ header }) => (header('authorization') === 'Bearer let-me-in' ? { id: 'a' } : undefined),
    })
    const refused = await get(path)
    assert.deepEqual([refused.status, refused.headers.get('www-authenticate')], [401, 'Bearer'])
    const shown = await get(path, { authorization: 'Bearer let-me-in' })
    assert.equal(shown.status, 200)
    assert.match(shown.headers.get('cache-control') ?? '', /^private/)
    assert.equal(shown.headers.get('vary'), 'A2A-Version, Authorization')
  })

  it('can be limited to authenticated callers for one agent, and public for another [B-24]', async () => {
    const open = createHandler({
      store: memoryStore(),
      authenticate: () => undefined,
      agents: { echo: () => 'e', clock: { agent: () => 'c', protectCard: true } },
    })
    const kept = createHandler({
      store: memoryStore(),
      authenticate: () => undefined,
      protectCard: true,
      agents: { echo: { agent: () => 'e', protectCard: false }, clock: () => 'c' },
    })
    opened.push(open, kept)
    for (const handler of [open, kept]) {
      const cardAt = (name: string) => handler.fetch(new Request(`http://h/a2a/${name}${path}`))
      const shown = await cardAt('echo')
      assert.deepEqual([shown.status, (await cardAt('clock')).status], [200, 401])
      assert.match(shown.headers.get('cache-control') ?? '', /^public/)
    }
  })

  it('is separate for each of several agents, and the first one is also at the root [B-27]', async () => {
    const handler = createHandler({
      store: memoryStore(),
      agents: { echo: () => 'e', clock: { agent: () => 'c', name: 'Clock' } },
    })
    opened.push(handler)
    const cardAt = async (place: string) =>
      JSON.parse(await (await handler.fetch(new Request(`http://h${place}`))).text())
    assert.equal((await cardAt(path)).name, 'echo')
    assert.equal((await cardAt(path)).url, 'http://h/a2a/echo/')
    assert.equal((await cardAt(`/a2a/clock${path}`)).name, 'Clock')
    assert.equal((await cardAt('/a2a/clock/agent-card')).supportedInterfaces[1].url, 'http://h/a2a/clock')
  })

  it('has security schemes in the format of each version', async () => {
    const get = serveCard({
      securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: 'bearer' } } },
      securityRequirements: [{ schemes: { bearer: { list: [] } } }],
    })
    assert.deepEqual((await get(path, { 'a2a-version': '1.0' })).card.securitySchemes, {
      bearer: { httpAuthSecurityScheme: { scheme: 'bearer' } },
    })
    const old = (await get(path, { 'a2a-version': '0.3' })).card
    assert.deepEqual(old.securitySchemes, { bearer: { type: 'http', scheme: 'bearer' } })
    assert.deepEqual(old.security, [{ bearer: [] }])
  })

  it('is written for any address of the request, however many there are', async () => {
    const handler = createHandler({ store: memoryStore(), agent: () => 'x' })
    opened.push(handler)
    for (let index = 0; index < 500; index++) {
      const response = await handler.fetch(new Request(`http://h${index}.example${path}`))
      assert.equal(JSON.parse(await response.text()).url, `http://h${index}.example/a2a`)
    }
  })
})
