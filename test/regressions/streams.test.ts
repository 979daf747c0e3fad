/**
 * Guards against: streams that only their own client can read. JSON lines instead of
 * events, a first event that is not a task, proxies that buffer everything until the
 * end, and a version header that is required although older clients do not send it.
 */
import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { reply } from '@parley/a2a'
import { testAgent } from '@parley/a2a/testing'
import { newMessage, nameOf, post, sendRequest, requestFormats } from './protocol-requests.ts'

const agent = testAgent(async function* ({ text }) {
  if (text === 'talk') yield reply('Hi')
  else for (const word of ['a ', 'b ', 'c']) yield word
})
after(() => agent.close())

describe('a stream', () => {
  for (const way of requestFormats) {
    it(`has server-sent events that no proxy buffers, in ${nameOf(way)} [F-4 F-6]`, async () => {
      const { path, body, headers } = sendRequest(way, newMessage(way, 'x'), true)
      const { status, headers: answered, text } = await post(agent, path, body, headers)
      assert.equal(status, 200)
      assert.match(answered.get('content-type') ?? '', /^text\/event-stream/)
      assert.equal(answered.get('x-accel-buffering'), 'no')
      assert.match(answered.get('cache-control') ?? '', /no-cache/)
      const frames = text.split('\n\n').filter((frame) => frame !== '')
      for (const frame of frames) assert.match(frame, /^id: \d+\ndata: \{[^\n]*\}$/)
      const documents = frames.map((frame) => JSON.parse(frame.slice(frame.indexOf('data: ') + 6)))
      if (way.binding === 'JSONRPC') assert.ok(documents.every(({ jsonrpc, id }) => jsonrpc === '2.0' && id === 1))
    })

    it(`begins with the task and ends with its final state, in ${nameOf(way)} [B-89 B-90 B-97]`, async () => {
      const events = await Array.fromAsync(agent.as(way.version, way.binding).stream('x').frames())
      const [first] = events
      const last = events.at(-1)
      assert.ok(first !== undefined && 'task' in first.event)
      assert.ok(last !== undefined && 'statusUpdate' in last.event)
      assert.equal(last.event.statusUpdate.status.state, 'TASK_STATE_COMPLETED')
      const finals = events.flatMap(({ final }) => (final === undefined ? [] : [final]))
      if (way.version === '1.0') assert.deepEqual(finals, [])
      else assert.deepEqual([finals.at(-1), finals.slice(0, -1).includes(true)], [true, false])
    })

    it(`with a direct message has no other event, in ${nameOf(way)} [B-89]`, async () => {
      const events = await agent.as(way.version, way.binding).stream('talk').all()
      assert.equal(events.length, 1)
      assert.ok('message' in events[0]!)
    })

    it(`that cannot start gives a plain error, in ${nameOf(way)} [F-7]`, async () => {
      const { path, body, headers } = sendRequest(way, { ...newMessage(way, 'x'), taskId: 'unknown' }, true)
      const { status, headers: answered, text } = await post(agent, path, body, headers)
      assert.equal(status, way.binding === 'JSONRPC' ? 200 : 404)
      assert.match(answered.get('content-type') ?? '', /^application\/(a2a\+)?json$/)
      assert.match(text, /TASK_NOT_FOUND/)
    })
  }
})

describe('a client that names no version', () => {
  it('is served in the version of its request format [B-3 B-10 B-11]', async () => {
    for (const way of requestFormats) {
      const { path, body } = sendRequest(way, newMessage(way, 'x'))
      const { status, text, headers } = await post(agent, path, body)
      assert.equal(status, 200, nameOf(way))
      assert.match(
        text,
        way.version === '1.0' ? /TASK_STATE_COMPLETED/ : way.binding === 'JSONRPC' ? /"state":"completed"/ : /"task":/,
      )
      assert.equal(headers.get('a2a-version'), way.version === '1.0' ? '1.0' : '0.3')
    }
  })

  it('is served as 0.3 in strict mode [B-3]', async () => {
    const strict = testAgent(({ text }) => text, { server: { strict: true } })
    const old = sendRequest(
      { version: '0.3', binding: 'JSONRPC' },
      newMessage({ version: '0.3', binding: 'JSONRPC' }, 'x'),
    )
    assert.match((await post(strict, old.path, old.body)).text, /"state":"completed"/)
    const young = sendRequest(
      { version: '1.0', binding: 'JSONRPC' },
      newMessage({ version: '1.0', binding: 'JSONRPC' }, 'x'),
    )
    assert.equal((await post(strict, young.path, young.body)).json.error.code, -32601)
    await strict.close()
  })
})

describe('a repeated message', () => {
  for (const way of requestFormats) {
    it(`gives one task and one run, in ${nameOf(way)} [B-163]`, async () => {
      let ran = 0
      const counting = testAgent(() => `run ${(ran += 1)}`)
      const { path, body, headers } = sendRequest(way, newMessage(way, 'x'))
      const answers = await Promise.all([1, 2, 3].map(() => post(counting, path, body, headers)))
      answers.push(await post(counting, path, body, headers))
      const ids = answers.map(({ text }) => /"id":"([^"]+)"/.exec(text)?.[1])
      assert.equal(new Set(ids).size, 1)
      assert.equal(ran, 1)
      await counting.close()
    })
  }
})
