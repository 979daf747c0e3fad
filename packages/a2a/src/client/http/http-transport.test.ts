import assert from 'node:assert/strict'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { describe, it } from 'node:test'
import { jsonrpcClientBinding } from '../../bindings/jsonrpc/jsonrpc-client.ts'
import { restClientBinding } from '../../bindings/rest/rest-client.ts'
import { A2AError } from '../../model/error.ts'
import { openRawServers } from '../../testing/fixtures/raw-server.ts'
import { versionOf } from '../../versions/index.ts'
import type { VersionId } from '../../versions/index.ts'
import type { StreamOperation, ClientTransport, EventFrame, ClientTransportDeps } from '../contract.ts'
import { createHttpClient } from './http-client.ts'
import { defaultClientLimits } from '../call-options.ts'
import { createHttpTransport } from './http-transport.ts'

const listen = openRawServers()
const about = { signal: new AbortController().signal, headers: {} }
const hello = { message: { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'hello' }] } } as const
const working = { id: 't1', contextId: 'c1', status: { state: 'TASK_STATE_WORKING' } } as const
const done = { ...working, status: { state: 'TASK_STATE_COMPLETED' } } as const

function wireTo(
  url: string,
  version: VersionId = '1.0',
  binding = 'JSONRPC',
  parts: Partial<ClientTransportDeps> = {},
): ClientTransport {
  const http = createHttpClient({ limits: defaultClientLimits })
  const outgoing = (binding === 'JSONRPC' ? jsonrpcClientBinding : restClientBinding)(versionOf(version))
  return createHttpTransport(url, outgoing, versionOf(version), {
    http,
    maxBodyBytes: 10_000,
    maxEventBytes: 10_000,
    ...parts,
  })
}

/** A peer that gives every request the same response. */
async function answering(status: number, headers: Record<string, string>, body: string) {
  return listen((_, response) => response.writeHead(status, headers).end(body))
}
const json = { 'content-type': 'application/json' }
const sse = { 'content-type': 'text/event-stream' }
const result = (of: unknown): string => JSON.stringify({ jsonrpc: '2.0', id: 1, result: of })
const events = (...of: unknown[]): string => of.map((event) => `data: ${result(event)}\n\n`).join('')

async function failure(promise: Promise<unknown>): Promise<A2AError> {
  const reason = await promise.then(
    (value) => assert.fail(`did not fail: ${JSON.stringify(value)}`),
    (error: unknown) => error,
  )
  assert.ok(reason instanceof A2AError, String(reason))
  return reason
}

async function read(
  wire: ClientTransport,
  operation: StreamOperation = 'SendStreamingMessage',
  over = {},
): Promise<EventFrame[]> {
  const request = operation === 'SubscribeToTask' ? { id: 't1' } : hello
  return Array.fromAsync(await wire.open(operation, request as never, { ...about, ...over }))
}

