import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import type { Task } from '@parley/a2a'
import type { TestAgentOptions } from '@parley/a2a/testing'
import { openKind } from '../testing/open-kind.ts'
import { scriptedModel, type Script } from '../testing/scripted-model.ts'
import type { ScriptedReply } from '../testing/scripted-reply.ts'
import { openaiKind } from './index.ts'

async function open(t: TestContext, script: Script, entry: object = {}, test: TestAgentOptions = {}) {
  const model = await scriptedModel(script)
  t.after(() => model.close())
  const usual = { baseUrl: model.url, model: 'scripted', apiKey: 'sk-secret', retryWait: '20ms', retries: 2 }
  const opened = await openKind(t, openaiKind, { ...usual, ...entry }, { test })
  async function ask(text = 'hi'): Promise<[string, string, Task]> {
    const task = (await opened.agent.send(text)) as Task
    const [part] = task.status.message?.parts ?? []
    return [task.status.state, part !== undefined && 'text' in part ? part.text : '', task]
  }
  return { model, ask, ...opened }
}

const sse = (...events: readonly string[]): ScriptedReply => ({
  status: 200,
  headers: { 'content-type': 'text/event-stream' },
  body: events.map((data) => `data: ${data}\n\n`),
})
const textOf = ({ artifacts }: Task): string =>
  (artifacts ?? []).flatMap(({ parts }) => parts.map((part) => ('text' in part ? part.text : ''))).join('')

/** Several wait for an idle timeout. */
const together = { concurrency: 4 }

describe('an endpoint that fails at first', together, () => {
  const first: [string, ScriptedReply][] = [
    ['is busy', { status: 429, headers: { 'retry-after': '0' }, body: '{}' }],
    ['is busy to the millisecond', { status: 429, headers: { 'retry-after-ms': '5' }, body: '{}' }],
    ['is down', { status: 503, body: 'upstream host-9' }],
    ['cuts the connection at once', { cutAfter: 0 }],
    ['says in its stream that it is overloaded', sse('{"error":{"type":"overloaded_error"}}')],
    ['ends its stream before it said anything', sse()],
    ['falls silent before it said anything', { hangAfter: 0 }],
  ]
  for (const [what, reply] of first)
    it(`and ${what} is asked again`, async (t) => {
      const { model, ask } = await open(t, (_, count) => (count === 1 ? reply : { say: 'Here I am' }), {
        idleTimeout: '1s',
      })
      const [state, , task] = await ask()
      assert.deepEqual([state, textOf(task), model.requests.length], ['TASK_STATE_COMPLETED', 'Here I am', 2])
    })

  it('and does not become better is not asked for ever', async (t) => {
    const { model, ask, lines } = await open(t, () => ({ status: 500, body: 'host-9 sk-secret' }))
    const [state, why, task] = await ask()
    assert.deepEqual(
      [state, why, model.requests.length],
      ['TASK_STATE_FAILED', 'The model is down: try again later', 3],
    )
    assert.doesNotMatch(JSON.stringify(task), /host-9|sk-secret/)
    assert.ok(lines.some(({ level, fields }) => level === 'error' && /host-9/.test(String(fields?.['cause']))))
  })

  it('and asks for more patience than there is, is not waited for', async (t) => {
    const { model, ask } = await open(t, () => ({ status: 429, headers: { 'retry-after': '3600' }, body: '' }))
    assert.deepEqual((await ask()).slice(0, 2), ['TASK_STATE_FAILED', 'The model is busy: try again later'])
    assert.equal(model.requests.length, 1)
  })

  it('is not asked again after the deadline: the caller receives the reason in time', async (t) => {
    const busy = (): ScriptedReply => ({ status: 429, headers: { 'retry-after': '5' }, body: '' })
    const { model, agent } = await open(t, busy, { retryWait: '60s' }, { turnTimeoutMs: 3_000 })
    const { status } = (await agent.send('hi')) as Task
    assert.match(JSON.stringify(status.message?.parts), /busy/)
    assert.equal(model.requests.length, 1)
  })

  it('is not asked again once the task is canceled', async (t) => {
    const { model, agent } = await open(t, () => ({ status: 503, body: '' }), { retries: 50, retryWait: '50ms' })
    const { id } = (await agent.send('hi', { returnImmediately: true })) as Task
    await model.request(2)
    const { status } = await agent.cancel(id)
    assert.equal(status.state, 'TASK_STATE_CANCELED')
    const asked = model.requests.length
    await new Promise((resolve) => setTimeout(resolve, 150))
    assert.ok(model.requests.length <= asked + 1)
  })

  it('cannot be reached at all: the caller receives that reason', async (t) => {
    const { ask } = await open(t, () => ({}), { baseUrl: 'http://127.0.0.1:9/v1', retries: 0 })
    const [state, why] = await ask()
    assert.deepEqual([state, why], ['TASK_STATE_FAILED', 'The model is unavailable now'])
  })
})

