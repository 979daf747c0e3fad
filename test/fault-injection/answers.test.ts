/** Invalid responses: HTML pages instead of JSON, JSON of the wrong shape, bytes that are not text. */
import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { calls as simpleCalls } from './client-calls.ts'
import type { Exchange } from './exchange.ts'
import { endsTyped, failsWith, faultCase } from './fault-case.ts'
import { events, statusUpdate, task, taskAfter, taskId } from './sample-task.ts'

const page = '<!doctype html><html><style>p { x: y }</style><h1>It works!</h1><p>Sign in</p></html>'

/** The error for a page under that status. `INVALID_AGENT_RESPONSE`: the server is not an agent. */
const meanings: readonly (readonly [status: number, ...codes: string[]])[] = [
  [200, 'INVALID_AGENT_RESPONSE'],
  [302, 'INVALID_AGENT_RESPONSE', 'UNAVAILABLE'],
  [400, 'INVALID_AGENT_RESPONSE', 'INVALID_REQUEST'],
  [401, 'UNAUTHENTICATED'],
  [403, 'PERMISSION_DENIED'],
  [404, 'INVALID_AGENT_RESPONSE', 'METHOD_NOT_FOUND'],
  [500, 'INVALID_AGENT_RESPONSE', 'INTERNAL', 'UNAVAILABLE'],
  [502, 'UNAVAILABLE'],
  [503, 'UNAVAILABLE', 'AGENT_UNAVAILABLE'],
]

/** Also the calls that read a response in their own way. */
const calls: typeof simpleCalls = {
  ...simpleCalls,
  start: (agent, signal) => agent.start('go', { signal }),
  wait: (agent, signal) => agent.wait(taskId, { signal }),
}

for (const binding of ['JSONRPC', 'HTTP+JSON'] as const) {
  describe(`over ${binding} an HTML page`, () => {
    for (const [status, ...codes] of meanings) {
      faultCase(`with status ${status} gives the specific error in every call`, async ({ open, connect, signal }) => {
        const card = (exchange: Exchange): void => exchange.json(server.card)
        const other = (exchange: Exchange): void => exchange.answer(status, { 'content-type': 'text/html' }, page)
        const server = await open({ card, other }, { bindings: [binding] })
        const agent = await connect(server)
        for (const [name, call] of Object.entries(calls)) {
          const error = await failsWith(call(agent, signal), ...codes)
          assert.doesNotMatch(error.message, /works/, `${name} passes the page on`)
          assert.equal(error.details['excerpt'] ?? 'It works! Sign in', 'It works! Sign in')
          if (status !== 200) assert.equal(error.details['status'], String(status), name)
        }
      })
    }
  })
}

