/** Connections that hang, drip, break or were never what they seemed. */
import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'
import { describe } from 'node:test'
import { discover } from '@parley/a2a/client'
import type { RemoteAgent } from '@parley/a2a/client'
import type { Exchange } from './exchange.ts'
import { endsTyped, failsWith, hostile, limits } from './case.ts'
import { openHostile } from './server.ts'
import { events, task, taskAfter, taskId } from './story.ts'

const quick = { timeoutMs: 150, answerTimeoutMs: 150, cardTimeoutMs: 150, idleTimeoutMs: 100, attempts: 2 } as const

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

function drip(exchange: Exchange, piece: (() => string) | undefined): void {
  const timer = setInterval(() => {
    if (exchange.socket.destroyed) clearInterval(timer)
    else if (piece === undefined) exchange.raw('.')
    else exchange.chunk(piece())
  }, 20)
  exchange.socket.once('close', () => clearInterval(timer))
}

const calls: Readonly<Record<string, (agent: RemoteAgent, signal: AbortSignal) => Promise<unknown>>> = {
  send: (agent, signal) => agent.send('go', { signal }),
  get: (agent, signal) => agent.get(taskId, { signal }),
  cancel: (agent, signal) => agent.cancel(taskId, { signal }),
  stream: (agent, signal) => agent.stream('go', { signal }).all(),
  subscribe: (agent, signal) => agent.subscribe(taskId, { signal }).all(),
}

for (const [how, hang] of Object.entries(hangs)) {
  describe(`a server that ${how}`, () => {
    hostile('is given up in time by every call', async ({ open, connect, signal }) => {
      const card = (exchange: Exchange): void => exchange.json(server.card)
      const server = await open({ card, other: hang })
      const agent = await connect(server, { limits: quick })
      await Promise.all(
        Object.values(calls).map((call) => failsWith(call(agent, signal), 'TIMEOUT', 'INTERRUPTED', 'UNAVAILABLE')),
      )
    })

    hostile("ends with the caller's signal and its reason", async ({ open, connect, signal, abort }) => {
      const asked = Promise.withResolvers<void>()
      const card = (exchange: Exchange): void => exchange.json(server.card)
      let count = 0
      const other = (exchange: Exchange): void => {
        hang(exchange)
        if (++count === Object.keys(calls).length) asked.resolve()
      }
      const server = await open({ card, other })
      const agent = await connect(server, {
        limits: { ...quick, timeoutMs: 5_000, answerTimeoutMs: 5_000, idleTimeoutMs: 5_000 },
      })
      const reason = new Error('enough')
      const ended = Object.values(calls).map((call) =>
        assert.rejects(call(agent, signal), (thrown) => thrown === reason),
      )
      await asked.promise
      abort(reason)
      await Promise.all(ended)
    })

    hostile('is no agent when it does so with its card [B-26]', async ({ open, connect, signal }) => {
      const server = await open({ card: hang })
      await failsWith(connect(server, { limits: quick }), 'TIMEOUT', 'UNAVAILABLE', 'INVALID_AGENT_RESPONSE')
      assert.equal(await discover(server.url, { signal, limits: { ...limits, ...quick } }), null)
    })
  })
}

describe('a signal that is aborted already', () => {
  hostile('sends nothing', async ({ open, connect, signal, abort }) => {
    const server = await open({})
    const agent = await connect(server)
    const reason = new Error('before it began')
    abort(reason)
    for (const call of Object.values(calls)) await assert.rejects(call(agent, signal), (thrown) => thrown === reason)
    await assert.rejects(connect(server), (thrown) => thrown === reason)
    assert.equal(server.calls.length, 0)
  })
})

describe('a stream that is silent', () => {
  hostile('for too long is taken up on another connection', async ({ open, connect, signal }) => {
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
    const agent = await connect(server)
    const result = await agent.stream('go', { signal, idleTimeoutMs: 80 }).result()
    assert.ok(result.kind === 'task' && result.status.state === 'TASK_STATE_COMPLETED')
  })

  hostile('but for its heartbeats is left alone [B-101]', async ({ open, connect, signal }) => {
    const server = await open({
      SendStreamingMessage(exchange) {
        exchange.stream()
        for (const event of events.slice(0, 4)) exchange.event(event)
        let beats = 0
        const timer = setInterval(() => {
          if (++beats < 10 && !exchange.socket.destroyed) return exchange.chunk(': still here\n\n')
          clearInterval(timer)
          for (const event of events.slice(4)) exchange.event(event)
          exchange.end()
        }, 25)
      },
    })
    const agent = await connect(server)
    assert.deepEqual(await agent.stream('go', { signal, idleTimeoutMs: 120 }).all(), events)
    assert.equal(server.calls.length, 1)
  })

  hostile('is not held against a reader who is slow himself', async ({ open, connect, signal }) => {
    const server = await open({
      SendStreamingMessage(exchange) {
        exchange.stream()
        for (const event of events) exchange.event(event)
        exchange.end()
      },
    })
    const agent = await connect(server)
    let count = 0
    for await (const _ of agent.stream('go', { signal, idleTimeoutMs: 60 })) {
      count += 1
      if (count < 4) await new Promise((resolve) => setTimeout(resolve, 80))
    }
    assert.equal(count, events.length)
    assert.equal(server.calls.length, 1)
  })
})