describe('an endpoint that will never do', () => {
  const hopeless: [number, string, RegExp][] = [
    [401, '{"error":{"message":"bad key sk-secret"}}', /rejected the credentials of this agent/],
    [403, '', /rejected the credentials of this agent/],
    [404, '{"error":{"message":"no model x at host-9"}}', /model is unavailable/],
    [402, '', /used up/],
    [429, '{"error":{"code":"insufficient_quota"}}', /used up/],
    [400, '{"error":{"code":"context_length_exceeded"}}', /too long/],
    [413, '', /too long/],
    [400, '{"error":"x"}', /does not accept this request/],
  ]
  for (const [status, body, words] of hopeless)
    it(`and answers ${status} ${body} is asked once, and the caller receives the reason`, async (t) => {
      const { model, ask } = await open(t, () => ({ status, body }))
      const [state, why, task] = await ask()
      assert.equal(state, 'TASK_STATE_FAILED')
      assert.match(why, words)
      assert.equal(model.requests.length, 1)
      assert.doesNotMatch(JSON.stringify(task), /host-9|sk-secret/)
    })

  const garbage: [string, ScriptedReply][] = [
    ['a page', { status: 200, headers: { 'content-type': 'text/html' }, body: '<html>host-9</html>' }],
    ['half a document', { status: 200, headers: { 'content-type': 'application/json' }, body: '{"choices":[' }],
    ['a number', { status: 200, headers: { 'content-type': 'application/json' }, body: '42' }],
    ['events that are no JSON', sse('Hello', '[DONE]')],
    ['events that are no chunks', sse('{"hello":1}')],
    [
      'an event without an end',
      { status: 200, headers: { 'content-type': 'text/event-stream' }, body: [`data: ${'x'.repeat(3_000)}`] },
    ],
  ]
  for (const [what, reply] of garbage)
    it(`and answers with ${what} is not understood: -32006 while there is no task, else the task fails [S1-9]`, async (t) => {
      const message = 'The model returned a response that cannot be read'
      const before = await open(t, () => reply, { answerLimit: 2_000 }, { openAfterMs: 60_000 })
      await assert.rejects(before.ask(), { code: 'INVALID_AGENT_RESPONSE', message })
      assert.equal(before.model.requests.length, 1)
      const { ask } = await open(t, () => reply, { answerLimit: 2_000 }, { openAfterMs: 0 })
      const [state, why] = await ask()
      assert.deepEqual([state, why], ['TASK_STATE_FAILED', message])
    })

  it('and redirects does not get the key sent elsewhere', async (t) => {
    const elsewhere = await scriptedModel(() => ({ say: 'Thanks for the key' }))
    t.after(() => elsewhere.close())
    const location = `${elsewhere.url}/chat/completions`
    const { ask } = await open(t, () => ({ status: 307, headers: { location }, body: '' }), { retries: 0 })
    assert.equal((await ask())[0], 'TASK_STATE_FAILED')
    assert.equal(elsewhere.requests.length, 0)
  })
})

describe('an endpoint that fails in the middle of its answer', together, () => {
  const middle: [string, ScriptedReply, RegExp][] = [
    ['cuts the connection', { say: ['One ', 'two'], cutAfter: 2 }, /broke off/],
    ['ends its stream too early', sse('{"choices":[{"delta":{"content":"One "}}]}'), /broke off/],
    ['falls silent', { say: ['One ', 'two'], hangAfter: 2 }, /in time/],
    ['says an error', sse('{"choices":[{"delta":{"content":"One "}}]}', '{"error":{"message":"host-9"}}'), /down/],
    ['says nonsense', sse('{"choices":[{"delta":{"content":"One "}}]}', 'x{'), /cannot be read/],
    ['never stops', { say: Array.from({ length: 60 }, () => `One ${'x'.repeat(50)}`) }, /cannot be read/],
  ]
  for (const [what, reply, words] of middle)
    it(`and ${what} is not asked again: what it said stays, and the task fails`, async (t) => {
      // Data in flight is lost when a connection is cut, so the test cuts it only after the caller has received the text.
      const firstChunk = Promise.withResolvers<void>()
      const script = (): ScriptedReply => ({
        before: async (piece: number) => piece > 1 && firstChunk.promise,
        ...reply,
      })
      const idleTimeout = what === 'falls silent' ? '1s' : '1m'
      const { model, agent } = await open(t, script, { idleTimeout, answerLimit: 2_000 })
      let taskId = ''
      for await (const event of agent.stream('hi')) {
        if ('task' in event) taskId = event.task.id
        if ('artifactUpdate' in event) firstChunk.resolve()
      }
      const task = await agent.get(taskId)
      assert.equal(task.status.state, 'TASK_STATE_FAILED')
      assert.match(JSON.stringify(task.status.message?.parts), words)
      assert.match(textOf(task), /^One /)
      assert.equal(model.requests.length, 1)
      assert.doesNotMatch(JSON.stringify(task), /host-9/)
    })
})

