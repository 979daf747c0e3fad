import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, request, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, it, type TestContext } from 'node:test'
import type { HubConfig } from '../../config/hub-config.ts'
import { createRateLimiter } from '../../limits/rate-limiter.ts'
import { createMetricRegistry } from './metric-registry.ts'
import { createMetricsRoute, isFromThisMachine, prometheusType } from './metrics-route.ts'
import { silentLog } from '../testing/traced-server.ts'

async function open(t: TestContext, isOpen: boolean, host = '127.0.0.1', publicUrl?: string) {
  const listen = { host } as HubConfig['listen']
  const registry = createMetricRegistry()
  registry.observed({ name: 'a', otel: 'a', unit: '1', help: 'A.', labels: [] }, 'gauge', () => [[1]])
  const isAdmin = (key: string): boolean => key === 'the-key'
  const front = createMetricsRoute({
    registry,
    isPublic: (request) => isOpen && isFromThisMachine(request, { listen, trustProxy: false, publicUrl }),
    isAdmin,
    limiter: createRateLimiter(),
    log: silentLog,
  })
  const server = createServer((request, response) => {
    if (!front(request, response)) response.writeHead(404).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  // `fetch` sets the Host itself.
  const withHost = async (name: string): Promise<number | undefined> => {
    const sent = request({ port, path: '/metrics', headers: { host: name }, host: '127.0.0.1' }).end()
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    response.resume()
    return response.statusCode
  }
  const ask = (path: string, init?: RequestInit) => fetch(`http://127.0.0.1:${port}${path}`, init)
  return Object.assign(ask, { withHost })
}

describe('/metrics', () => {
  it('is public on loopback, or if configured', async (t) => {
    const ask = await open(t, true)
    const response = await ask('/metrics?x=1')
    assert.deepEqual([response.status, response.headers.get('content-type')], [200, prometheusType])
    assert.equal(await response.text(), '# HELP a A.\n# TYPE a gauge\na 1\n')
    assert.equal(await (await ask('/metrics', { method: 'HEAD' })).text(), '')
    assert.equal((await ask('/metrics', { method: 'POST' })).status, 405)
    assert.equal((await ask('/metricsx')).status, 404)
  })

  it('requires the admin key of the clients of a reverse proxy on this machine', async (t) => {
    const ask = await open(t, true)
    const forwarded = { 'x-forwarded-for': '203.0.113.7', forwarded: 'for=203.0.113.7', via: '1.1 proxy' }
    for (const [name, value] of Object.entries(forwarded))
      assert.equal((await ask('/metrics', { headers: { [name]: value } })).status, 401, name)
    const withKey = { ...forwarded, authorization: 'Bearer the-key' }
    assert.equal((await ask('/metrics', { headers: withKey })).status, 200)
    assert.equal(await ask.withHost('hub.example'), 401)
    assert.equal(await ask.withHost('localhost:3000'), 200)
    const published = await open(t, true, '127.0.0.1', 'https://hub.example')
    assert.equal((await published('/metrics')).status, 401)
    assert.equal((await (await open(t, true, '0.0.0.0'))('/metrics')).status, 401)
  })

  it('requires the admin key elsewhere, and limits guessing', async (t) => {
    const ask = await open(t, false)
    const withKey = (key: string) => ask('/metrics', { headers: { authorization: `Bearer ${key}` } })
    const refused = await ask('/metrics')
    assert.deepEqual([refused.status, refused.headers.get('www-authenticate')], [401, 'Bearer realm="parley"'])
    assert.equal((await withKey('the-key')).status, 200)
    const guesses = await Promise.all(Array.from({ length: 30 }, () => withKey('wrong')))
    assert.deepEqual(new Set(guesses.map(({ status }) => status)), new Set([401, 429]))
    assert.equal((await withKey('the-key')).status, 200)
  })
})
