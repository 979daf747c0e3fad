/** `/metrics` of a used hub, read by a strict parser. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, it } from 'node:test'
import type { TestContext } from 'node:test'
import { eventually } from '../../packages/a2a/src/testing/fixtures/eventually.ts'
import { metricTable } from '../../packages/hub/src/telemetry/metrics/metric-table.ts'
import { adminKey, openHub } from './open-hub.ts'
import { parsePrometheus, sampleOfFamily } from './prometheus-parser.ts'
import type { ParsedFamily } from './prometheus-parser.ts'

const agents = {
  echo: { kind: 'module', path: './agents/echo.ts', default: true },
  broken: { kind: 'module', path: './agents/broken.ts' },
  slow: { kind: 'command', command: ['cat'], limits: { concurrent: 2 } },
}

async function metricsOf(url: string, init?: RequestInit): Promise<readonly ParsedFamily[]> {
  const response = await fetch(`${url}/metrics`, init)
  assert.equal(response.status, 200)
  assert.equal(response.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8')
  return parsePrometheus(await response.text())
}

/** A webhook that accepts everything. */
async function openWebhook(t: TestContext) {
  const traceparent = Promise.withResolvers<string | undefined>()
  const server = createServer((request, response) => {
    request.resume()
    traceparent.resolve(request.headers['traceparent'] as string | undefined)
    response.writeHead(204).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, traceparent: traceparent.promise }
}

describe('the metrics of a hub', () => {
  it('parse, and count requests by agent, operation, outcome, binding and version with their latency [B-171 T-12]', async (t) => {
    const { hub, agent } = await openHub(t, { agents })
    const before = await metricsOf(hub.url)
    assert.deepEqual(
      before.map(({ name, type }) => [name, type]),
      metricTable.map(({ name, type }) => [name, type]),
    )
    const rest = await agent('echo', { version: '1.0', prefer: ['HTTP+JSON'] })
    await rest.ask('one')
    await rest.ask('two')
    await (await agent('echo', { version: '0.3', prefer: ['JSONRPC'] })).ask('three')
    await (await agent('broken')).send('x')
    const unknown = await fetch(`${hub.url}/a2a/unknown-${'x'.repeat(20)}/message:send`, { method: 'POST', body: '{}' })
    assert.ok(unknown.status >= 400)
    const after = await metricsOf(hub.url)
    const requests = (labels: Record<string, string>) => sampleOfFamily(after, 'parley_requests_total', labels)
    const sent = { agent: 'echo', outcome: 'OK' }
    assert.equal(requests({ ...sent, binding: 'HTTP+JSON', version: '1.0', operation: 'SendMessage' }), 2)
    assert.equal(requests({ ...sent, binding: 'JSONRPC', version: '0.3', operation: 'SendMessage' }), 1)
    assert.equal(
      sampleOfFamily(after, 'parley_request_duration_seconds_count', { agent: 'echo', operation: 'SendMessage' }),
      3,
    )
    assert.equal(JSON.stringify(after).includes('unknown-'), false)
    assert.equal(sampleOfFamily(after, 'parley_tasks_ended_total', { agent: 'broken', state: 'failed' }), 1)
    assert.equal(sampleOfFamily(after, 'parley_agent_up', { agent: 'echo', kind: 'module' }), 1)
    assert.ok((sampleOfFamily(after, 'parley_store_duration_seconds_count', { operation: 'append' }) ?? 0) >= 4)
    for (const name of ['process_cpu_seconds_total', 'process_resident_memory_bytes', 'process_start_time_seconds'])
      assert.ok((sampleOfFamily(after, name) ?? 0) > 0, name)
    assert.equal(sampleOfFamily(after, 'parley_build_info', { node: process.versions.node }), 1)
  })

  it('count open streams, tasks by state, queues and webhooks [T-12]', async (t) => {
    const { url: webhook, traceparent } = await openWebhook(t)
    const { hub, agent } = await openHub(t, {
      agents: { ...agents, clock: { kind: 'demo', agent: 'clock' } },
      push: { allow: ['127.0.0.1'] },
    })
    const clock = await agent('clock')
    const stream = clock.stream('30')
    const events = stream[Symbol.asyncIterator]()
    await events.next()
    await (await agent('slow')).ask('hello')
    await (await agent('echo')).send('hi', { push: { url: webhook } })
    assert.match((await traceparent) ?? '', /^00-[\da-f]{32}-[\da-f]{16}-01$/)
    await eventually(async () => {
      const now = await metricsOf(hub.url)
      return sampleOfFamily(now, 'parley_push_attempts_total', { outcome: 'delivered' }) !== undefined
    })
    const now = await metricsOf(hub.url)
    assert.equal(sampleOfFamily(now, 'parley_streams_open'), 1)
    assert.equal(sampleOfFamily(now, 'parley_tasks', { state: 'working' }), 1)
    assert.equal(sampleOfFamily(now, 'parley_queue_waiting', { agent: 'slow' }), 0)
    assert.ok((sampleOfFamily(now, 'parley_push_lag_seconds_count') ?? 0) >= 1)
    await eventually(async () => {
      const later = await metricsOf(hub.url)
      return (sampleOfFamily(later, 'parley_turn_duration_seconds_count', { agent: 'slow', outcome: 'ok' }) ?? 0) === 1
    })
    await events.return?.(undefined)
    await eventually(async () => sampleOfFamily(await metricsOf(hub.url), 'parley_streams_open') === 0)
  })

  it('require the admin key beyond loopback, unless they are public', async (t) => {
    const listen = { host: '0.0.0.0', port: 0, grpcPort: false }
    const elsewhere = await openHub(t, { agents, listen, access: { anonymous: ['echo'] } })
    const url = `http://127.0.0.1:${elsewhere.hub.port}`
    assert.equal((await fetch(`${url}/metrics`)).status, 401)
    assert.ok((await metricsOf(url, { headers: { authorization: `Bearer ${adminKey}` } })).length > 20)
    const open = await openHub(t, { agents, listen, access: {}, telemetry: { metrics: { public: true } } })
    assert.ok((await metricsOf(`http://127.0.0.1:${open.hub.port}`)).length > 20)
    const proxied = await openHub(t, { agents, trustProxy: true, access: {} })
    assert.equal((await fetch(`${proxied.hub.url}/metrics`)).status, 401)
    const off = await openHub(t, { agents, telemetry: { metrics: false } })
    assert.equal((await fetch(`${off.hub.url}/metrics`)).status, 404)
  })

  it('are refused to a web page with a local host name (DNS rebinding)', async (t) => {
    const { hub } = await openHub(t, { agents })
    const { port } = hub
    const status = await new Promise<number | undefined>((resolve, reject) => {
      void import('node:http').then(({ get }) =>
        get({ host: '127.0.0.1', port, path: '/metrics', headers: { host: 'evil.example' } }, (response) => {
          response.resume()
          resolve(response.statusCode)
        }).on('error', reject),
      )
    })
    assert.notEqual(status, 200)
  })
})