describe('an endpoint of its own habits', together, () => {
  it('may take its time, as long as it sends something', async (t) => {
    const pause = () => new Promise((resolve) => setTimeout(resolve, 300))
    const { ask } = await open(t, () => ({ say: ['a', 'b', 'c', 'd'], before: pause }), {
      idleTimeout: '1s',
      retries: 0,
    })
    assert.equal(textOf((await ask())[2]), 'abcd')
  })

  it('may send an answer in one piece of a megabyte', async (t) => {
    const text = 'é'.repeat(500_000)
    const { ask } = await open(t, () => ({ say: text }))
    assert.equal(textOf((await ask())[2]).length, text.length)
  })

  it('may leave out the end mark, or the reason, and begin with comments', async (t) => {
    const chunk = (content: string, more = '') => `{"choices":[{"delta":{"content":"${content}"}${more}}]}`
    const replies = [
      sse(chunk('a'), chunk('b', ',"finish_reason":"stop"')),
      sse(chunk('a'), chunk('b'), '[DONE]'),
      {
        status: 200,
        headers: { 'content-type': 'text/plain' },
        body: [': waiting\r\n\r\nda', `ta: ${chunk('ab')}\r\n\r`, '\ndata: [DO', 'NE]\n\n'],
      },
    ]
    for (const reply of replies) {
      const { ask } = await open(t, () => reply)
      const [state, , task] = await ask()
      assert.deepEqual([state, textOf(task)], ['TASK_STATE_COMPLETED', 'ab'])
    }
  })

  it('may answer in one piece though asked to stream', async (t) => {
    const body = '{"choices":[{"message":{"content":"All at once"},"finish_reason":"stop"}]}'
    const { ask } = await open(t, () => ({ status: 200, headers: { 'content-type': 'application/json' }, body }))
    assert.equal(textOf((await ask())[2]), 'All at once')
  })

  it('may not know streams, or their bill: it is asked otherwise, and from then on', async (t) => {
    const refuse = (message: string): ScriptedReply => ({ status: 400, body: JSON.stringify({ error: { message } }) })
    const { model, ask } = await open(t, ({ body }) => {
      if (body['stream_options'] !== undefined) return refuse('Unknown field: stream_options')
      return body.stream === true ? refuse('Streaming is not supported') : { say: 'At last' }
    })
    assert.equal(textOf((await ask())[2]), 'At last')
    assert.equal(model.requests.length, 3)
    assert.equal(textOf((await ask())[2]), 'At last')
    assert.equal(model.requests.length, 4)
    const streaming = await open(t, () => refuse('Streaming is not supported'), { stream: true })
    assert.equal((await streaming.ask())[0], 'TASK_STATE_FAILED')
    assert.equal(streaming.model.requests.length, 1)
  })

  it('may call tools that it was not given: the task fails', async (t) => {
    const { ask } = await open(t, () => ({ calls: [{ name: 'rm', input: {} }] }))
    assert.deepEqual((await ask()).slice(0, 2), ['TASK_STATE_FAILED', 'The model answered with nothing'])
  })
})

describe('an endpoint that answers with too many JSON values', () => {
  const reply = (count: number, stream: boolean): ScriptedReply => {
    const choice = { delta: { content: 'x' }, message: { content: 'x' }, finish_reason: 'stop' }
    const text = JSON.stringify({ choices: [{ ...choice, logprobs: Array.from({ length: count }, () => 0) }] })
    return stream ? sse(text) : { status: 200, headers: { 'content-type': 'application/json' }, body: text }
  }

  it('fails the task, streaming or not', async (t) => {
    for (const stream of [true, false]) {
      const stateAfter = async (count: number): Promise<string> => {
        const { ask } = await open(t, () => reply(count, stream), { stream, retries: 0 })
        return ask().then(
          ([state]) => state,
          (reason: { readonly code: string }) => reason.code,
        )
      }
      assert.equal(await stateAfter(99_000), 'TASK_STATE_COMPLETED')
      // The call is rejected if the error is known before the task opens.
      assert.match(await stateAfter(200_000), /^(TASK_STATE_FAILED|INVALID_AGENT_RESPONSE)$/)
    }
  })
})