describe('a call', () => {
  it('sends its version, whichever it is [B-1]', async () => {
    for (const version of ['1.0', '0.3', '0.2'] as const) {
      for (const binding of ['JSONRPC', 'HTTP+JSON']) {
        const { url, requests } = await answering(200, json, result(done))
        await wireTo(url, version, binding)
          .call('GetTask', { id: 't1' }, about)
          .catch(() => {})
        assert.equal(requests[0]?.headers['a2a-version'], version)
      }
    }
  })

  it('reads a response under another id, with a null error beside it, with any content type [F-1]', async () => {
    const { url } = await answering(
      200,
      { 'content-type': 'text/html' },
      JSON.stringify({ id: 'x', result: done, error: null }),
    )
    assert.deepEqual(await wireTo(url).call('GetTask', { id: 't1' }, about), done)
  })

  it('fails with the error of an HTML page, and includes its text', async () => {
    const page = '<html><style>p{}</style><script>steal()</script><h1>Not\n here</h1></html>'
    const meanings = {
      200: 'INVALID_AGENT_RESPONSE',
      401: 'UNAUTHENTICATED',
      403: 'PERMISSION_DENIED',
      404: 'INVALID_AGENT_RESPONSE',
      429: 'RATE_LIMITED',
      500: 'UNAVAILABLE',
      503: 'UNAVAILABLE',
    }
    for (const [status, code] of Object.entries(meanings)) {
      const { url } = await answering(Number(status), { 'content-type': 'text/html' }, page)
      for (const binding of ['JSONRPC', 'HTTP+JSON']) {
        const error = await failure(wireTo(url, '1.0', binding).call('GetTask', { id: 't1' }, about))
        assert.deepEqual([error.code, error.details['status'], error.details['excerpt']], [code, status, 'Not here'])
      }
    }
  })

  it('returns the retry delay, in seconds or from a date', async () => {
    const error = JSON.stringify({ jsonrpc: '2.0', id: 1, error: { code: -32_092, message: 'Slow down' } })
    const inSeconds = await answering(429, { ...json, 'retry-after': '7' }, error)
    const first = await failure(wireTo(inSeconds.url).call('GetTask', { id: 't1' }, about))
    assert.deepEqual([first.code, first.message, first.details['retryAfterMs']], ['RATE_LIMITED', 'Slow down', '7000'])
    const byDate = await answering(503, { 'retry-after': new Date(Date.now() + 60_000).toUTCString() }, 'closed')
    const second = await failure(wireTo(byDate.url).call('GetTask', { id: 't1' }, about))
    assert.ok(Number(second.details['retryAfterMs']) > 55_000 && Number(second.details['retryAfterMs']) <= 60_000)
    const nonsense = await answering(503, { 'retry-after': 'soon' }, 'closed')
    const third = await failure(wireTo(nonsense.url).call('GetTask', { id: 't1' }, about))
    assert.equal(third.details['retryAfterMs'], undefined)
  })

  it('folds a stream, if the peer streams instead, and does not wait for its end', async () => {
    const update = { taskId: 't1', contextId: 'c1' }
    const { url } = await listen((_, response) => {
      response.writeHead(200, sse)
      response.write(
        events(
          { task: working },
          { artifactUpdate: { ...update, artifact: { artifactId: 'a', parts: [{ text: 'Hi' }] } } },
          { statusUpdate: { ...update, status: done.status } },
        ),
      )
    })
    const wire = wireTo(url)
    const task = { ...done, artifacts: [{ artifactId: 'a', parts: [{ text: 'Hi' }] }] }
    assert.deepEqual(await wire.call('SendMessage', hello, about), { task })
    assert.deepEqual(await wire.call('GetTask', { id: 't1' }, about), task)
  })

  it('gives a stream in place of a response no more time than a response', async () => {
    const { url } = await listen((_, response) => {
      response.writeHead(200, sse)
      const timer = setInterval(() => response.write(': still here\n\n'), 5)
      response.on('close', () => clearInterval(timer))
    })
    const error = await failure(wireTo(url).call('GetTask', { id: 't1' }, { ...about, timeoutMs: 50 }))
    assert.equal(error.code, 'TIMEOUT')
  })

  it('reads at most the allowed number of bytes', async () => {
    const { url } = await answering(200, json, result({ ...done, metadata: { much: 'x'.repeat(20_000) } }))
    const error = await failure(wireTo(url).call('GetTask', { id: 't1' }, about))
    assert.equal(error.code, 'INVALID_AGENT_RESPONSE')
    assert.match(error.message, /10000 bytes/)
  })

  it('refuses a response of too many JSON values before it is parsed', async () => {
    const { url } = await answering(200, json, `[${'0,'.repeat(200)} no JSON from here on`)
    const error = await failure(
      wireTo(url, '1.0', 'JSONRPC', { maxJsonNodes: 100 }).call('GetTask', { id: 't1' }, about),
    )
    assert.equal(error.code, 'INVALID_AGENT_RESPONSE')
    assert.match(error.message, /more than 100 JSON values/)
  })

  it('is below the given address, with or without the /v1 of 0.3, and keeps its query', async () => {
    const { url, requests } = await answering(200, json, JSON.stringify(done))
    const at = async (base: string, version: VersionId): Promise<string | undefined> => {
      await wireTo(url + base, version, 'HTTP+JSON').call('GetTask', { id: 'a/b', historyLength: 2 }, about)
      return requests.at(-1)?.url
    }
    assert.equal(await at('/agent/', '1.0'), '/agent/tasks/a%2Fb?historyLength=2')
    assert.equal(await at('/agent', '0.3'), '/agent/v1/tasks/a%2Fb?historyLength=2')
    assert.equal(await at('/agent/v1', '0.3'), '/agent/v1/tasks/a%2Fb?historyLength=2')
    assert.equal(await at('/agent/v1/', '0.3'), '/agent/v1/tasks/a%2Fb?historyLength=2')
    assert.equal(await at('/v1', '1.0'), '/v1/tasks/a%2Fb?historyLength=2')
    assert.equal(await at('/agent?key=k', '1.0'), '/agent/tasks/a%2Fb?historyLength=2&key=k')
    await wireTo(`${url}/rpc/?key=k`)
      .call('GetTask', { id: 't1' }, about)
      .catch(() => {})
    assert.equal(requests.at(-1)?.url, '/rpc/?key=k')
  })

  it('is not made if the version has no such operation', async () => {
    const { url, requests } = await answering(200, json, '{}')
    for (const binding of ['JSONRPC', 'HTTP+JSON']) {
      const error = await failure(wireTo(url, '0.3', binding).call('ListTasks', {}, about))
      assert.equal(error.code, 'UNSUPPORTED_OPERATION')
    }
    assert.equal(requests.length, 0)
  })
})

