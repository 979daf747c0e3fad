/** The transports to an OpenClaw gateway: WebSocket, HTTP, fallback, and both by operation. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { inspect } from 'node:util'
import type { Part } from '@parley/a2a'
import {
  sendText,
  readChunks,
  joinChunks,
  readEventMetadata,
  openOpenclawTestAgent,
  statusOf,
  textOf,
} from './openclaw-test-agent.ts'

const png: Part = { raw: Buffer.from('pixels').toString('base64'), mediaType: 'image/png', filename: 'a.png' }
const pdf: Part = { raw: Buffer.from('%PDF').toString('base64'), mediaType: 'application/pdf' }

describe('transport: auto', () => {
  it('uses the WebSocket [S4-8]', async (t) => {
    const { gateway, agent } = await openOpenclawTestAgent(t, { entry: { transport: 'auto' } })
    assert.equal(textOf(await sendText(agent, 'count to 3')), '1 2 3')
    assert.equal(gateway.bodies.length, 0)
  })

  it('uses HTTP if the WebSocket is unavailable or has another protocol version [S4-8]', async (t) => {
    for (const trouble of [{ noWebSocket: true }, { protocol: 9 }]) {
      const { gateway, agent } = await openOpenclawTestAgent(t, { entry: { transport: 'auto' }, trouble })
      assert.equal(joinChunks(await readChunks(agent, 'count to 3')), '1 2 3')
      assert.equal(gateway.bodies.length, 1)
    }
  })

  it('does not bypass a gateway that refuses', async (t) => {
    const { gateway, agent } = await openOpenclawTestAgent(t, {
      entry: { transport: 'auto' },
      trouble: { pairing: true },
    })
    await assert.rejects(agent.send('hi'), { message: /openclaw devices approve/ })
    assert.equal(gateway.bodies.length, 0)
  })

  it('reports an unreachable gateway if both transports fail', async (t) => {
    const { agent } = await openOpenclawTestAgent(t, {
      entry: { transport: 'auto' },
      trouble: { noWebSocket: true, http: 'off' },
    })
    await assert.rejects(agent.send('hi'), {
      code: 'AGENT_UNAVAILABLE',
      message: 'The OpenClaw gateway is unavailable now',
    })
  })
})

describe('transport: split', () => {
  it('uses HTTP for a blocking call and the WebSocket for a stream [S4-8]', async (t) => {
    const { gateway, agent } = await openOpenclawTestAgent(t, { entry: { transport: 'split' } })
    assert.equal(textOf(await sendText(agent, 'count to 3')), '1 2 3')
    assert.deepEqual(
      gateway.bodies.map(({ body }) => body['stream']),
      [false],
    )
    assert.equal(joinChunks(await readChunks(agent, 'count to 4')), '1 2 3 4')
    assert.equal(gateway.bodies.length, 1)
    assert.equal(gateway.receivedRequests.filter(({ method }) => method === 'agent').length, 1)
  })

  it('keeps both in one session of the gateway', async (t) => {
    const { gateway, agent } = await openOpenclawTestAgent(t, { entry: { transport: 'split' } })
    const { contextId } = await sendText(agent, 'remember plum')
    const task = await sendText(agent, 'what was it?', { contextId })
    assert.equal(textOf(task), 'It was plum')
    for await (const _ of agent.stream('what was it?', { contextId: contextId as string }));
    const sessions = [
      ...gateway.bodies.map(({ headers }) => headers['x-openclaw-session-key']),
      ...gateway.receivedRequests.flatMap(({ params }) => params['sessionKey'] ?? []),
    ]
    assert.equal(new Set(sessions).size, 1)
  })

  it('fails over HTTP with a message that hides the response of the gateway', async (t) => {
    const { agent, bench } = await openOpenclawTestAgent(t, { entry: { transport: 'split' } })
    const task = await sendText(agent, 'fail now')
    assert.equal(task.status.state, 'TASK_STATE_FAILED')
    assert.equal(statusOf(task), 'The agent could not answer this message')
    assert.match(inspect(bench.lines, { depth: 8 }), /returned 400/)
  })

  it('uses the WebSocket for files, which HTTP does not support', async (t) => {
    const { gateway, agent } = await openOpenclawTestAgent(t, { entry: { transport: 'split' } })
    await agent.send([{ text: 'count to 2' }, pdf])
    assert.equal(gateway.bodies.length, 0)
  })
})

describe('transport: http', () => {
  it('sends agent, session and token, and only the new message', async (t) => {
    const { gateway, agent } = await openOpenclawTestAgent(t, { entry: { transport: 'http' } })
    const { contextId } = await sendText(agent, 'remember plum')
    assert.equal(textOf(await sendText(agent, 'what was it?', { contextId })), 'It was plum')
    const [, { headers, body } = { headers: {}, body: {} }] = gateway.bodies
    assert.equal(headers['x-openclaw-agent-id'], 'main')
    assert.match(String(headers['x-openclaw-session-key']), /^agent:main:a2a-[0-9a-f]{40}$/)
    assert.equal(body['model'], 'openclaw/main')
    assert.deepEqual(body['messages'], [{ role: 'user', content: 'what was it?' }])
    assert.equal(gateway.connectionAttempts(), 0)
  })

  it('accepts images, and rejects files and data by naming the part', async (t) => {
    const { gateway, agent } = await openOpenclawTestAgent(t, { entry: { transport: 'http' } })
    await agent.send([{ text: 'count to 2' }, png])
    assert.match(JSON.stringify(gateway.bodies[0]?.body['messages']), /data:image\/png;base64,cGl4ZWxz/)
    const code = 'CONTENT_TYPE_NOT_SUPPORTED'
    await assert.rejects(agent.send([{ text: 'x' }, pdf]), { code, message: /^message\.parts\[1\] is a file/ })
    await assert.rejects(agent.send([{ text: 'x' }, { data: 1 }]), { code, message: /^message\.parts\[1\] is data/ })
    await assert.rejects(agent.send([{ text: 'x' }, ...Array.from({ length: 9 }, () => png)]), {
      code: 'INVALID_PARAMS',
    })
  })

  it('reads the stream endings of current and older gateways, and counts usage', async (t) => {
    const { agent } = await openOpenclawTestAgent(t, { entry: { transport: 'http' } })
    assert.deepEqual((await readEventMetadata(agent, 'count to 2')).at(-1), {
      usage: { inputTokens: 11, outputTokens: 7, totalTokens: 18 },
    })
    const older = await openOpenclawTestAgent(t, { entry: { transport: 'http' }, trouble: { http: 'older' } })
    assert.equal(joinChunks(await readChunks(older.agent, 'count to 3')), '1 2 3')
  })

  for (const http of ['on', 'older'] as const) {
    it(`fails with the gateway, in the form of ${http === 'on' ? 'current' : 'older'} gateways`, async (t) => {
      const { agent } = await openOpenclawTestAgent(t, { entry: { transport: 'http' }, trouble: { http } })
      const task = await sendText(agent, 'fail now')
      assert.equal(task.status.state, 'TASK_STATE_FAILED')
      assert.equal(statusOf(task), 'The agent failed while it was working on the answer')
      assert.equal(textOf(task), '')
    })
  }

  it('reports what to do if the endpoint is off or the token is wrong', async (t) => {
    const off = await openOpenclawTestAgent(t, { entry: { transport: 'http' }, trouble: { http: 'off' } })
    assert.match(statusOf(await sendText(off.agent, 'hi')), /chatCompletions\.enabled/)
    const wrong = await openOpenclawTestAgent(t, { entry: { transport: 'http', token: 'guess' } })
    assert.match(statusOf(await sendText(wrong.agent, 'hi')), /rejected the configured credentials/)
    await assert.rejects(wrong.bench.open.health?.(AbortSignal.timeout(120_000)) as Promise<void>)
  })

  it('is stopped at the gateway by a disconnect when it is canceled [S4-19]', async (t) => {
    const { agent, gateway } = await openOpenclawTestAgent(t, { entry: { transport: 'http' } })
    const task = await sendText(agent, 'work for ever', { returnImmediately: true })
    await gateway.responder.begun()
    assert.equal((await agent.cancel(task.id)).status.state, 'TASK_STATE_CANCELED')
    await gateway.responder.stopped()
  })

  it('fails with a reason when its stream breaks off', async (t) => {
    const { agent, gateway } = await openOpenclawTestAgent(t, { entry: { transport: 'http' } })
    const task = await sendText(agent, 'take your time', { returnImmediately: true })
    await gateway.responder.begun()
    gateway.cutHttp()
    for (;;) {
      const { status } = await agent.get(task.id)
      if (status.state === 'TASK_STATE_FAILED') break
      assert.equal(status.state, 'TASK_STATE_WORKING')
    }
    assert.equal(statusOf(await agent.get(task.id)), 'The agent failed while it was working on the answer')
  })
})
