/** Streams that are cut, at every kind of position. The end of a stream is not the end of a task (B-98). */
import assert from 'node:assert/strict'
import { describe } from 'node:test'
import type { Exchange } from './exchange.ts'
import { endsTyped, failsWith, faultCase } from './fault-case.ts'
import { contextId, events, statusUpdate, task, taskAfter, taskId, wholeText } from './sample-task.ts'

/** Ways to cut after an event, within the next one. */
const cuts: Readonly<Record<string, (exchange: Exchange) => void>> = {
  'in the middle of an event': (exchange) => {
    exchange.chunk('data: {"jsonrpc":"2.0","id":1,"result":{"statusUpd')
    exchange.end()
  },
  'in the middle of an event, and the connection with it': (exchange) => {
    exchange.chunk('data: {"jsonrpc":"2.0","id":1,"result":{"statusUpd')
    exchange.hangUp()
  },
  'in the middle of a character': (exchange) => {
    exchange.chunk(Buffer.from('data: {"jsonrpc":"2.0","id":1,"result":"Grü').subarray(0, -1))
    exchange.end()
  },
  'in the middle of a chunk': (exchange) => {
    exchange.raw('400\r\ndata: {"jsonrpc"')
    exchange.hangUp()
  },
  'in the middle of the size of a chunk': (exchange) => {
    exchange.raw('4')
    exchange.hangUp()
  },
  'between two events': (exchange) => exchange.end(),
  'between two events by hanging up': (exchange) => exchange.hangUp(),
  'between two events by a reset': (exchange) => exchange.reset(),
}

for (const binding of ['JSONRPC', 'HTTP+JSON'] as const) {
  describe(`a stream over ${binding} that is cut`, () => {
    for (const [where, cut] of Object.entries(cuts)) {
      faultCase(`${where} is resumed and ends where the task ends [B-98]`, async ({ open, connect, signal }) => {
        const server = await open(
          {
            SendStreamingMessage(exchange) {
              exchange.stream()
              for (const event of events.slice(0, 4)) exchange.event(event)
              cut(exchange)
            },
            SubscribeToTask(exchange) {
              exchange.stream()
              exchange.event({ task: taskAfter(4) })
              for (const event of events.slice(4)) exchange.event(event)
              exchange.end()
            },
          },
          { bindings: [binding] },
        )
        const agent = await connect(server)
        assert.equal(await agent.stream('go', { signal }).text(), wholeText)
        assert.equal(server.count('SendStreamingMessage'), 1, 'the message was sent twice')
      })
    }
  })
}