describe('a 0.3 response to a 1.0 request', () => {
  const old = { kind: 'task', id: 't1', contextId: 'c1', status: { state: 'completed' } }
  const update = { kind: 'status-update', taskId: 't1', contextId: 'c1', status: { state: 'completed' }, final: true }

  it('is decoded in the version that the listener returns', async () => {
    const onMismatch = async () => versionOf('0.3')
    const { url } = await answering(200, json, result(old))
    assert.deepEqual(
      await wireTo(url, '1.0', 'JSONRPC', { onVersionMismatch: onMismatch }).call('SendMessage', hello, about),
      { task: done },
    )
    const streaming = await answering(200, sse, events(update))
    const [event] = await read(wireTo(streaming.url, '1.0', 'JSONRPC', { onVersionMismatch: onMismatch }))
    assert.deepEqual(event, {
      event: { statusUpdate: { taskId: 't1', contextId: 'c1', status: done.status } },
      id: undefined,
      final: true,
    })
  })

  it('fails with the error of the listener, if it throws', async () => {
    const { url } = await answering(200, json, result(old))
    const refuse = new A2AError('VERSION_NOT_SUPPORTED', 'not that one')
    const wire = wireTo(url, '1.0', 'JSONRPC', { onVersionMismatch: () => Promise.reject(refuse) })
    assert.equal(await failure(wire.call('SendMessage', hello, about)), refuse)
  })
})