describe('a JSON response', () => {
  const shapes: Readonly<Record<string, string>> = {
    'a batch of answers': '[{"jsonrpc":"2.0","id":1,"result":{"id":"task-1"}}]',
    'an empty list': '[]',
    null: 'null',
    'a number': '42',
    'a string': '"fine"',
    'an empty body': '',
    'no envelope': '{"ok":true}',
    'an envelope without a result': '{"jsonrpc":"2.0","id":1}',
    'a result that is null': '{"jsonrpc":"2.0","id":1,"result":null}',
    'a result that is a text': '{"jsonrpc":"2.0","id":1,"result":"done"}',
    'a task without a state': '{"jsonrpc":"2.0","id":1,"result":{"task":{"id":"task-1"},"id":"task-1"}}',
    'a task whose id is a number': '{"jsonrpc":"2.0","id":1,"result":{"id":5,"status":{"state":"TASK_STATE_WORKING"}}}',
    'half of it': '{"jsonrpc":"2.0","id":1,"result":{"id":"task',
    'two of them': '{"jsonrpc":"2.0","id":1,"result":{}}{"jsonrpc":"2.0","id":1,"result":{}}',
    'an error that is a text': '{"jsonrpc":"2.0","id":1,"error":"no"}',
    'an error without a code': '{"jsonrpc":"2.0","id":1,"error":{}}',
  }
  for (const [shape, body] of Object.entries(shapes)) {
    faultCase(`with ${shape} gives a typed error in every call`, async ({ open, connect, signal }) => {
      const card = (exchange: Exchange): void => exchange.json(server.card)
      const other = (exchange: Exchange): void => exchange.answer(200, { 'content-type': 'application/json' }, body)
      const server = await open({ card, other })
      const agent = await connect(server)
      for (const call of Object.values(calls)) await failsWith(call(agent, signal))
    })
  }

  for (const [what, id] of [
    ['the id of another request', 9_999],
    ['no id', null],
    ['an id of another type', 'abc'],
  ] as const) {
    faultCase(`with ${what} is accepted or rejected, but not matched to another request [F-1]`, async (stage) => {
      const server = await stage.open({
        GetTask: ({ json, params }) =>
          json({ jsonrpc: '2.0', id, result: { ...taskAfter(events.length), id: params.id } }),
      })
      const agent = await stage.connect(server)
      const { signal } = stage
      const ended = await Promise.all(['a', 'b', 'c'].map((id) => endsTyped(agent.get(id, { signal }))))
      ended.forEach((answer, index) => {
        if ('id' in answer) assert.equal(answer.id, ['a', 'b', 'c'][index])
        else assert.equal(answer.code, 'INVALID_AGENT_RESPONSE')
      })
    })
  }

  faultCase('with a result and an error is an error', async ({ open, connect, signal }) => {
    const server = await open({
      GetTask: ({ json }) =>
        json({ jsonrpc: '2.0', id: 1, result: task('COMPLETED'), error: { code: -32_001, message: 'Task not found' } }),
    })
    await failsWith((await connect(server)).get(taskId, { signal }), 'TASK_NOT_FOUND')
  })

  faultCase('with an error status is still parsed [F-3]', async ({ open, connect, signal }) => {
    const server = await open({ GetTask: (exchange) => exchange.error(-32_001, 'Task not found', 500) })
    await failsWith((await connect(server)).get(taskId, { signal }), 'TASK_NOT_FOUND')
  })

  faultCase('with a hundred thousand levels of nesting neither crashes nor hangs the process', async (stage) => {
    const depth = 100_000
    const deep = `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`
    const body = `{"jsonrpc":"2.0","id":1,"result":{"id":"${taskId}","status":{"state":"TASK_STATE_COMPLETED"},"metadata":${deep}}}`
    const server = await stage.open({
      GetTask: (exchange) => exchange.answer(200, { 'content-type': 'application/json' }, body),
      SendStreamingMessage(exchange) {
        exchange.stream()
        exchange.chunk(
          `data: {"jsonrpc":"2.0","id":1,"result":{"task":{"id":"${taskId}","status":{"state":"TASK_STATE_COMPLETED"},"metadata":${deep}}}}\n\n`,
        )
        exchange.end()
      },
    })
    const agent = await stage.connect(server)
    const { signal } = stage
    const got = await endsTyped(agent.get(taskId, { signal }))
    assert.ok('status' in got ? got.status.state === 'TASK_STATE_COMPLETED' : got.code === 'INVALID_AGENT_RESPONSE')
    await endsTyped(agent.stream('go', { signal }).all())
    await endsTyped(agent.stream('go', { signal }).result())
  })

  faultCase('with invalid UTF-8 is read with replacements, or rejected', async ({ open, connect, signal }) => {
    const bad = Buffer.concat([
      Buffer.from(
        `{"jsonrpc":"2.0","id":1,"result":{"id":"${taskId}","status":{"state":"TASK_STATE_COMPLETED"},"metadata":{"x":"`,
      ),
      Buffer.from([0xff, 0xfe, 0xc3, 0x28, 0xed, 0xa0, 0x80]),
      Buffer.from('"}}}'),
    ])
    const server = await open({
      GetTask: (exchange) => exchange.answer(200, { 'content-type': 'application/json' }, bad),
    })
    const got = await endsTyped((await connect(server)).get(taskId, { signal }))
    assert.ok('status' in got ? got.status.state === 'TASK_STATE_COMPLETED' : got.code === 'INVALID_AGENT_RESPONSE')
  })

  faultCase('with another content type is still read', async ({ open, connect, signal }) => {
    for (const type of ['text/plain', 'application/octet-stream', 'text/html', 'application/a2a+json', '']) {
      const server = await open({
        GetTask: (exchange) =>
          exchange.answer(
            200,
            type === '' ? {} : { 'content-type': type },
            JSON.stringify({ jsonrpc: '2.0', id: 1, result: task('COMPLETED') }),
          ),
      })
      const got = await endsTyped((await connect(server)).get(taskId, { signal }))
      assert.ok('status' in got ? got.status.state === 'TASK_STATE_COMPLETED' : got.code === 'INVALID_AGENT_RESPONSE')
    }
  })

  faultCase('with names of object prototypes changes no object', async ({ open, connect, signal }) => {
    const body = `{"jsonrpc":"2.0","id":1,"result":{"id":"${taskId}","status":{"state":"TASK_STATE_COMPLETED"},"metadata":{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}}}`
    const server = await open({
      GetTask: (exchange) => exchange.answer(200, { 'content-type': 'application/json' }, body),
    })
    await endsTyped((await connect(server)).get(taskId, { signal }))
    assert.equal(({} as Record<string, unknown>)['polluted'], undefined)
  })
})

