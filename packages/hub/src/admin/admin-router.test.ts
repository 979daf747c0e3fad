import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, it, type TestContext } from 'node:test'
import { A2AError, memoryStore } from '@parley/a2a'
import { createHandler } from '@parley/a2a/server'
import { z } from 'zod'
import { createAdminRouter } from './admin-router.ts'
import { jsonRoute, taggedRoutes } from './route.ts'

/** The log of a request whose route throws this, and its response. */
async function answerOf(t: TestContext, reason: unknown) {
  const logged: unknown[] = []
  const add = (message: string, { cause }: Readonly<Record<string, unknown>> = {}): void =>
    void logged.push([message, cause])
  const handler = createHandler({ name: 'Echo', store: memoryStore(), agent: ({ text }) => text })
  const route = createAdminRouter({
    routes: taggedRoutes('Test', [
      jsonRoute('GET /admin/test', {
        name: 'test',
        summary: '',
        response: z.strictObject({}),
        handle: () => Promise.reject(reason as Error),
      }),
    ]),
    guard: { admit: async () => ({ isAdmin: true, subject: 'admin', by: 'key' }) },
    audit: { record() {} },
    log: { debug: add, info: add, warn: add, error: add },
    now: () => 0,
    trustsProxy: () => false,
    streams: { add: () => () => {} },
    readers: async () => handler.readers,
    hasAgent: () => false,
  })
  const server = createServer((request, response) => void route(request, response)).listen(0, '127.0.0.1')
  t.after(async () => {
    server.close()
    await handler.close()
  })
  await once(server, 'listening')
  const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/admin/test`)
  return { status: response.status, body: await response.text(), logged }
}

describe('an admin request that fails', () => {
  it('shows its cause in the log alone if the store does not answer', async (t) => {
    const cause = new Error('disk I/O error')
    const { status, body, logged } = await answerOf(t, new A2AError('UNAVAILABLE', 'The store does not answer', {}, { cause })) // prettier-ignore
    assert.equal(status, 503)
    assert.match(body, /The store does not answer/)
    assert.doesNotMatch(body, /disk/)
    assert.deepEqual(logged, [['an admin request could not be answered', cause]])
  })

  it('is not logged if its client has disconnected', async (t) => {
    const { logged } = await answerOf(t, new A2AError('UNAVAILABLE', 'The client has disconnected'))
    assert.deepEqual(logged, [])
  })
})