describe('a stream', () => {
  it('yields each event with its cursor and its end mark of 0.x [F-5]', async () => {
    const old = { kind: 'status-update', taskId: 't1', contextId: 'c1', status: { state: 'completed' }, final: true }
    const { url, requests } = await answering(200, sse, `: hi\r\nid: 7\r\ndata: ${result(old)}\r\n\r\n`)
    const [event] = await read(wireTo(url, '0.3'), 'SubscribeToTask', { lastEventId: '6' })
    assert.deepEqual([event?.id, event?.final], ['7', true])
    assert.deepEqual([requests[0]?.headers['last-event-id'], requests[0]?.headers.accept], ['6', 'text/event-stream'])
  })

  it('may be one plain JSON response, or an error', async () => {
    const plain = await answering(200, json, result({ task: done }))
    assert.deepEqual(
      (await read(wireTo(plain.url))).map(({ event }) => event),
      [{ task: done }],
    )
    const error = { jsonrpc: '2.0', id: 1, error: { code: -32_001, message: 'Task not found' } }
    const refused = await answering(200, json, JSON.stringify(error))
    assert.equal((await failure(read(wireTo(refused.url)))).code, 'TASK_NOT_FOUND')
  })

  it('ends with the error that it contains, in any form [F-5 F-7]', async () => {
    const error = { code: -32_001, message: 'Task not found' }
    for (const [binding, line] of [
      ['JSONRPC', `data: ${JSON.stringify({ jsonrpc: '2.0', id: 1, error })}`],
      ['JSONRPC', `event: error\ndata: ${JSON.stringify({ jsonrpc: '2.0', id: 1, error })}`],
      ['JSONRPC', `event: error\ndata: ${result(error)}`],
      [
        'HTTP+JSON',
        `event: error\ndata: ${JSON.stringify({ error: { code: 404, status: 'NOT_FOUND', message: 'Task not found' } })}`,
      ],
      ['HTTP+JSON', `data: ${JSON.stringify(error)}`],
    ] as const) {
      const { url } = await answering(200, sse, `${line}\n\n`)
      assert.equal((await failure(read(wireTo(url, '1.0', binding)))).code, 'TASK_NOT_FOUND', line)
    }
  })

  it('may come as JSON lines', async () => {
    const lines = [{ task: working }, { task: done }].map(result)
    const { url } = await listen((_, response) => {
      response.writeHead(200, { 'content-type': 'application/x-ndjson' })
      response.write(`${lines[0]}\n${lines[1]?.slice(0, 20)}`)
      setImmediate(() => response.end(lines[1]?.slice(20)))
    })
    assert.deepEqual(
      (await read(wireTo(url))).map(({ event }) => event),
      [{ task: working }, { task: done }],
    )
    const endless = await answering(200, { 'content-type': 'application/x-ndjson' }, 'x'.repeat(20_000))
    assert.equal((await failure(read(wireTo(endless.url)))).code, 'PAYLOAD_TOO_LARGE')
  })

  it('is interrupted if it ends within an event, but not between events', async () => {
    const { url } = await answering(200, sse, events({ task: working }) + events({ task: done }).slice(0, 40))
    const seen: EventFrame[] = []
    const error = await failure(
      (async () => {
        for await (const event of await wireTo(url).open('SendStreamingMessage', hello, about)) seen.push(event)
      })(),
    )
    assert.deepEqual([seen.length, error.code], [1, 'INTERRUPTED'])
    const whole = await answering(200, sse, events({ task: done }).trim())
    assert.equal((await read(wireTo(whole.url))).length, 1)
  })

  it('is interrupted if the connection breaks, and if it is silent while the client reads', async () => {
    const cut = await listen((_, response) => {
      response.writeHead(200, sse)
      response.write(events({ task: working }), () => response.destroy())
    })
    assert.equal((await failure(read(wireTo(cut.url)))).code, 'INTERRUPTED')
    const silent = await listen((_, response) => {
      response.writeHead(200, sse)
      response.write(events({ task: working }))
    })
    const error = await failure(read(wireTo(silent.url), 'SendStreamingMessage', { idleTimeoutMs: 30 }))
    assert.deepEqual([error.code, error.details['reason']], ['INTERRUPTED', 'IDLE'])
  })

  it('ends with the reason of its signal', async () => {
    const { url } = await listen((_, response) => response.writeHead(200, sse).flushHeaders())
    const controller = new AbortController()
    const stream = await wireTo(url).open('SendStreamingMessage', hello, { ...about, signal: controller.signal })
    const reason = new Error('enough')
    const next = stream.next()
    controller.abort(reason)
    await assert.rejects(next, (thrown) => thrown === reason)
  })

  it('hands out no event after its signal, not even one that has arrived', async () => {
    const event = `data: ${JSON.stringify({ jsonrpc: '2.0', id: 1, result: { task: done } })}\n\n`
    const { url } = await answering(200, sse, event + event)
    const controller = new AbortController()
    const stream = await wireTo(url, '1.0', 'JSONRPC').open('SendStreamingMessage', hello, {
      ...about,
      signal: controller.signal,
    })
    assert.equal((await stream.next()).done, false)
    const reason = new Error('enough')
    controller.abort(reason)
    await assert.rejects(stream.next(), (thrown) => thrown === reason)
  })

  it('closes the connection when the reader leaves, even if it has read nothing', async () => {
    const closed = Promise.withResolvers<void>()
    const { url } = await listen((_, response) => {
      response.writeHead(200, sse).flushHeaders()
      response.once('close', closed.resolve)
    })
    const stream = await wireTo(url).open('SendStreamingMessage', hello, about)
    await stream.return()
    await closed.promise
  })

  it('rejects an event above its limit', async () => {
    const { url } = await answering(200, sse, `data: ${'x'.repeat(20_000)}\n\n`)
    assert.equal((await failure(read(wireTo(url)))).code, 'PAYLOAD_TOO_LARGE')
  })

  it('rejects an event of too many JSON values before it is parsed', async () => {
    const { url } = await answering(200, sse, `data: [${'0,'.repeat(200)} no JSON from here on\n\n`)
    const error = await failure(read(wireTo(url, '1.0', 'JSONRPC', { maxJsonNodes: 100 })))
    assert.equal(error.code, 'INVALID_AGENT_RESPONSE')
    assert.match(error.message, /more than 100 JSON values/)
  })

  it('uses the other verb if a peer refuses the first, and at once from then on [A-1]', async () => {
    const { url, requests } = await listen((request, response) => {
      if (request.method === 'POST') response.writeHead(405).end()
      else response.writeHead(200, sse).end(`data: ${JSON.stringify({ task: done })}\n\n`)
    })
    const wire = wireTo(url, '1.0', 'HTTP+JSON')
    assert.equal((await read(wire, 'SubscribeToTask')).length, 1)
    assert.equal((await read(wire, 'SubscribeToTask')).length, 1)
    assert.deepEqual(
      requests.map(({ method }) => method),
      ['POST', 'GET', 'GET'],
    )
  })
})

