/** Busy servers, with valid and invalid Retry-After headers. */
import assert from 'node:assert/strict'
import { describe } from 'node:test'
import type { Exchange } from './exchange.ts'
import { failsWith, faultCase } from './fault-case.ts'
import type { ExchangeHandler } from './faulty-server.ts'
import { events, taskAfter, taskId } from './sample-task.ts'

const busy = (exchange: Exchange, status: number, retryAfter?: string): void =>
  exchange.answer(
    status,
    { 'content-type': 'text/plain', ...(retryAfter !== undefined ? { 'retry-after': retryAfter } : {}) },
    'busy',
  )

/** Busy this often, then successful. */
function atFirst(times: number, refuse: ExchangeHandler, answer: ExchangeHandler): ExchangeHandler {
  let count = 0
  return (exchange) => (++count <= times ? refuse(exchange) : answer(exchange))
}

const finished: ExchangeHandler = (exchange) => exchange.result({ task: taskAfter(events.length) })
const streamed: ExchangeHandler = (exchange) => {
  exchange.stream()
  for (const event of events) exchange.event(event)
  exchange.end()
}

describe('a busy server', () => {
  for (const status of [429, 503]) {
    faultCase(`that answers ${status} gets the same message again, under the same id [B-164]`, async (stage) => {
      const server = await stage.open({
        SendMessage: atFirst(2, (exchange) => busy(exchange, status, '0'), finished),
        GetTask: atFirst(
          2,
          (exchange) => busy(exchange, status, '0'),
          (exchange) => exchange.result(taskAfter(99)),
        ),
      })
      const agent = await stage.connect(server)
      const answer = await agent.send('go', { signal: stage.signal })
      assert.equal(answer.kind, 'task')
      await agent.get(taskId, { signal: stage.signal })
      const sent = server.calls.filter(({ operation }) => operation === 'SendMessage')
      assert.equal(sent.length, 3)
      assert.equal(new Set(sent.map(({ params }) => params.message.messageId)).size, 1)
      assert.equal(new Set(sent.map(({ headers }) => headers['idempotency-key'])).size, 1)
    })

    faultCase(`that answers ${status} at the start of a stream is retried [B-164]`, async (stage) => {
      const server = await stage.open({
        SendStreamingMessage: atFirst(2, (exchange) => busy(exchange, status, '0'), streamed),
      })
      const agent = await stage.connect(server)
      assert.deepEqual(await agent.stream('go', { signal: stage.signal }).all(), events)
      assert.equal(new Set(server.calls.map(({ params }) => params.message.messageId)).size, 1)
    })

    faultCase(
      `that always answers ${status} is left after the maximum number of attempts`,
      async ({ open, connect, signal }) => {
        const card = (exchange: Exchange): void => exchange.json(server.card)
        const server = await open({ card, other: (exchange) => busy(exchange, status) })
        const agent = await connect(server)
        await failsWith(agent.get(taskId, { signal }), status === 429 ? 'RATE_LIMITED' : 'UNAVAILABLE')
        assert.equal(server.calls.length, 3)
      },
    )
  }

  faultCase('with a Retry-After of one second is retried after it', async ({ open, connect, signal }) => {
    const server = await open({
      GetTask: atFirst(
        1,
        (exchange) => busy(exchange, 503, '1'),
        (exchange) => exchange.result(taskAfter(99)),
      ),
    })
    const agent = await connect(server, { limits: { maxDelayMs: 5_000 } })
    const startedAt = performance.now()
    await agent.get(taskId, { signal })
    assert.ok(performance.now() - startedAt >= 990, 'it did not wait')
  })

  faultCase('with a Retry-After date is retried after it', async ({ open, connect, signal }) => {
    // HTTP dates have whole seconds.
    const date = new Date(Date.now() + 1_500).toUTCString()
    const server = await open({
      GetTask: atFirst(
        1,
        (exchange) => busy(exchange, 503, date),
        (exchange) => exchange.result(taskAfter(99)),
      ),
    })
    const agent = await connect(server, { limits: { maxDelayMs: 5_000 } })
    await agent.get(taskId, { signal })
    assert.ok(Date.now() >= Date.parse(date), 'it did not wait')
  })

  for (const retryAfter of ['86400', '99999999999999999999', new Date(Date.now() + 1e10).toUTCString(), '1e308']) {
    faultCase(`with a very long Retry-After (${retryAfter}) is not waited for beyond the deadline`, async (stage) => {
      const card = (exchange: Exchange): void => exchange.json(server.card)
      const server = await stage.open({ card, other: (exchange) => busy(exchange, 503, retryAfter) })
      const agent = await stage.connect(server)
      const { signal } = stage
      await failsWith(agent.get(taskId, { signal, timeoutMs: 300 }), 'UNAVAILABLE', 'TIMEOUT')
      await failsWith(agent.send('go', { signal, timeoutMs: 300 }), 'UNAVAILABLE', 'TIMEOUT')
      await failsWith(agent.stream('go', { signal, timeoutMs: 300 }).all(), 'UNAVAILABLE', 'TIMEOUT')
    })
  }

  for (const retryAfter of ['-5', 'soon', '', 'Invalid Date', 'NaN']) {
    faultCase(`with an invalid Retry-After ("${retryAfter}") is retried after the default pause`, async (stage) => {
      const server = await stage.open({
        GetTask: atFirst(
          1,
          (exchange) => busy(exchange, 503, retryAfter),
          (exchange) => exchange.result(taskAfter(99)),
        ),
      })
      const agent = await stage.connect(server)
      assert.equal((await agent.get(taskId, { signal: stage.signal })).status.state, 'TASK_STATE_COMPLETED')
    })
  }

  faultCase('that has no card is retried, or is an error', async ({ open, connect }) => {
    const server = await open({ card: (exchange) => busy(exchange, 503, '86400') })
    await failsWith(connect(server), 'UNAVAILABLE')
  })

  faultCase("is left at once when the caller's signal aborts", async ({ open, connect, signal, abort }) => {
    const asked = Promise.withResolvers<void>()
    const server = await open({
      GetTask(exchange) {
        busy(exchange, 503, '4')
        asked.resolve()
      },
    })
    const agent = await connect(server, { limits: { maxDelayMs: 5_000 } })
    const reason = new Error('enough')
    const ended = assert.rejects(agent.get(taskId, { signal }), (thrown) => thrown === reason)
    await asked.promise
    abort(reason)
    await ended
  })
})

