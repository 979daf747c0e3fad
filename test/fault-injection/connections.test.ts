/** Connections that break, or end between two requests. */
import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { describe } from 'node:test'
import { freePort } from '../free-port.ts'
import { calls, shortTimeouts } from './client-calls.ts'
import { failsWith, faultCase } from './fault-case.ts'
import type { Exchange } from './exchange.ts'
import { openFaultyServer } from './faulty-server.ts'
import { events, taskAfter, taskId } from './sample-task.ts'

describe('a connection reset', () => {
  const resets: Readonly<Record<string, (exchange: Exchange) => void>> = {
    'before the head': (exchange) => exchange.reset(),
    'in the head': (exchange) => {
      exchange.raw('HTTP/1.1 200 O')
      exchange.reset()
    },
    'after the head': (exchange) => {
      exchange.head(200, { 'content-type': 'application/json', 'content-length': 100 })
      exchange.reset()
    },
    'in the body': (exchange) => {
      exchange.head(200, { 'content-type': 'application/json', 'transfer-encoding': 'chunked' })
      exchange.chunk('{"jsonrpc":')
      exchange.reset()
    },
    'by closing before the head': (exchange) => exchange.hangUp(),
    'by closing in the body': (exchange) => {
      exchange.head(200, { 'content-type': 'application/json', 'content-length': 100 })
      exchange.raw('{"jsonrpc":')
      exchange.hangUp()
    },
  }
  for (const [when, reset] of Object.entries(resets)) {
    faultCase(`${when}, once, does not fail a read`, async ({ open, connect, signal }) => {
      let count = 0
      const server = await open({
        GetTask: (exchange) => (++count === 1 ? reset(exchange) : exchange.result(taskAfter(events.length))),
      })
      const got = await (await connect(server)).get(taskId, { signal })
      assert.equal(got.status.state, 'TASK_STATE_COMPLETED')
      assert.equal(count, 2)
    })

    faultCase(`${when}, always, fails every call, and no message is sent twice [B-164]`, async (stage) => {
      const card = (exchange: Exchange): void => exchange.json(server.card)
      const server = await stage.open({ card, other: reset })
      const agent = await stage.connect(server)
      for (const call of Object.values(calls)) {
        await failsWith(call(agent, stage.signal), 'UNAVAILABLE', 'INTERRUPTED')
      }
      assert.equal(server.count('SendMessage'), 1)
      assert.equal(server.count('SendStreamingMessage'), 1)
      assert.equal(server.count('CancelTask'), 1)
    })
  }
})

describe('a response whose chunks', () => {
  const broken: Readonly<Record<string, string>> = {
    'have no size': 'hello\r\n',
    'have a negative size': '-5\r\nhello\r\n0\r\n\r\n',
    'have a size beyond all numbers': 'ffffffffffffffffffff\r\nhello',
    'are larger than they say': '2\r\n{"jsonrpc":"2.0"}\r\n0\r\n\r\n',
  }
  for (const [how, bytes] of Object.entries(broken)) {
    faultCase(`${how} is rejected`, async ({ open, connect, signal }) => {
      const bad = (type: string) => (exchange: Exchange) => {
        exchange.head(200, { 'content-type': type, 'transfer-encoding': 'chunked' })
        exchange.raw(bytes)
      }
      const card = (exchange: Exchange): void => exchange.json(server.card)
      const server = await open({
        card,
        other: bad('application/json'),
        SendStreamingMessage: bad('text/event-stream'),
        SubscribeToTask: bad('text/event-stream'),
      })
      const agent = await connect(server, { limits: shortTimeouts })
      for (const call of Object.values(calls)) {
        await failsWith(call(agent, signal), 'UNAVAILABLE', 'INTERRUPTED', 'INVALID_AGENT_RESPONSE', 'TIMEOUT')
      }
    })
  }
})

describe('a server with persistent connections', () => {
  faultCase(
    'that closes them between two requests gets the request on a new one',
    async ({ open, connect, signal }) => {
      const server = await open({ GetTask: (exchange) => exchange.result(taskAfter(events.length)) })
      const agent = await connect(server)
      for (let count = 0; count < 5; count++) {
        await agent.get(taskId, { signal })
        for (const { socket } of server.calls) socket.destroy()
      }
      assert.ok(server.connections >= 5)
    },
  )

  faultCase(
    'that closes one when the next request arrives gets the request again',
    async ({ open, connect, signal }) => {
      const used = new Set<Socket>()
      const server = await open({
        GetTask(exchange) {
          if (used.has(exchange.socket)) return exchange.reset()
          used.add(exchange.socket)
          exchange.result(taskAfter(events.length))
        },
      })
      const agent = await connect(server)
      for (let count = 0; count < 4; count++) {
        assert.equal((await agent.get(taskId, { signal })).status.state, 'TASK_STATE_COMPLETED')
      }
    },
  )

  faultCase('that restarts between two requests is reconnected to', async ({ open, connect, signal, after }) => {
    const answers = { GetTask: (exchange: Exchange) => exchange.result(taskAfter(events.length)) }
    const first = await open(answers, { port: await freePort() })
    const agent = await connect(first)
    await agent.get(taskId, { signal })
    await first.close()
    await failsWith(agent.get(taskId, { signal }), 'UNAVAILABLE')
    const second = await openFaultyServer(answers, { port: first.port })
    after(() => second.close())
    assert.equal((await agent.get(taskId, { signal })).status.state, 'TASK_STATE_COMPLETED')
    assert.equal(second.calls.length, 1)
  })

  faultCase('that restarts during a stream is followed further', async (stage) => {
    const { signal } = stage
    const answers = {
      SendStreamingMessage(exchange: Exchange) {
        exchange.stream()
        events.slice(0, 5).forEach((event, index) => exchange.event(event, `e${index}`))
      },
    }
    const first = await stage.open(answers, { port: await freePort() })
    // More attempts than a slow restart needs.
    const agent = await stage.connect(first, { limits: { attempts: 1_000, firstDelayMs: 20, maxDelayMs: 100 } })
    const seen: unknown[] = []
    for await (const event of agent.stream('go', { signal })) {
      if (seen.push(event) !== 5) continue
      await first.close()
      setTimeout(() => {
        void openFaultyServer(
          {
            SubscribeToTask(exchange) {
              exchange.stream()
              const from = Number(exchange.headers['last-event-id']?.slice(1)) + 1
              events.slice(from).forEach((event, index) => exchange.event(event, `e${from + index}`))
              exchange.end()
            },
          },
          { port: first.port },
        ).then((second) => stage.after(() => second.close()))
      }, 60)
    }
    assert.deepEqual(seen, events)
  })
})