describe('the extended card of 0.2', () => {
  const card = { name: 'More', version: '2', url: 'http://agent.test/', capabilities: {}, skills: [] }
  const serve = (path: string, status: number, body: unknown) =>
    listen((request: IncomingMessage, response: ServerResponse) => {
      const found = request.url === path
      response.writeHead(found ? status : 404, json).end(found ? JSON.stringify(body) : '')
    })
  const get = (url: string) => wireTo(url, '0.2').call('GetExtendedAgentCard', {}, about)

  it('is a GET beside the url, or below it [B-136]', async () => {
    for (const path of ['/agent/authenticatedExtendedCard', '/rpc/agent/authenticatedExtendedCard']) {
      const { url, requests } = await serve(path, 200, card)
      assert.equal((await get(`${url}/rpc`)).name, 'More')
      assert.equal(requests.at(-1)?.headers['a2a-version'], '0.2')
    }
  })

  it('is refused, forbidden or missing [B-136 B-137]', async () => {
    const path = '/agent/authenticatedExtendedCard'
    for (const [status, code] of [
      [401, 'UNAUTHENTICATED'],
      [403, 'PERMISSION_DENIED'],
      [404, 'EXTENDED_AGENT_CARD_NOT_CONFIGURED'],
    ] as const) {
      const { url } = await serve(path, status, { message: 'no' })
      const error = await failure(get(url))
      assert.deepEqual([error.code, error.details['status']], [code, String(status)])
    }
  })
})
