import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { reply } from '../../agents/reports.ts'
import { readSse } from '../../testing/fixtures/read-sse.ts'
import { cursorExtension } from '../../model/extension.ts'
import { testMessage, legacyTestMessage, openServers, rpc } from '../../testing/fixtures/test-server.ts'
import { cursor, type Handler } from '../index.ts'

const { open, post, get } = openServers()

describe('a stream', () => {
  const streaming = async (
    handler: Handler,
    headers: Record<string, string> = {},
    path = '/message:stream',
    body: unknown = { message: testMessage() },
  ) => {
    const init = {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    }
    const response = await handler.fetch(new Request(`http://localhost${path}`, init))
    return { response, events: await Array.fromAsync(readSse(response.body as ReadableStream<Uint8Array>)) }
  }

  it('has the headers that keep proxies from buffering, and a cursor with every event [F-4 B-109]', async () => {
    const { response, events } = await streaming(open())
    assert.equal(response.headers.get('content-type'), 'text/event-stream')
    assert.equal(response.headers.get('cache-control'), 'no-cache')
    assert.equal(response.headers.get('x-accel-buffering'), 'no')
    const ids = events.map(({ id }) => Number(id))
    assert.ok(ids.every((id, index) => id > 0 && id > (ids[index - 1] ?? 0)))
    assert.ok('task' in JSON.parse(events[0]?.data ?? ''))
  })

  it('has the whole envelope with the request id in each JSON-RPC document [F-6]', async () => {
    const { events } = await streaming(open(), {}, '/a2a', {
      ...rpc('message/stream', { message: legacyTestMessage() }),
      id: 0,
    })
    const documents = events.map(({ data }) => JSON.parse(data))
    assert.ok(documents.every(({ jsonrpc, id }) => jsonrpc === '2.0' && id === 0))
    assert.equal(documents.at(0).result.kind, 'task')
    assert.equal(documents.at(-1).result.final, true)
    assert.ok(documents.slice(1, -1).every(({ result }) => result.final !== true))
  })

  it('is a single message for a direct reply, whatever the configuration [B-65 B-66]', async () => {
    const handler = open({ agent: () => reply('Hi') })
    const content = [{ text: 'hi' }]
    const old = { message: { messageId: 'm-old', role: 'ROLE_USER', content }, configuration: {} }
    const modern = { message: testMessage(), configuration: { returnImmediately: true } }
    for (const [path, body] of [
      ['/v1/message:stream', old],
      ['/message:stream', modern],
    ] as const) {
      const { events } = await streaming(handler, {}, path, body)
      assert.deepEqual(
        events.map(({ data }) => Object.keys(JSON.parse(data))),
        [['message']],
        path,
      )
    }
  })

  it('continues after Last-Event-ID, from the header or the query, and ignores an invalid cursor', async () => {
    const handler = open()
    const { events } = await streaming(handler)
    const { id: taskId } = JSON.parse(events[0]?.data ?? '').task
    const [, second] = events
    const after = events.slice(2)
    const viaHeader = await streaming(handler, { 'last-event-id': second?.id ?? '' }, `/tasks/${taskId}:subscribe`, {})
    assert.deepEqual(viaHeader.events, after)
    const viaQuery = await streaming(handler, {}, `/tasks/${taskId}:subscribe?lastEventId=${second?.id}`, {})
    assert.deepEqual(viaQuery.events, after)
    const { response } = await streaming(handler, { 'last-event-id': 'x' }, `/tasks/${taskId}:subscribe`, {})
    assert.equal(response.status, 400)
  })

  it('that cannot start is a plain error, in both bindings [F-7]', async () => {
    const handler = open()
    const rest = await post(handler, {}, {}, '/tasks/unknown:subscribe')
    assert.deepEqual([rest.status, rest.headers.get('content-type')], [404, 'application/a2a+json'])
    const inEnvelope = await post(handler, rpc('SubscribeToTask', { id: 'unknown' }))
    assert.deepEqual([inEnvelope.status, inEnvelope.json.error.code], [200, -32001])
    assert.equal((await post(handler, { message: {} }, {}, '/message:stream')).status, 400)
  })

  it('of an agent that does not stream is refused, and so is a subscription [B-88 B-106]', async () => {
    const handler = open({ streaming: false })
    assert.equal(
      (await post(handler, { message: testMessage() }, {}, '/message:stream')).json.error.details[0].reason,
      'UNSUPPORTED_OPERATION',
    )
    assert.equal((await post(handler, rpc('tasks/resubscribe', { id: 'x' }))).json.error.code, -32004)
    assert.equal((await get(handler, '/.well-known/agent-card.json')).json.capabilities.streaming, false)
  })

  it('has the position of its events, if the cursor extension is requested, and not otherwise [B-109 B-143]', async () => {
    const handler = open({ extensions: [cursor()] })
    const plain = await streaming(handler)
    assert.equal(plain.response.headers.get('a2a-extensions'), null)
    assert.ok(!plain.events.some(({ data }) => data.includes(cursorExtension)))
    const asking = { 'a2a-extensions': `urn:unknown, ${cursorExtension}` }
    const marked = await streaming(handler, asking)
    assert.equal(marked.response.headers.get('a2a-extensions'), cursorExtension)
    for (const { id, data } of marked.events) {
      const [inner] = Object.values(JSON.parse(data)) as { metadata: Record<string, { cursor: string }> }[]
      assert.deepEqual(inner?.metadata[cursorExtension], { cursor: id })
    }
    const old = { 'x-a2a-extensions': cursorExtension }
    const { response, events } = await streaming(
      handler,
      old,
      '/a2a',
      rpc('message/stream', { message: legacyTestMessage() }),
    )
    assert.equal(response.headers.get('x-a2a-extensions'), cursorExtension)
    assert.ok(events.every(({ data }) => data.includes(cursorExtension)))
  })

  it('counts toward the limit of the caller as which its own is limited', async () => {
    const held = Promise.withResolvers<void>()
    const handler = open({
      limits: { streamsPerCaller: 1 },
      authenticate: ({ header }) => ({ id: header('x-key') ?? '', limitedAs: 'ann' }),
      async *agent() {
        yield 'a'
        await held.promise
      },
    })
    const start = (key: string): Promise<Response> =>
      handler.fetch(
        new Request('http://localhost/message:stream', {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'x-key': key },
          body: JSON.stringify({ message: testMessage() }),
        }),
      )
    const [first, second] = [await start('one'), await start('two')]
    assert.deepEqual([first.status, second.status], [200, 429])
    held.resolve()
    await first.text()
  })

  it('counts toward the limit of its caller, and is released however it ends [B-170]', async () => {
    let release: () => void = () => {}
    const held = new Promise<void>((resolve) => (release = resolve))
    const handler = open({
      limits: { streamsPerCaller: 1 },
      async *agent() {
        yield 'a'
        await held
      },
    })
    const start = (): Promise<Response> =>
      handler.fetch(
        new Request('http://localhost/message:stream', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ message: testMessage() }),
        }),
      )
    const first = await start()
    const second = await start()
    assert.deepEqual([first.status, second.status, handler.openStreams()], [200, 429, 1])
    assert.equal(second.headers.get('retry-after'), '1')
    assert.equal(JSON.parse(await second.text()).error.details[0].reason, 'RATE_LIMITED')
    await first.body?.cancel()
    const third = await start()
    assert.equal(third.status, 200)
    release()
    await third.text()
    assert.equal(handler.openStreams(), 0)
    assert.equal((await post(handler, { message: {} }, {}, '/message:stream')).status, 400)
    assert.equal((await start()).status, 200)
  })

  it('has the same bytes for all its readers of one dialect', async () => {
    const handler = open()
    const { events } = await streaming(handler)
    const { id: taskId } = JSON.parse(events[0]?.data ?? '').task
    const from = { 'last-event-id': events[0]?.id ?? '' }
    const [one, two] = await Promise.all([
      streaming(handler, from, `/tasks/${taskId}:subscribe`, {}),
      streaming(handler, from, `/tasks/${taskId}:subscribe`, {}),
    ])
    assert.deepEqual(one.events, two.events)
    assert.deepEqual(one.events, events.slice(1))
  })
})
