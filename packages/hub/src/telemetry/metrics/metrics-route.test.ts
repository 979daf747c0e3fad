import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, it, type TestContext } from 'node:test'
import { createRateLimiter } from '../../limits/rate-limiter.ts'
import { createMetricRegistry } from './metric-registry.ts'
import { createMetricsRoute, prometheusType } from './metrics-route.ts'
import { silentLog } from '../testing/traced-server.ts'

async function open(t: TestContext, isOpen: boolean) {
  const registry = createMetricRegistry()
  registry.gauge({ name: 'a', otel: 'a', unit: '1', help: 'A.', labels: [] }, () => [{ labels: [], value: 1 }])
  const isAdmin = (key: string): boolean => key === 'the-key'
  const front = createMetricsRoute({
    registry,
    isPublic: isOpen,
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
  return (path: string, init?: RequestInit) => fetch(`http://127.0.0.1:${port}${path}`, init)
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
