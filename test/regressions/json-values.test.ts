/**
 * Guards against: a body of a million small values, which blocks the event loop for seconds to parse, check, hash and store.
 * Its values are counted before it is parsed, from every source, so that other agents respond meanwhile.
 */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, it } from 'node:test'
import type { TestContext } from 'node:test'
import { memoryStore } from '@parley/a2a'
import { connect } from '@parley/a2a/client'
import { createHandler } from '@parley/a2a/server'
import { testAgent } from '@parley/a2a/testing'
import { newMessage, nameOf, sendRequest, requestFormats } from './protocol-requests.ts'

const numbers = (count: number): string => `[${Array.from({ length: count }, () => '7').join(',')}]`

/** The lengths of the texts that were parsed in the meantime. */
async function parsedDuring(t: TestContext, work: () => Promise<unknown>): Promise<readonly number[]> {
  const parse = t.mock.method(JSON, 'parse')
  await work()
  const lengths = parse.mock.calls.map(({ arguments: [text] }) => text.length)
  parse.mock.restore()
  return lengths
}

describe('a request of more than 100,000 JSON values', () => {
  const handler = createHandler({ store: memoryStore(), agent: () => 'done', limits: { parts: 10 } })

  for (const way of requestFormats) {
    it(`gives a 413 that names the limit, and is never parsed, in ${nameOf(way)} [B-41]`, async (t) => {
      const { path, body, headers } = sendRequest(way, { ...newMessage(way, 'hi'), metadata: { list: '@' } })
      const post = async (list: string): Promise<{ status: number; text: string }> => {
        const request = new Request(`http://agent.test${path}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...headers },
          body: body.replace('"@"', list),
        })
        const response = await handler.fetch(request)
        return { status: response.status, text: await response.text() }
      }
      let refused = { status: 0, text: '' }
      const parsed = await parsedDuring(t, async () => (refused = await post(numbers(1_000_000))))
      assert.equal(refused.status, 413, refused.text)
      assert.match(refused.text, /The body holds more than 100000 JSON values/)
      assert.ok(
        parsed.every((length) => length < 10_000),
        'the body was parsed',
      )
      // All other values of the body.
      const rest = JSON.stringify(JSON.parse(body.replace('"@"', '[]')), (_, value: unknown) => value)
      let others = 0
      JSON.parse(rest, (_, value: unknown) => {
        others++
        return value
      })
      assert.equal((await post(numbers(100_000 - others))).status, 200)
      assert.equal((await post(numbers(100_001 - others))).status, 413)
    })
  }
})

describe('an agent that reports a value of too many JSON values', () => {
  it('fails its task, and other tasks continue', async (t) => {
    const list = (count: number): number[] => Array.from({ length: count }, () => 7)
    const agent = testAgent(({ text }) => ({ data: list(Number(text)) }), { server: { limits: { jsonNodes: 1_000 } } })
    t.after(() => agent.close())
    const stateOf = async (text: string): Promise<unknown> => {
      const task = await agent.send(text)
      return 'status' in task ? task.status.state : 'message'
    }
    assert.equal(await stateOf('1000'), 'TASK_STATE_FAILED')
    assert.equal(await stateOf('999'), 'TASK_STATE_COMPLETED')
  })
})

describe('a peer that answers with too many JSON values', () => {
  async function peer(t: TestContext, answer: (body: string) => { readonly type: string; readonly text: string }) {
    const server = createServer((request, response) => {
      const pieces: Buffer[] = []
      request.on('data', (piece: Buffer) => pieces.push(piece))
      request.on('end', () => {
        const { type, text } = answer(Buffer.concat(pieces).toString())
        response.writeHead(200, { 'content-type': type }).end(text)
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    t.after(() => server.close())
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }
  const cardAt = (url: string) => ({
    name: 'peer',
    description: '',
    version: '1',
    supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
    capabilities: { streaming: true },
    defaultInputModes: [],
    defaultOutputModes: [],
    skills: [],
  })
  const tooMany = { code: 'INVALID_AGENT_RESPONSE', message: /more than 100000 JSON values/ }
  const message = `{"messageId":"m","role":"ROLE_AGENT","parts":[{"data":${numbers(200_000)}}]}`
  const result = `{"jsonrpc":"2.0","id":1,"result":{"message":${message}}}`

  it('is refused before the answer is parsed', async (t) => {
    const url = await peer(t, () => ({ type: 'application/json', text: result }))
    const agent = await connect(cardAt(url))
    const parsed = await parsedDuring(t, () => assert.rejects(agent.send('hi'), tooMany))
    assert.ok(parsed.every((length) => length < 10_000))
  })

  it('is refused before an event is parsed', async (t) => {
    const url = await peer(t, () => ({ type: 'text/event-stream', text: `data: ${result}\n\n` }))
    const agent = await connect(cardAt(url))
    const parsed = await parsedDuring(t, () => assert.rejects(agent.stream('hi').all(), tooMany))
    assert.ok(parsed.every((length) => length < 10_000))
  })

  it('is refused before its card is parsed', async (t) => {
    const url = await peer(t, () => ({ type: 'application/json', text: `{"name":"x","skills":${numbers(200_000)}}` }))
    await assert.rejects(connect(url), tooMany)
  })

  it('is understood if the limit is set higher', async (t) => {
    const url = await peer(t, () => ({ type: 'application/json', text: result }))
    const agent = await connect(cardAt(url), { limits: { maxJsonNodes: 1_000_000 } })
    assert.equal((await agent.send('hi')).kind, 'message')
  })
})
