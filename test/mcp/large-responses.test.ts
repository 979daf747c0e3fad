/** Large requests and responses of `/mcp`: a client that has many takes neither room nor time that others need. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { eventually } from '../../packages/a2a/src/testing/fixtures/eventually.ts'
import { openMcpTestHub } from './mcp-test-hub.ts'

const { mcp, admin } = await openMcpTestHub(
  { trustProxy: true, limits: { unsentPerCaller: '1MB' } },
  { watching: { kind: 'module', path: join(import.meta.dirname, 'watching-agent.ts') } },
)

/** Sends requests of the revision that had batches, from this address. */
async function open(address: string): Promise<(body: unknown, signal?: AbortSignal) => Promise<string>> {
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'x-forwarded-for': address,
  }
  const send = (body: unknown, signal?: AbortSignal): Promise<Response> =>
    fetch(mcp, { method: 'POST', headers, body: JSON.stringify(body), signal: signal ?? null })
  const params = { protocolVersion: '2025-03-26', capabilities: {}, clientInfo: { name: 'test', version: '1' } }
  const begun = await send({ jsonrpc: '2.0', id: 0, method: 'initialize', params })
  headers['mcp-session-id'] = begun.headers.get('mcp-session-id') ?? ''
  await begun.text()
  return async (body, signal) => (await send(body, signal)).text()
}

function call(id: number, name: string, input: object): object {
  return { jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: input } }
}

const large = 'x'.repeat(1_000_000)
const first = await open('192.0.2.1')
const sent = await first(call(1, 'send_message', { agent: 'scripted', message: `say ${large}` }))
const taskId = /"taskId":"([^"]+)"/.exec(sent)?.[1]
const read = (id: number): object => call(id, 'get_task', { agent: 'scripted', taskId })

it('a client that asks for the end of its connection gets it', async () => {
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    connection: 'close',
  }
  const sending = request(mcp, { method: 'POST', headers })
  sending.end(JSON.stringify(read(1)))
  const [response] = (await once(sending, 'response')) as [IncomingMessage]
  assert.equal(response.headers.connection, 'close')
  response.resume()
  await once(response, 'close')
})

describe('large tasks', { timeout: 120_000 }, () => {
  it('exceed the memory of one response only once', async () => {
    const answer = await first([1, 2, 3, 4].map(read))
    assert.equal(answer.match(/request them one at a time/g)?.length, 3)
    assert.ok(answer.includes(large.slice(0, 10_000)))
    assert.ok((await first(read(5))).includes(large.slice(0, 10_000)))
  })

  it('in the unfinished response of one address leave room for another', async () => {
    const leaving = new AbortController()
    after(() => leaving.abort())
    const long = call(2, 'send_message', { agent: 'scripted', message: 'long' })
    const unfinished = first([read(1), long], leaving.signal)
    let isOver = false
    unfinished.then(
      () => (isOver = true),
      () => {},
    )
    await eventually(
      async () => (await admin('GET', '/admin/health')).readers.unsentBytes > large.length,
      'the large task in the unfinished response',
    )
    const second = await open('198.51.100.1')
    assert.ok((await second(read(1))).includes(large.slice(0, 10_000)))
    assert.equal(isOver, false, 'the other response ended first')
  })
})

describe('a large request', { timeout: 120_000 }, () => {
  it('is not copied after it was parsed', async () => {
    const answer = await first(call(6, 'send_message', { agent: 'watching', message: large }))
    const bytes = Number(/longest body had (\d+) bytes/.exec(answer)?.[1])
    assert.ok(bytes < large.length, `a copy of ${bytes} bytes`)
  })
})
