/** Turns over the WebSocket: the usual course and its variants. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Part, Task } from '@parley/a2a'
import {
  sendText,
  readChunks,
  joinChunks,
  readEventMetadata,
  openOpenclawTestAgent,
  statusOf,
  textOf,
  waitUntil,
} from './openclaw-test-agent.ts'

const png: Part = { raw: Buffer.from('pixels').toString('base64'), mediaType: 'image/png', filename: 'a.png' }
const pdf: Part = { raw: Buffer.from('%PDF').toString('base64'), mediaType: 'application/pdf', filename: 'a.pdf' }

describe('a turn at an OpenClaw gateway', () => {
  it('is requested once, with its own key and session [S4-7 S4-9 S4-24]', async (t) => {
    const { gateway, agent } = await openOpenclawTestAgent(t, { entry: { thinking: 'low' } })
    const task = await sendText(agent, 'count to 3')
    const [request, ...more] = gateway.receivedRequests.filter(({ method }) => method === 'agent')
    assert.deepEqual(more, [])
    const { sessionKey, ...rest } = request?.params ?? {}
    assert.match(String(sessionKey), /^agent:main:a2a-[0-9a-f]{40}$/)
    assert.deepEqual(rest, {
      message: 'count to 3',
      idempotencyKey: `${task.id}-1`,
      agentId: 'main',
      deliver: false,
      thinking: 'low',
      timeout: 600,
    })
  })

  it('is delivered in chunks and ends with its usage [S4-8 S4-17 S4-25]', async (t) => {
    const { agent } = await openOpenclawTestAgent(t)
    const chunks = await readChunks(agent, 'count to 5')
    assert.ok(chunks.length >= 4, JSON.stringify(chunks))
    assert.equal(joinChunks(chunks), '1 2 3 4 5')
    assert.deepEqual((await readEventMetadata(agent, 'count to 2')).at(-1), {
      usage: { inputTokens: 11, outputTokens: 7, totalTokens: 18 },
    })
  })

  it('delivers the text before and after a tool call, and reports the call [S4-17]', async (t) => {
    const { agent } = await openOpenclawTestAgent(t)
    const allMetadata = await readEventMetadata(agent, 'run the command echo hi')
    const calls = allMetadata.flatMap(({ toolCall }) => toolCall ?? []) as unknown as readonly {
      readonly id: string
      readonly phase: string
    }[]
    assert.deepEqual(
      calls.map(({ phase }) => phase),
      ['start', 'result'],
    )
    assert.equal(calls[0]?.id, calls[1]?.id)
    const task = await sendText(agent, 'run the command echo hi')
    assert.equal(textOf(task), 'Let me see.\n\nIt said: hi')
    assert.doesNotMatch(JSON.stringify([allMetadata, task]), /\/home\/claw/)
  })

  it('restarts its answer when the gateway retracts it', async (t) => {
    const firstChunk = Promise.withResolvers<void>()
    const { agent } = await openOpenclawTestAgent(t, { trouble: { replaces: firstChunk.promise } })
    const chunks = await readChunks(agent, 'count to 3', firstChunk.resolve)
    assert.equal(chunks[0]?.[0], 'Wrong ')
    assert.equal(joinChunks(chunks), '1 2 3')
    assert.equal(textOf(await sendText(agent, 'count to 2')), '1 2')
  })

  it('ends with the text of the final event if it differs from the streamed text', async (t) => {
    const { agent } = await openOpenclawTestAgent(t, { trouble: { finalText: 'Sorry, no.' } })
    assert.equal(joinChunks(await readChunks(agent, 'count to 3')), 'Sorry, no.')
  })

  it('ignores the events of other runs, and accepts gaps where the gateway joins events [S4-17]', async (t) => {
    const { agent } = await openOpenclawTestAgent(t, { trouble: { noisy: true, joins: true } })
    const task = await sendText(agent, 'count to 20')
    assert.equal(textOf(task), Array.from({ length: 20 }, (_, index) => index + 1).join(' '))
    const allMetadata = await readEventMetadata(agent, 'count to 5')
    assert.ok(!allMetadata.some((metadata) => 'warning' in metadata), JSON.stringify(allMetadata))
  })

  it('continues with a warning when events were lost, and is complete at the end [S4-17]', async (t) => {
    const { agent } = await openOpenclawTestAgent(t, { trouble: { loses: 2 } })
    const allMetadata = await readEventMetadata(agent, 'count to 5')
    assert.ok(
      allMetadata.some(({ warning }) => warning === 'seq gap'),
      JSON.stringify(allMetadata),
    )
    assert.equal(textOf(await sendText(agent, 'count to 6')), '1 2 3 4 5 6')
  })

  it('assembles its answer from increments, as older gateways send them', async (t) => {
    const { agent } = await openOpenclawTestAgent(t, { trouble: { deltasOnly: true, protocol: 3 } })
    assert.equal(textOf(await sendText(agent, 'count to 4')), '1 2 3 4')
  })

  it('continues while the gateway retries its model', async (t) => {
    const { agent } = await openOpenclawTestAgent(t, { trouble: { retries: 3 } })
    const allMetadata = await readEventMetadata(agent, 'count to 2')
    assert.deepEqual(
      allMetadata.flatMap(({ retry }) => retry ?? []),
      [1, 2, 3].map((attempt) => ({ attempt, most: 8 })),
    )
    const task = await sendText(agent, 'count to 2')
    assert.equal(textOf(task), '1 2')
    assert.doesNotMatch(JSON.stringify(task), /secret-host/)
  })

  for (const failure of ['plain', 'third form'] as const) {
    it(`fails when the gateway reports a failure in the form "${failure}", with the reason only in the log`, async (t) => {
      const { agent, bench } = await openOpenclawTestAgent(t, { trouble: { failure } })
      const task = await sendText(agent, 'fail now')
      assert.equal(task.status.state, 'TASK_STATE_FAILED')
      assert.equal(statusOf(task), 'The agent failed while it was working on the answer')
      assert.match(JSON.stringify(bench.lines), /sk-123/)
    })
  }

  it('fails when it times out at the gateway [S4-20]', async (t) => {
    const { agent, gateway } = await openOpenclawTestAgent(t)
    const started = (await agent.send('work for ever', { returnImmediately: true })) as Task
    await gateway.responder.begun()
    gateway.endRun(`${started.id}-1`, 'timeout')
    await waitUntil(async () => (await agent.get(started.id)).status.state === 'TASK_STATE_FAILED', 'the end')
    assert.equal(statusOf(await agent.get(started.id)), 'The agent did not finish in time')
  })

  it('is canceled when it is stopped at the gateway', async (t) => {
    const { agent, gateway } = await openOpenclawTestAgent(t)
    const started = (await agent.send('work for ever', { returnImmediately: true })) as Task
    await gateway.responder.begun()
    gateway.endRun(`${started.id}-1`, 'rpc')
    await waitUntil(async () => (await agent.get(started.id)).status.state === 'TASK_STATE_CANCELED', 'the end')
  })

  it('is stopped at the gateway when it is canceled, and later events are ignored [S4-19 S4-25]', async (t) => {
    const { agent, gateway } = await openOpenclawTestAgent(t)
    const started = (await agent.send('work for ever', { returnImmediately: true })) as Task
    await gateway.responder.begun()
    const canceled = await agent.cancel(started.id)
    assert.equal(canceled.status.state, 'TASK_STATE_CANCELED')
    await gateway.responder.stopped()
    const abort = gateway.receivedRequests.find(({ method }) => method === 'chat.abort')
    assert.equal(abort?.params['runId'], `${started.id}-1`)
    assert.equal((await agent.get(started.id)).status.state, 'TASK_STATE_CANCELED')
  })

  it('has its own key and answer in each turn of a task [S4-7]', async (t) => {
    const { agent, gateway } = await openOpenclawTestAgent(t)
    const started = (await agent.send('take your time', { returnImmediately: true })) as Task
    await gateway.responder.begun()
    const second = sendText(agent, 'count to 3', { taskId: started.id })
    gateway.responder.release()
    const task = await second
    assert.deepEqual(
      task.artifacts?.map(({ artifactId, parts }) => [artifactId, parts]),
      [
        ['answer', [{ text: 'one two three' }]],
        ['answer-2', [{ text: '1 2 3' }]],
      ],
    )
    const keys = gateway.receivedRequests.flatMap(({ method, params }) =>
      method === 'agent' ? [params['idempotencyKey']] : [],
    )
    assert.deepEqual(keys, [`${task.id}-1`, `${task.id}-2`])
  })
})

describe('a message to an OpenClaw gateway', () => {
  it('carries images with `agent` and files with `chat.send` [S4-10 S4-25]', async (t) => {
    const { agent, gateway } = await openOpenclawTestAgent(t)
    await agent.send([{ text: 'count to 2' }, png])
    await agent.send([{ text: 'count to 2' }, pdf])
    const sent = gateway.receivedRequests.filter(({ params }) => params['attachments'] !== undefined)
    assert.deepEqual(
      sent.map(({ method, params }) => [method, params['attachments']]),
      [
        ['agent', [{ type: 'image', mimeType: 'image/png', fileName: 'a.png', content: 'cGl4ZWxz' }]],
        ['chat.send', [{ type: 'file', mimeType: 'application/pdf', fileName: 'a.pdf', content: 'JVBERg==' }]],
      ],
    )
  })

  it('is rejected before a task exists if it has data or is too large for the gateway [S4-10 S4-25]', async (t) => {
    const { agent, gateway } = await openOpenclawTestAgent(t, { trouble: { imageBytes: 3 } })
    await assert.rejects(agent.send([{ text: 'hi' }, { data: { a: 1 } }]), { code: 'CONTENT_TYPE_NOT_SUPPORTED' })
    await assert.rejects(agent.send([{ text: 'hi' }, png]), { code: 'PAYLOAD_TOO_LARGE', message: /parts\[1\]/ })
    assert.deepEqual(await agent.list(), [])
    assert.ok(!gateway.receivedRequests.some(({ method }) => method === 'agent'))
  })

  it('is text and never a command of the gateway', async (t) => {
    const { agent, gateway } = await openOpenclawTestAgent(t)
    assert.equal(textOf(await sendText(agent, '/new say hello')), 'You said hello')
    const { agent: other, gateway: second } = await openOpenclawTestAgent(t, { entry: { approvals: 'caller' } })
    assert.equal(textOf(await sendText(other, 'then: /elevated full, say hello')), 'You said hello')
    assert.equal(textOf(await sendText(other, 'stop')), 'I read you')
    const sent = [...gateway.receivedRequests, ...second.receivedRequests].flatMap(
      ({ params }) => params['message'] ?? [],
    )
    assert.equal(sent.length, 3)
  })

  it('is answered even if its session is busy at the gateway', async (t) => {
    const { agent, gateway } = await openOpenclawTestAgent(t, { entry: { approvals: 'caller' } })
    const contextId = (await sendText(agent, 'count to 2')).contextId as string
    const sessionKey = String(
      gateway.receivedRequests.find(({ method }) => method === 'chat.send')?.params['sessionKey'],
    )
    // Another client, such as another replica of this hub.
    gateway.runs.begin('take your time', sessionKey)
    await gateway.responder.begun()
    const answer = sendText(agent, 'count to 7', { contextId })
    await waitUntil(
      () => gateway.receivedRequests.filter(({ method }) => method === 'chat.send').length === 2,
      'the second message',
    )
    gateway.responder.release()
    assert.equal(textOf(await answer), '1 2 3 4 5 6 7')
  })
})
