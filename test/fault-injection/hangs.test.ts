/** Connections that hang, drip or go silent: no wait exceeds its limit. */
import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { discover } from '@parley/a2a/client'
import type { Exchange } from './exchange.ts'
import { calls, shortTimeouts, shortCardTimeouts } from './client-calls.ts'
import { failsWith, faultCase, limits, neverMs } from './fault-case.ts'
import { manualTimers } from '../../packages/a2a/src/testing/fixtures/manual-timers.ts'
import { events, taskAfter } from './sample-task.ts'

type Hang = (exchange: Exchange) => void

const hangs: Readonly<Record<string, Hang>> = {
  'never answers': () => {},
  'answers with half a head': (exchange) => exchange.raw('HTTP/1.1 200 OK\r\ncontent-ty'),
  'answers with a head and no body': (exchange) =>
    exchange.head(200, { 'content-type': 'application/json', 'content-length': 100 }),
  'stops in the middle of the body': (exchange) => {
    exchange.head(200, { 'content-type': 'application/json', 'transfer-encoding': 'chunked' })
    exchange.chunk('{"jsonrpc":"2.0","id":1,"result":{')
  },
  'begins a stream and says nothing': (exchange) => exchange.stream(),
  'drips a byte at a time': (exchange) => {
    exchange.head(200, { 'content-type': 'application/json', 'transfer-encoding': 'chunked' })
    drip(exchange, () => ' ')
  },
  'drips the head': (exchange) => {
    exchange.raw('HTTP/1.1 200 OK\r\nx-slow: ')
    drip(exchange, undefined)
  },
  'continues a hundred times and never comes to it': (exchange) => {
    for (let count = 0; count < 100; count++) exchange.raw('HTTP/1.1 103 Early Hints\r\n\r\n')
  },
}

/** Collects unreachable objects; finalizers run with the next collection. */
function collectGarbage({ socket }: Exchange): void {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const timer = setInterval(collect, 20)
  socket.once('close', () => clearInterval(timer))
}

function drip(exchange: Exchange, piece: (() => string) | undefined): void {
  const timer = setInterval(() => {
    if (exchange.socket.destroyed) clearInterval(timer)
    else if (piece === undefined) exchange.raw('.')
    else exchange.chunk(piece())
  }, 20)
  exchange.socket.once('close', () => clearInterval(timer))
}

for (const [how, hang] of Object.entries(hangs)) {
  describe(`a server that ${how}`, () => {
    faultCase('times out in every call', async ({ open, connect, signal }) => {
      const card = (exchange: Exchange): void => exchange.json(server.card)
      const server = await open({ card, other: hang })
      const agent = await connect(server, { limits: shortTimeouts })
      await Promise.all(
        Object.values(calls).map((call) => failsWith(call(agent, signal), 'TIMEOUT', 'INTERRUPTED', 'UNAVAILABLE')),
      )
    })

    faultCase("is left when the caller's signal aborts, with its reason", async ({ open, connect, signal, abort }) => {
      const asked = Promise.withResolvers<void>()
      const card = (exchange: Exchange): void => exchange.json(server.card)
      let count = 0
      const other = (exchange: Exchange): void => {
        hang(exchange)
        if (++count === Object.keys(calls).length) asked.resolve()
      }
      const server = await open({ card, other })
      const agent = await connect(server, {
        limits: { attempts: 2 },
      })
      const reason = new Error('enough')
      const ended = Object.values(calls).map((call) =>
        assert.rejects(call(agent, signal), (thrown) => thrown === reason),
      )
      await asked.promise
      abort(reason)
      await Promise.all(ended)
    })

    faultCase('is not an agent if it does so with its card [B-26]', async ({ open, connect, signal }) => {
      const server = await open({ card: hang })
      await failsWith(
        connect(server, { limits: shortCardTimeouts }),
        'TIMEOUT',
        'UNAVAILABLE',
        'INVALID_AGENT_RESPONSE',
      )
      assert.equal(await discover(server.url, { signal, limits: { ...limits, ...shortCardTimeouts } }), null)
    })
  })
}

