import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { McpServer } from '@modelcontextprotocol/server'
import { createMcpClientSessions, type McpSessionLimits } from './client-sessions.ts'

const authInfo = { token: '', clientId: 'x', scopes: [] }
const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
const clientInfo = { name: 'x', version: '1' }
const begin = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo },
}
const ping = { jsonrpc: '2.0', id: 2, method: 'ping' }

function scene(t: TestContext, limits: Partial<McpSessionLimits>) {
  let time = 0
  const sessions = createMcpClientSessions({
    create: () => new McpServer({ name: 'x', version: '1' }, { capabilities: {} }),
    monotonicNow: () => time,
    limits,
  })
  t.after(() => sessions.close())
  const send = (body: object, group: string, id?: string): Promise<Response> =>
    sessions.handle({
      request: new Request('http://x/mcp', {
        method: 'POST',
        headers: { ...headers, ...(id === undefined ? {} : { 'mcp-session-id': id }) },
        body: JSON.stringify(body),
      }),
      parsedBody: body,
      authInfo,
      owner: 'ann',
      group,
    })
  return {
    pass: (ms: number) => (time += ms),
    /** Returns the session id; reads the response unless it should stay in progress. */
    async open(group = 'g', isRead = true): Promise<string | undefined> {
      const response = await send(begin, group)
      if (isRead) await response.text()
      return response.headers.get('mcp-session-id') ?? undefined
    },
    status: async (id: string | undefined, group = 'g') => (await send(ping, group, id ?? '')).status,
  }
}

describe('sessions', () => {
  it('are no more than so many of one group, and the one that was not used for longest goes', async (t) => {
    const { open, status, pass } = scene(t, { mostOfGroup: 2 })
    const first = await open()
    pass(1)
    const second = await open()
    pass(1)
    assert.equal(await status(first), 200)
    pass(1)
    const third = await open()
    assert.deepEqual([await status(first), await status(second), await status(third)], [200, 404, 200])
    assert.ok((await open('other')) !== undefined)
  })

  it('are no more than so many in all', async (t) => {
    const { open } = scene(t, { most: 2 })
    await open('a')
    await open('b')
    assert.equal(await open('c'), undefined)
  })

  it('that are in use stay', async (t) => {
    const { open, status } = scene(t, { mostOfGroup: 1 })
    const busy = await open('g', false)
    assert.equal(await open(), undefined)
    assert.equal(await status(busy), 200)
  })

  it('are closed when idle', async (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] })
    const { open, status, pass } = scene(t, { idleMs: 1_000 })
    const [idle, used] = [await open(), await open()]
    pass(900)
    assert.equal(await status(used), 200)
    pass(200)
    t.mock.timers.tick(1_000)
    assert.deepEqual([await status(idle), await status(used)], [404, 200])
  })
})