describe('a connection that is reset', () => {
  const resets: Readonly<Record<string, Hang>> = {
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
    hostile(`${when}, once, does not trouble a reading call`, async ({ open, connect, signal }) => {
      let count = 0
      const server = await open({
        GetTask: (exchange) => (++count === 1 ? reset(exchange) : exchange.result(taskAfter(events.length))),
      })
      const got = await (await connect(server)).get(taskId, { signal })
      assert.equal(got.status.state, 'TASK_STATE_COMPLETED')
      assert.equal(count, 2)
    })

    hostile(`${when}, always, is an error for every call, and no message goes out twice [B-164]`, async (stage) => {
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

describe('an answer whose chunks', () => {
  const broken: Readonly<Record<string, string>> = {
    'have no size': 'hello\r\n',
    'have a negative size': '-5\r\nhello\r\n0\r\n\r\n',
    'have a size beyond all numbers': 'ffffffffffffffffffff\r\nhello',
    'are larger than they say': '2\r\n{"jsonrpc":"2.0"}\r\n0\r\n\r\n',
  }
  for (const [how, bytes] of Object.entries(broken)) {
    hostile(`${how} is refused`, async ({ open, connect, signal }) => {
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
      const agent = await connect(server, { limits: quick })
      for (const call of Object.values(calls)) {
        await failsWith(call(agent, signal), 'UNAVAILABLE', 'INTERRUPTED', 'INVALID_AGENT_RESPONSE', 'TIMEOUT')
      }
    })
  }
})

describe('a server that keeps connections', () => {
  hostile('and closes them between two requests is asked again on a new one', async ({ open, connect, signal }) => {
    const server = await open({ GetTask: (exchange) => exchange.result(taskAfter(events.length)) })
    const agent = await connect(server)
    for (let count = 0; count < 5; count++) {
      await agent.get(taskId, { signal })
      for (const { socket } of server.calls) socket.destroy()
    }
    assert.ok(server.connections >= 5)
  })

  hostile('and closes one just when the next request comes is asked again', async ({ open, connect, signal }) => {
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
  })

  hostile('and is restarted between two requests is found again', async ({ open, connect, signal, after }) => {
    const answers = { GetTask: (exchange: Exchange) => exchange.result(taskAfter(events.length)) }
    const first = await open(answers)
    const agent = await connect(first)
    await agent.get(taskId, { signal })
    await first.close()
    await failsWith(agent.get(taskId, { signal }), 'UNAVAILABLE')
    const second = await openHostile(answers, { port: first.port })
    after(() => second.close())
    assert.equal((await agent.get(taskId, { signal })).status.state, 'TASK_STATE_COMPLETED')
    assert.equal(second.calls.length, 1)
  })

  hostile('and is restarted in the middle of a stream is followed further', async (stage) => {
    const { signal } = stage
    const first = await stage.open({
      SendStreamingMessage(exchange) {
        exchange.stream()
        events.slice(0, 5).forEach((event, index) => exchange.event(event, `e${index}`))
      },
    })
    const agent = await stage.connect(first, { limits: { attempts: 10, firstDelayMs: 20, maxDelayMs: 100 } })
    const seen: unknown[] = []
    for await (const event of agent.stream('go', { signal })) {
      if (seen.push(event) !== 5) continue
      await first.close()
      setTimeout(() => {
        void openHostile(
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

describe('a port', () => {
  async function listen(take: (socket: Socket) => void): Promise<{ port: number; close(): Promise<unknown> }> {
    const sockets = new Set<Socket>()
    const server: Server = createServer((socket) => {
      sockets.add(socket)
      socket.on('error', () => {}).once('close', () => sockets.delete(socket))
      take(socket)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return {
      port: (server.address() as AddressInfo).port,
      close() {
        for (const socket of sockets) socket.destroy()
        return new Promise((resolve) => server.close(resolve))
      },
    }
  }

  const ports: Readonly<Record<string, (socket: Socket) => void>> = {
    'that never says a word': () => {},
    'that speaks plain HTTP': (socket) => void socket.end('HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n'),
    'that speaks another protocol': (socket) => void socket.write('220 mail.example.com ESMTP\r\n'),
    'that hangs up at once': (socket) => void socket.resetAndDestroy(),
  }
  for (const [what, take] of Object.entries(ports)) {
    for (const scheme of ['https', 'http']) {
      if (scheme === 'http' && what.includes('HTTP')) continue
      hostile(`${what} is no agent for ${scheme} either`, async ({ connect, after, signal }) => {
        const { port, close } = await listen(take)
        after(close)
        const url = `${scheme}://127.0.0.1:${port}`
        await failsWith(connect(url, { limits: quick }), 'UNAVAILABLE', 'TIMEOUT')
        assert.equal(await discover(url, { signal, limits: { ...limits, ...quick } }), null)
      })
    }
  }

  hostile('where nobody listens is an error at once', async ({ connect, open }) => {
    const gone = await open({})
    await gone.close()
    const error = await failsWith(connect(gone.url), 'UNAVAILABLE')
    assert.equal(error.details['reason'], 'NETWORK')
  })

  hostile('that answers to nobody it was not asked by: extra answers are not taken for ours', async (stage) => {
    const server = await stage.open({
      GetTask(exchange) {
        exchange.result({ ...task('COMPLETED'), id: exchange.params.id })
        // A second answer on the same connection, before anybody asked.
        exchange.raw('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}')
      },
    })
    const agent = await stage.connect(server)
    for (const id of ['a', 'b', 'c']) {
      const got = await endsTyped(agent.get(id, { signal: stage.signal }))
      assert.ok('status' in got ? got.id === id : got.retryable)
    }
  })
})