describe('in place of a stream,', () => {
  faultCase('one complete response is read as its only event', async ({ open, connect, signal }) => {
    const server = await open({
      SendStreamingMessage: (exchange) => exchange.result({ task: taskAfter(events.length) }),
    })
    const agent = await connect(server)
    const seen = await agent.stream('go', { signal }).all()
    assert.deepEqual(seen, [{ task: taskAfter(events.length) }])
  })

  faultCase('a running task is followed to its end [B-98]', async ({ open, connect, signal }) => {
    const server = await open({
      SendStreamingMessage: (exchange) => exchange.result({ task: taskAfter(3) }),
      SubscribeToTask(exchange) {
        exchange.stream()
        exchange.event({ task: taskAfter(5) })
        for (const event of events.slice(5)) exchange.event(event)
        exchange.end()
      },
    })
    const result = await (await connect(server)).stream('go', { signal }).result()
    assert.ok(result.kind === 'task' && result.status.state === 'TASK_STATE_COMPLETED')
    assert.equal(server.count('SendStreamingMessage'), 1)
  })

  faultCase('an error is thrown before any event [F-7]', async ({ open, connect, signal }) => {
    const server = await open({
      SendStreamingMessage: (exchange) => exchange.error(-32_005, 'No such media type', 400),
    })
    await failsWith((await connect(server)).stream('go', { signal }).all(), 'CONTENT_TYPE_NOT_SUPPORTED')
  })

  faultCase('JSON lines are rejected or read, but not lost', async ({ open, connect, signal }) => {
    const lines = events.map((event) => JSON.stringify({ jsonrpc: '2.0', id: 1, result: event })).join('\n')
    const server = await open({
      SendStreamingMessage: (exchange) => exchange.answer(200, { 'content-type': 'application/x-ndjson' }, lines),
    })
    const ended = await endsTyped((await connect(server)).stream('go', { signal }).all())
    if (Array.isArray(ended)) assert.deepEqual(ended, events)
    else assert.equal(ended.code, 'INVALID_AGENT_RESPONSE')
  })

  faultCase('events with other line ends, comments and fields are read as a stream [F-5]', async (stage) => {
    const server = await stage.open({
      SendStreamingMessage(exchange) {
        exchange.stream({ 'content-type': 'text/event-stream;charset=utf-8' })
        exchange.chunk('\ufeff: hello\r\n\r\nretry: 5\r\rfoo: bar\n\n')
        for (const event of events) {
          const [first = '', ...rest] = JSON.stringify({ jsonrpc: '2.0', id: 1, result: event }, null, 1).split('\n')
          exchange.chunk(`event: message\r\ndata:${first}\r\n${rest.map((line) => `data: ${line}\r`).join('')}\r`)
        }
        exchange.end()
      },
    })
    const agent = await stage.connect(server)
    assert.deepEqual(await agent.stream('go', { signal: stage.signal }).all(), events)
  })

  faultCase('events with invalid JSON or unknown content are rejected', async ({ open, connect, signal }) => {
    for (const data of [
      'hello',
      '{}',
      '[]',
      'null',
      '{"jsonrpc":"2.0","id":1,"result":{}}',
      '{"jsonrpc":"2.0","id":1}',
    ]) {
      const server = await open({
        SendStreamingMessage(exchange) {
          exchange.stream()
          exchange.chunk(`data: ${data}\n\n`)
          exchange.end()
        },
      })
      await failsWith((await connect(server)).stream('go', { signal }).all(), 'INVALID_AGENT_RESPONSE', 'INTERRUPTED')
    }
  })

  faultCase('events of an unknown kind are ignored [B-99]', async ({ open, connect, signal }) => {
    const server = await open({
      SendStreamingMessage(exchange) {
        exchange.stream()
        exchange.event({ task: task('SUBMITTED') })
        exchange.event({ ...statusUpdate('COMPLETED'), weatherUpdate: { rain: true } })
        exchange.end()
      },
    })
    const states = await (await connect(server)).stream('go', { signal }).states()
    assert.deepEqual(states, ['TASK_STATE_SUBMITTED', 'TASK_STATE_COMPLETED'])
  })
})