describe('a failing server', () => {
  faultCase('with status 500 may have done the work: the message is not sent again [B-164]', async (stage) => {
    const card = (exchange: Exchange): void => exchange.json(server.card)
    const server = await stage.open({ card, other: (exchange) => exchange.error(-32_603, 'Internal error', 500) })
    const agent = await stage.connect(server)
    await failsWith(agent.send('go', { signal: stage.signal }), 'INTERNAL')
    assert.equal(server.calls.length, 1)
  })

  faultCase(
    'with status 502 from a gateway may have done the work: the message is not sent again [B-164]',
    async (stage) => {
      const card = (exchange: Exchange): void => exchange.json(server.card)
      const server = await stage.open({ card, other: (exchange) => exchange.answer(502, {}, 'Bad gateway') })
      const agent = await stage.connect(server)
      await failsWith(agent.send('go', { signal: stage.signal }), 'UNAVAILABLE')
      assert.equal(server.count('SendMessage'), 1)
      await failsWith(agent.get(taskId, { signal: stage.signal }), 'UNAVAILABLE')
      assert.equal(server.count('GetTask'), 3)
    },
  )

  faultCase('with status 401 is retried once', async ({ open, connect, signal }) => {
    const server = await open((exchange) => {
      if (exchange.operation === 'card') return exchange.json(server.card)
      exchange.answer(401, { 'www-authenticate': 'Bearer' }, 'who are you')
    })
    let count = 0
    const agent = await connect(server, { bearer: () => `token-${++count}` })
    await failsWith(agent.get(taskId, { signal }), 'UNAUTHENTICATED')
    assert.ok(server.calls.length <= 2, `${server.calls.length} times`)
  })

  faultCase('with one 401 is retried with new credentials [B-152]', async ({ open, connect, signal }) => {
    const server = await open((exchange) => {
      if (exchange.operation === 'card') return exchange.json(server.card)
      if (exchange.headers['authorization'] === 'Bearer new') return exchange.result(taskAfter(99))
      exchange.answer(401, { 'www-authenticate': 'Bearer' }, 'who are you')
    })
    let token = 'old'
    const agent = await connect(server, {
      bearer: () => {
        const given = token
        if (server.calls.length > 0) token = 'new'
        return server.calls.length > 0 ? token : given
      },
    })
    assert.equal((await agent.get(taskId, { signal })).status.state, 'TASK_STATE_COMPLETED')
    assert.equal(server.calls.length, 2)
  })
})
