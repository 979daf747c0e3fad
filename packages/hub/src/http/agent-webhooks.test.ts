import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, it } from 'node:test'
import type { OpenAgent } from '../agents/kind.ts'
import { testAgentServices } from '../agents/testing/test-agent-services.ts'
import { createAgentWebhooks } from './agent-webhooks.ts'

describe('requests to an agent itself', () => {
  const seen: { url: string; method: string; body: string; header: string | null }[] = []
  const hook = async (request: Request): Promise<Response> => {
    if (request.url.endsWith('/broken')) throw new Error('at 10.0.0.1')
    const body = await request.text()
    seen.push({
      url: new URL(request.url).pathname,
      method: request.method,
      body,
      header: request.headers.get('x-one'),
    })
    return new Response('taken', { status: 202, headers: { 'x-answer': 'yes' } })
  }
  const { log, lines } = testAgentServices()
  const open = (name: string): OpenAgent | undefined =>
    name === 'partner' ? { agent: () => 'x', handleWebhook: hook } : name === 'plain' ? { agent: () => 'x' } : undefined
  const hooks = createAgentWebhooks({ open, bodyBytes: 100, log })
  const server = createServer((request, response) => {
    if (!hooks(request, response)) response.writeHead(299).end()
  })
  let url = ''
  before(async () => {
    await once(server.listen(0, '127.0.0.1'), 'listening')
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  after(() => server.close())

  it('are handed over whole, and its answer goes back', async () => {
    const sent = { method: 'POST', body: 'hello', headers: { 'x-one': '1' } }
    const response = await fetch(`${url}/a2a/partner/hooks/tasks/7?x=1`, sent)
    assert.deepEqual([response.status, response.headers.get('x-answer'), await response.text()], [202, 'yes', 'taken'])
    assert.deepEqual(seen, [{ url: '/a2a/partner/hooks/tasks/7', method: 'POST', body: 'hello', header: '1' }])
  })

  it('lead nowhere for agents that expect none, and everything else is left alone', async () => {
    const status = async (path: string): Promise<number> => (await fetch(url + path)).status
    assert.deepEqual(
      await Promise.all(
        ['/a2a/plain/hooks/x', '/a2a/none/hooks', '/a2a/partner', '/a2a/partner/hooksy', '/'].map(status),
      ),
      [404, 404, 299, 299, 299],
    )
  })

  it('have a bound, and a failure says nothing', async () => {
    const large = await fetch(`${url}/a2a/partner/hooks/x`, { method: 'POST', body: 'x'.repeat(101) })
    assert.equal(large.status, 413)
    const broken = await fetch(`${url}/a2a/partner/hooks/broken`, { method: 'POST', body: '' })
    assert.deepEqual([broken.status, await broken.text()], [500, ''])
    assert.equal(lines.length, 1)
  })
})