describe('a server that never responds, with a client whose garbage is collected in the meantime,', () => {
  faultCase('is still disconnected', async ({ open, connect, signal }) => {
    const card = (exchange: Exchange): void => exchange.json(server.card)
    const server = await open({ card, other: collectGarbage })
    const agent = await connect(server, { limits: shortTimeouts })
    for (const call of Object.values(calls)) await failsWith(call(agent, signal), 'TIMEOUT', 'INTERRUPTED')
  })
})

describe('an aborted signal', () => {
  faultCase('prevents any request', async ({ open, connect, signal, abort }) => {
    const server = await open({})
    const agent = await connect(server)
    const reason = new Error('before it began')
    abort(reason)
    for (const call of Object.values(calls)) await assert.rejects(call(agent, signal), (thrown) => thrown === reason)
    await assert.rejects(connect(server), (thrown) => thrown === reason)
    assert.equal(server.calls.length, 0)
  })
})

describe('a silent stream', () => {
  faultCase('is resumed on another connection after the idle timeout', async ({ open, connect, signal }) => {
    const server = await open({
      SendStreamingMessage(exchange) {
        exchange.stream()
        for (const event of events.slice(0, 4)) exchange.event(event)
      },
      SubscribeToTask(exchange) {
        exchange.stream()
        exchange.event({ task: taskAfter(4) })
        for (const event of events.slice(4)) exchange.event(event)
        exchange.end()
      },
    })
    // The second connection may seem silent too if the machine pauses.
    const agent = await connect(server, { limits: { attempts: 1_000 } })
    const result = await agent.stream('go', { signal, idleTimeoutMs: 80 }).result()
    assert.ok(result.kind === 'task' && result.status.state === 'TASK_STATE_COMPLETED')
  })

  faultCase('with heartbeats stays open [B-101]', async ({ open, connect, signal, after }) => {
    const idleTimeoutMs = 54_321
    const idle = manualTimers(idleTimeoutMs)
    after(idle.restore)
    const server = await open({
      async SendStreamingMessage(exchange) {
        exchange.stream()
        for (const event of events.slice(0, 4)) exchange.event(event)
        for (let beats = 0; beats < 5; beats += 1) {
          const beat = idle.nextSet()
          exchange.chunk(': still here\n\n')
          await beat
          idle.pass(idleTimeoutMs - 1)
        }
        for (const event of events.slice(4)) exchange.event(event)
        exchange.end()
      },
    })
    const agent = await connect(server)
    assert.deepEqual(await agent.stream('go', { signal, idleTimeoutMs }).all(), events)
    assert.equal(server.calls.length, 1)
  })

  faultCase('with single bytes now and then is ended by its deadline', async ({ open, connect, signal }) => {
    const server = await open({
      SendStreamingMessage(exchange) {
        exchange.stream()
        for (const event of events.slice(0, 4)) exchange.event(event)
        drip(exchange, () => 'd')
      },
    })
    const agent = await connect(server)
    await failsWith(agent.stream('go', { signal, idleTimeoutMs: neverMs, timeoutMs: 800 }).all(), 'TIMEOUT')
    assert.equal(server.calls.length, 1)
  })

  faultCase('is not a failure if the reader itself is slow', async ({ open, connect, signal, after }) => {
    const idleTimeoutMs = 65_432
    const idle = manualTimers(idleTimeoutMs)
    after(idle.restore)
    const server = await open({
      SendStreamingMessage(exchange) {
        exchange.stream()
        for (const event of events) exchange.event(event)
        exchange.end()
      },
    })
    const agent = await connect(server)
    let count = 0
    for await (const _ of agent.stream('go', { signal, idleTimeoutMs })) {
      count += 1
      idle.pass(2 * idleTimeoutMs)
      await new Promise((resolve) => setImmediate(resolve))
    }
    assert.equal(count, events.length)
    assert.equal(server.calls.length, 1)
  })
})