describe('a stream that is cut', () => {
  faultCase('without the last newline still delivers its last event [F-5]', async ({ open, connect, signal }) => {
    const server = await open({
      SendStreamingMessage(exchange) {
        exchange.stream()
        for (const event of events.slice(0, -1)) exchange.event(event)
        exchange.chunk(`data: ${JSON.stringify({ jsonrpc: '2.0', id: 1, result: events.at(-1) })}`)
        exchange.end()
      },
    })
    const result = await (await connect(server)).stream('go', { signal }).result()
    assert.ok(result.kind === 'task' && result.status.state === 'TASK_STATE_COMPLETED')
    assert.equal(server.calls.length, 1)
  })

  faultCase('is completed by reading the task if the task has ended in the meantime [B-98]', async (stage) => {
    const server = await stage.open({
      SendStreamingMessage(exchange) {
        exchange.stream()
        for (const event of events.slice(0, 5)) exchange.event(event)
        exchange.hangUp()
      },
      SubscribeToTask: (exchange) => exchange.error(-32_004, 'The task has ended', 400),
      GetTask: (exchange) => exchange.result(taskAfter(events.length)),
    })
    const agent = await stage.connect(server)
    assert.equal(await agent.stream('go', { signal: stage.signal }).text(), wholeText)
    const result = await agent.stream('go', { signal: stage.signal }).result()
    assert.ok(result.kind === 'task' && result.status.state === 'TASK_STATE_COMPLETED')
  })

  faultCase(
    'at every attempt ends with an interruption, never with success [B-98]',
    async ({ open, connect, signal }) => {
      const server = await open({
        SendStreamingMessage(exchange) {
          exchange.stream()
          for (const event of events.slice(0, 3)) exchange.event(event)
          exchange.hangUp()
        },
        SubscribeToTask: (exchange) => exchange.hangUp(),
        GetTask: (exchange) => exchange.hangUp(),
      })
      const agent = await connect(server)
      const seen: string[] = []
      const reading = (async () => {
        for await (const text of agent.stream('go', { signal }).text()) seen.push(text)
      })()
      await failsWith(reading, 'INTERRUPTED', 'UNAVAILABLE')
      assert.deepEqual(seen, ['word1 '])
      assert.ok(server.calls.length < 20, `${server.calls.length} calls`)
    },
  )

  faultCase('before its first event is an error, and the message is not sent again [B-164]', async (stage) => {
    const server = await stage.open({
      SendStreamingMessage(exchange) {
        exchange.stream()
        exchange.hangUp()
      },
    })
    const agent = await stage.connect(server)
    await failsWith(agent.stream('go', { signal: stage.signal }).all(), 'INTERRUPTED', 'UNAVAILABLE')
    assert.equal(server.count('SendStreamingMessage'), 1)
  })

  faultCase('without any event is not an empty success [B-98]', async ({ open, connect, signal }) => {
    const server = await open({
      SendStreamingMessage(exchange) {
        exchange.stream()
        exchange.end()
      },
    })
    const agent = await connect(server)
    await failsWith(agent.stream('go', { signal }).all(), 'INTERRUPTED', 'INVALID_AGENT_RESPONSE')
    await failsWith(agent.stream('go', { signal }).text(), 'INTERRUPTED', 'INVALID_AGENT_RESPONSE')
  })

  faultCase('after a question has ended: the client does not send again [B-98]', async ({ open, connect, signal }) => {
    const server = await open({
      SendStreamingMessage(exchange) {
        exchange.stream()
        exchange.event({ task: task('SUBMITTED') })
        exchange.event(statusUpdate('INPUT_REQUIRED'))
        exchange.hangUp()
      },
    })
    const result = await endsTyped((await connect(server)).stream('go', { signal }).result())
    assert.ok('kind' in result && result.kind === 'task')
    assert.equal(result.status.state, 'TASK_STATE_INPUT_REQUIRED')
    assert.equal(server.calls.length, 1)
  })

  faultCase('with an error as its last event throws that error [F-7]', async ({ open, connect, signal }) => {
    const server = await open({
      SendStreamingMessage(exchange) {
        exchange.stream()
        for (const event of events.slice(0, 3)) exchange.event(event)
        exchange.chunk(
          'data: {"jsonrpc":"2.0","id":1,"error":{"code":-32006,"message":"The agent talks nonsense"}}\n\n',
        )
        exchange.end()
      },
      SubscribeToTask: (exchange) => exchange.error(-32_006, 'The agent talks nonsense', 500),
      GetTask: (exchange) => exchange.error(-32_006, 'The agent talks nonsense', 500),
    })
    const error = await failsWith((await connect(server)).stream('go', { signal }).all(), 'INVALID_AGENT_RESPONSE')
    assert.match(error.message, /nonsense/)
  })

  faultCase('because the task is gone reports that', async ({ open, connect, signal }) => {
    const gone = (exchange: Exchange): void => exchange.error(-32_001, 'Task not found', 404)
    const server = await open({
      SendStreamingMessage(exchange) {
        exchange.stream()
        for (const event of events.slice(0, 3)) exchange.event(event)
        exchange.hangUp()
      },
      SubscribeToTask: gone,
      GetTask: gone,
    })
    await failsWith((await connect(server)).stream('go', { signal }).all(), 'TASK_NOT_FOUND', 'INTERRUPTED')
  })

  faultCase('after a direct message needs no end', async ({ open, connect, signal }) => {
    const server = await open({
      SendStreamingMessage(exchange) {
        exchange.stream()
        exchange.event({ message: { messageId: 'm', role: 'ROLE_AGENT', contextId, parts: [{ text: 'hi' }] } })
        exchange.hangUp()
      },
    })
    assert.equal(await (await connect(server)).stream('go', { signal }).text(), 'hi')
    assert.equal(server.calls.length, 1)
  })

  faultCase('while its result is awaited is resumed', async ({ open, connect, signal }) => {
    let polls = 0
    const server = await open(
      { GetTask: (exchange) => exchange.result(++polls < 4 ? taskAfter(3) : taskAfter(events.length)) },
      { card: { capabilities: { streaming: false } } },
    )
    const done = await (await connect(server)).wait(taskId, { signal })
    assert.equal(done.status.state, 'TASK_STATE_COMPLETED')
    assert.equal(polls, 4)
  })
})
