/** Cards that are missing, invalid or wrong. */
import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { discover } from '@parley/a2a/client'
import type { Exchange } from './exchange.ts'
import { endsTyped, failsWith, faultCase, limits } from './fault-case.ts'
import { cardOf } from './faulty-server.ts'
import { contextId, events, task, taskAfter, taskId, wholeText } from './sample-task.ts'

/** The response of a 0.3 server to a send. */
const oldTask = { kind: 'task', id: taskId, contextId, status: { state: 'completed' } }

describe('a card', () => {
  const page = '<html><h1>Sign in</h1></html>'
  for (const status of [200, 401, 403, 404, 500, 502, 503]) {
    faultCase(`that is an HTML page with status ${status} is an error [B-26]`, async ({ open, connect, signal }) => {
      const server = await open((exchange) => exchange.answer(status, { 'content-type': 'text/html' }, page))
      const codes: Readonly<Record<number, string>> = {
        401: 'UNAUTHENTICATED',
        403: 'PERMISSION_DENIED',
        404: 'CARD_NOT_FOUND',
      }
      await failsWith(connect(server), codes[status] ?? (status === 200 ? 'INVALID_AGENT_RESPONSE' : 'UNAVAILABLE'))
      assert.equal(await discover(server.url, { signal, limits }), null)
      assert.ok(server.connections < 20)
    })
  }

  const broken: Readonly<Record<string, string>> = {
    'is cut off': '{"name":"Hostile"',
    'is a list': '[]',
    'is null': 'null',
    'is a text': '"card"',
    'is empty': '',
    'is an empty object': '{}',
    'lists interfaces that are none': JSON.stringify(cardOf([null, 1, 'x'] as never)),
    'lists interfaces as a text': JSON.stringify(cardOf('x' as never)),
    'nests too deep': `{"name":${'['.repeat(50_000)}${']'.repeat(50_000)}}`,
  }
  for (const [how, body] of Object.entries(broken)) {
    faultCase(`that ${how} is rejected [B-26]`, async ({ open, connect, signal }) => {
      const server = await open((exchange) => exchange.answer(200, { 'content-type': 'application/json' }, body))
      await failsWith(connect(server), 'INVALID_AGENT_RESPONSE', 'VERSION_NOT_SUPPORTED')
      assert.equal(await discover(server.url, { signal, limits }), null)
    })
  }

  faultCase('without interfaces is an error in every call [B-26 S0-4]', async ({ open, connect, signal }) => {
    const server = await open((exchange) => exchange.json(cardOf([])))
    const agent = await connect(server)
    await failsWith(agent.ask('hi', { signal }), 'INVALID_AGENT_RESPONSE')
  })

  for (const field of ['name', 'version']) {
    faultCase(`without ${field} is rejected with the name of the field [B-26]`, async ({ open, connect }) => {
      const { [field]: _, ...rest } = cardOf([
        { url: 'http://127.0.0.1:1', protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
      ]) as Record<string, unknown>
      const server = await open((exchange) => exchange.json(rest))
      const error = await failsWith(connect(server), 'INVALID_AGENT_RESPONSE')
      assert.deepEqual(
        error.details.violations?.map((violation) => violation.field),
        [field],
      )
    })
  }

  for (const [what, url] of [
    ['a file', 'file:///etc/passwd'],
    ['a script', 'javascript:alert(1)'],
    ['a name with a password', 'http://user:secret@127.0.0.1:1/'],
    ['an empty address', ''],
    ['an invalid address', 'http://'],
  ] as const) {
    faultCase(`that names ${what} is not followed`, async ({ open, connect, signal }) => {
      const server = await open((exchange) =>
        exchange.json(cardOf([{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }])),
      )
      const ended = await endsTyped(connect(server).then((agent) => agent.get(taskId, { signal })))
      assert.ok('code' in ended, 'it went there')
      assert.equal(server.calls.length, 0)
    })
  }

  faultCase('without a supported interface gives an error that lists what it offers', async ({ open, connect }) => {
    const server = await open((exchange) =>
      exchange.json(
        cardOf([
          { url: 'http://127.0.0.1:1', protocolBinding: 'JSONRPC', protocolVersion: '9.0' },
          { url: 'http://127.0.0.1:1', protocolBinding: 'https://example.com/pigeon', protocolVersion: '1.0' },
        ]),
      ),
    )
    const error = await failsWith(connect(server), 'VERSION_NOT_SUPPORTED')
    assert.match(error.message, /9\.0/)
  })

  faultCase('is read from the path of 0.2 if the path of 1.0 has none [B-14 B-28]', async ({ open, connect }) => {
    const server = await open((exchange) => {
      if (exchange.path.endsWith('/agent.json')) exchange.json(server.card)
      else exchange.answer(404, {}, 'no such file')
    })
    assert.equal((await connect(server)).card.name, 'Hostile')
  })

  faultCase('is cached for its max-age and then revalidated with its ETag [B-22]', async ({ open, connect }) => {
    const server = await open((exchange) => {
      if (exchange.headers['if-none-match'] === '"v1"') return exchange.answer(304, { etag: '"v1"' }, '')
      const control = server.cards.length === 1 ? 'max-age=60' : 'no-cache'
      exchange.json(server.card, 200, { etag: '"v1"', 'cache-control': control })
    })
    await connect(server)
    await connect(server)
    assert.equal(server.cards.length, 1)
  })

  faultCase('with no-cache is revalidated with its ETag [B-22]', async ({ open, connect }) => {
    const server = await open((exchange) => {
      if (exchange.headers['if-none-match'] === '"v1"') return exchange.answer(304, { etag: '"v1"' }, '')
      exchange.json(server.card, 200, { etag: '"v1"', 'cache-control': 'no-cache' })
    })
    await connect(server)
    const agent = await connect(server)
    assert.equal(agent.card.name, 'Hostile')
    assert.deepEqual(
      server.cards.map(({ headers }) => headers['if-none-match']),
      [undefined, '"v1"'],
    )
  })

  faultCase('with status 304 for a request without a cached card is an error', async ({ open, connect }) => {
    const server = await open((exchange) => exchange.answer(304, {}, ''))
    await failsWith(connect(server))
  })
})

describe('a wrong card', () => {
  const finished = { SendMessage: (exchange: Exchange) => exchange.result({ task: taskAfter(events.length) }) }

  faultCase('about its version, with 0.3 methods and results, is handled with a warning', async (stage) => {
    const server = await stage.open((exchange) => {
      if (exchange.operation === 'card') return exchange.json(server.card)
      if ((exchange.operation as string) === 'message/send') return exchange.result(oldTask)
      exchange.error(-32_601, 'Method not found')
    })
    const agent = await stage.connect(server)
    const answer = await agent.send('go', { signal: stage.signal })
    assert.ok(answer.kind === 'task' && answer.status.state === 'TASK_STATE_COMPLETED')
    assert.equal(agent.interface.version, '0.3')
    assert.match(stage.warnings.join('\n'), /1\.0.*0\.3/s)
  })

  faultCase(
    'about its version, with a pinned version, is an error that names the cause [B-9]',
    async ({ open, connect, signal }) => {
      const server = await open((exchange) => {
        if (exchange.operation === 'card') return exchange.json(server.card)
        if ((exchange.operation as string) === 'message/send') return exchange.result(oldTask)
        exchange.error(-32_601, 'Method not found')
      })
      const agent = await connect(server, { version: '1.0' })
      const error = await failsWith(agent.send('go', { signal }), 'VERSION_NOT_SUPPORTED')
      assert.match(error.message, /1\.0/)
      assert.equal(server.calls.length, 1)
    },
  )

  faultCase('about its version, with 0.3 results to 1.0 requests, is handled with a warning', async (stage) => {
    const server = await stage.open({ SendMessage: (exchange) => exchange.result(oldTask) })
    const agent = await stage.connect(server)
    const answer = await agent.send('go', { signal: stage.signal })
    assert.ok(answer.kind === 'task' && answer.status.state === 'TASK_STATE_COMPLETED')
    assert.match(stage.warnings.join('\n'), /0\.3/)
    assert.equal(server.calls.length, 1, 'the message was sent twice')
  })

  faultCase('about its version, with 1.0 methods where it declares 0.3, is handled with a warning', async (stage) => {
    const server = await stage.open((exchange) => {
      if (exchange.operation === 'card') return exchange.json({ ...oldCard(server.url) })
      if (exchange.operation === 'SendMessage') return exchange.result({ task: taskAfter(events.length) })
      exchange.error(-32_601, 'Method not found')
    })
    const agent = await stage.connect(server)
    assert.equal(agent.interface.version, '0.3')
    const answer = await agent.send('go', { signal: stage.signal })
    assert.ok(answer.kind === 'task' && answer.status.state === 'TASK_STATE_COMPLETED')
    assert.equal(agent.interface.version, '1.0')
    assert.ok(stage.warnings.length > 0)
  })

  for (const [what, refuse] of [
    ['refuses', (exchange: Exchange) => exchange.error(-32_004, 'I do not stream', 400)],
    ['does not know the method', (exchange: Exchange) => exchange.error(-32_601, 'Method not found', 404)],
  ] as const) {
    faultCase(
      `about streaming, where the server ${what}, is answered without a stream or with that error`,
      async (stage) => {
        const server = await stage.open({
          ...finished,
          SendStreamingMessage: refuse,
          SubscribeToTask: refuse,
          GetTask: (exchange) => exchange.result(taskAfter(events.length)),
        })
        const agent = await stage.connect(server)
        const ended = await endsTyped(agent.stream('go', { signal: stage.signal }).text())
        if (typeof ended === 'string') assert.equal(ended, wholeText)
        else assert.match(ended.code, /^(UNSUPPORTED_OPERATION|METHOD_NOT_FOUND)$/)
        assert.equal((await agent.wait(taskId, { signal: stage.signal })).status.state, 'TASK_STATE_COMPLETED')
      },
    )
  }

  faultCase('about streaming, which it does not declare: the client polls instead [B-169]', async (stage) => {
    let polls = 0
    const server = await stage.open(
      {
        SendMessage: (exchange) => exchange.result({ task: taskAfter(2) }),
        GetTask: (exchange) => exchange.result(taskAfter(Math.min(2 + 4 * ++polls, events.length))),
      },
      { card: { capabilities: { streaming: false } } },
    )
    const agent = await stage.connect(server)
    const { signal } = stage
    const ended = await endsTyped(agent.stream('go', { signal }).text())
    if (typeof ended === 'string') assert.equal(ended, wholeText)
    else assert.equal(ended.code, 'UNSUPPORTED_OPERATION')
    const done = await agent.wait(taskId, { signal })
    assert.equal(done.status.state, 'TASK_STATE_COMPLETED')
    assert.equal(server.count('SendStreamingMessage') + server.count('SubscribeToTask'), 0)
  })

  faultCase('about its address, with another interface that works, uses that one [B-20]', async (stage) => {
    const dead = await stage.open({})
    await dead.close()
    const server = await stage.open({
      ...finished,
      SendStreamingMessage(exchange) {
        exchange.stream()
        for (const event of events) exchange.event(event)
        exchange.end()
      },
      card: (exchange) =>
        exchange.json(
          cardOf([
            { url: `${dead.url}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
            { url: `${server.url}/rest`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
          ]),
        ),
    })
    const agent = await stage.connect(server)
    const answer = await agent.send('go', { signal: stage.signal })
    assert.ok(answer.kind === 'task' && answer.status.state === 'TASK_STATE_COMPLETED')
    assert.equal(agent.interface.protocolBinding, 'HTTP+JSON')
    assert.ok(stage.warnings.length > 0, 'no warning was logged')
    const other = await stage.connect(server)
    assert.equal(await other.stream('go', { signal: stage.signal }).text(), wholeText)
  })

  faultCase('about its address, with no other interface, is an error', async ({ open, connect, signal }) => {
    const dead = await open({})
    await dead.close()
    const server = await open({
      card: (exchange) =>
        exchange.json(cardOf([{ url: `${dead.url}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }])),
    })
    const agent = await connect(server)
    for (const call of [() => agent.send('go', { signal }), () => agent.get(taskId, { signal })]) {
      const error = await failsWith(call(), 'UNAVAILABLE')
      assert.equal(error.details['reason'], 'NETWORK')
    }
    await failsWith(agent.stream('go', { signal }).all(), 'UNAVAILABLE')
  })

  faultCase('about the path of its endpoint is an error with the status', async ({ open, connect, signal }) => {
    const server = await open((exchange) => {
      if (exchange.operation === 'card') return exchange.json(server.card)
      exchange.answer(404, { 'content-type': 'text/plain' }, 'Cannot POST /rpc')
    })
    const error = await failsWith((await connect(server)).send('go', { signal }))
    assert.equal(error.details['status'], '404')
  })

  faultCase(
    'about a supported version, which it then refuses, leads to the next listed interface [B-20]',
    async ({ open, connect, signal }) => {
      const server = await open((exchange) => {
        if (exchange.operation === 'card') {
          return exchange.json(
            cardOf([
              { url: `${server.url}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
              { url: `${server.url}/old`, protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
            ]),
          )
        }
        if (exchange.path === '/old') return exchange.result(oldTask)
        exchange.error(-32_009, 'Version not supported')
      })
      const agent = await connect(server)
      const answer = await agent.send('go', { signal })
      assert.ok(answer.kind === 'task' && answer.status.state === 'TASK_STATE_COMPLETED')
      assert.equal(agent.interface.version, '0.3')
    },
  )

  faultCase(
    'about push and the extended card is trusted: the client sends no request [B-169]',
    async ({ open, connect, signal }) => {
      const server = await open({})
      const agent = await connect(server)
      await failsWith(
        agent.push.set(taskId, { url: 'https://example.com' }, { signal }),
        'PUSH_NOTIFICATION_NOT_SUPPORTED',
      )
      await failsWith(agent.extendedCard({ signal }), 'UNSUPPORTED_OPERATION')
      assert.equal(server.calls.length, 0)
    },
  )

  faultCase('in its extended form is not adopted', async ({ open, connect, signal }) => {
    const server = await open(
      { other: (exchange) => exchange.result({ name: 'Another' }), card: (exchange) => exchange.json(server.card) },
      { card: { capabilities: { extendedAgentCard: true } } },
    )
    const agent = await connect(server)
    await failsWith(agent.extendedCard({ signal }), 'INVALID_AGENT_RESPONSE')
    assert.equal(agent.card.name, 'Hostile')
  })

  faultCase('about the task it opened: a send without a final state is not taken as the end', async (stage) => {
    const server = await stage.open({
      SendMessage: (exchange) => exchange.result({ task: task('WORKING') }),
      SubscribeToTask(exchange) {
        exchange.stream()
        exchange.event({ task: taskAfter(3) })
        for (const event of events.slice(3)) exchange.event(event)
        exchange.end()
      },
      GetTask: (exchange) => exchange.result(taskAfter(events.length)),
    })
    const ended = await endsTyped((await stage.connect(server)).ask('go', { signal: stage.signal }))
    if (typeof ended === 'string') assert.equal(ended, wholeText)
    else assert.notEqual(ended.code, 'INTERNAL')
  })
})

function oldCard(url: string): object {
  const { supportedInterfaces: _, ...rest } = cardOf([]) as Record<string, unknown>
  return { ...rest, protocolVersion: '0.3.0', url: `${url}/rpc`, preferredTransport: 'JSONRPC' }
}
