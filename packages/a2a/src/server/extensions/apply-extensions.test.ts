/** Extensions from the client's side: requested by header, echoed, and active for that request only. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Agent, Turn } from '../../agents/agent.ts'
import { inputRequired } from '../../agents/reports.ts'
import { readSse } from '../../testing/fixtures/read-sse.ts'
import { A2AError } from '../../model/error.ts'
import { cursorExtension, timestampsExtension, traceExtension } from '../../model/extension.ts'
import type { Message } from '../../model/task.ts'
import { testMessage, legacyTestMessage, openServers, rpc } from '../../testing/fixtures/test-server.ts'
import { type Extension, type Handler, cursor, timestamps, trace } from '../index.ts'

const { open, post, get } = openServers()

type Headers = Readonly<Record<string, string>>

async function eventsOf(handler: Handler, path: string, body: unknown, headers: Headers = {}) {
  const response = await handler.fetch(
    new Request(`http://localhost${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    }),
  )
  const frames = await Array.fromAsync(readSse(response.body as ReadableStream<Uint8Array>, 1_000_000))
  return { response, payloads: frames.map(({ data }) => JSON.parse(data) as Record<string, any>) }
}

/** The metadata of each event, without its wrapper. */
const notesIn = (payloads: readonly Record<string, any>[]): Record<string, any>[] =>
  payloads.map((payload) => {
    const result = payload['result'] ?? payload
    return result.metadata ?? Object.values<any>(result).find((one) => one?.metadata)?.metadata
  })

const chunks: Agent = async function* () {
  yield 'a'
  yield 'b'
}

describe('an extension', () => {
  it('is declared in the card of every version with its parameters, and none is declared by default [B-141 B-149 T-11]', async () => {
    const path = '/.well-known/agent-card.json'
    for (const version of ['1.0', '0.3']) {
      const bare = await get(open(), path, { 'a2a-version': version })
      assert.equal(bare.json.capabilities.extensions, undefined)
      const handler = open({ extensions: [{ uri: 'urn:x', params: { unit: 'ms' }, onMessage() {} }, cursor()] })
      const { json } = await get(handler, path, { 'a2a-version': version })
      assert.deepEqual(json.capabilities.extensions[0], { uri: 'urn:x', params: { unit: 'ms' } })
      assert.equal(json.capabilities.extensions[1].uri, cursorExtension)
    }
  })

  it('sees and changes only the messages of clients that request it [B-141 B-143 T-9 T-10]', async () => {
    const seen: Message[] = []
    const units: Extension = {
      uri: 'urn:units',
      onMessage: (message, { agent, caller, extensions }) => ({
        ...message,
        messageId: 'stolen',
        taskId: 'stolen',
        metadata: { ...message.metadata, 'urn:units': { agent, caller: caller.id, extensions: [...extensions] } },
      }),
    }
    const handler = open({
      extensions: [units],
      agent({ message }) {
        seen.push(message)
        return 'x'
      },
    })
    const mine = testMessage()
    const asked = await post(handler, rpc('SendMessage', { message: mine }), {
      'a2a-extensions': 'urn:units, urn:other',
    })
    assert.equal(asked.headers.get('a2a-extensions'), 'urn:units')
    const old = await post(handler, rpc('message/send', { message: legacyTestMessage() }), {
      'x-a2a-extensions': 'urn:units',
    })
    assert.equal(old.headers.get('x-a2a-extensions'), 'urn:units')
    const plain = await post(handler, rpc('SendMessage', { message: testMessage() }))
    assert.equal(plain.headers.get('a2a-extensions'), null)
    const note = { agent: 'default', caller: 'anonymous', extensions: ['urn:units'] }
    assert.deepEqual(
      seen.map(({ metadata }) => metadata?.['urn:units']),
      [note, note, undefined],
    )
    // An extension cannot change ids and role.
    assert.equal(seen[0]?.messageId, mine.messageId)
    assert.equal(asked.json.result.task.status.state, 'TASK_STATE_COMPLETED')
  })

  it('may refuse a message with its own error; anything else it throws is an internal error', async () => {
    const strict: Extension = {
      uri: 'urn:strict',
      async onMessage({ parts }) {
        if (parts.length > 1) throw new A2AError('CONTENT_TYPE_NOT_SUPPORTED', 'One part, please')
        throw new Error('secret detail')
      },
    }
    const handler = open({ extensions: [strict] })
    const headers = { 'a2a-extensions': 'urn:strict' }
    const two = testMessage('x', { parts: [{ text: 'a' }, { text: 'b' }] })
    assert.equal((await post(handler, rpc('SendMessage', { message: two }), headers)).json.error.code, -32005)
    const broken = await post(handler, rpc('SendMessage', { message: testMessage() }), headers)
    assert.equal(broken.json.error.code, -32603)
    assert.doesNotMatch(JSON.stringify(broken.json), /secret detail/)
  })

  it('that changes a message differently each time does not make it another message [B-163]', async () => {
    let count = 0
    const counting: Extension = {
      uri: 'urn:count',
      onMessage: (message) => ({ ...message, metadata: { count: ++count } }),
    }
    const handler = open({ extensions: [counting], agent: () => 'x' })
    const call = rpc('SendMessage', { message: { ...testMessage(), messageId: crypto.randomUUID() } })
    const headers = { 'a2a-extensions': 'urn:count' }
    const first = await post(handler, call, headers)
    const again = await post(handler, call, headers)
    assert.equal(again.json.result.task.id, first.json.result.task.id)
    assert.equal(count, 2)
  })

  it('can be requested with others, and each adds its data only to the events of that reader [B-143 B-146 T-10]', async () => {
    const handler = open({ extensions: [cursor(), timestamps(), trace()], agent: chunks })
    const uris = [cursorExtension, timestampsExtension]
    const { response, payloads } = await eventsOf(
      handler,
      '/message:stream',
      { message: testMessage() },
      { 'a2a-extensions': uris.join(',') },
    )
    assert.equal(response.headers.get('a2a-extensions'), uris.join(', '))
    for (const metadata of notesIn(payloads)) assert.deepEqual(Object.keys(metadata).sort(), uris.toSorted())
    const plain = await eventsOf(handler, '/message:stream', { message: testMessage() })
    assert.equal(plain.response.headers.get('a2a-extensions'), null)
    assert.ok(notesIn(plain.payloads).every((metadata) => metadata === undefined))
    // The task itself is the same for every reader.
    const { id } = payloads[0]!['task']
    assert.doesNotMatch(JSON.stringify((await get(handler, `/tasks/${id}`)).json), /parley\.dev/)
  })
})

describe('the times of events', () => {
  it('are those of the log, never decreasing, in every version', async () => {
    const before = Date.now()
    const handler = open({ extensions: [timestamps()], agent: chunks })
    const asking = { 'a2a-extensions': timestampsExtension, 'x-a2a-extensions': timestampsExtension }
    for (const [path, body] of [
      ['/message:stream', { message: testMessage() }],
      ['/a2a', rpc('message/stream', { message: legacyTestMessage() })],
    ] as const) {
      const { payloads } = await eventsOf(handler, path, body, asking)
      const times = notesIn(payloads).map((metadata) => String(metadata[timestampsExtension].at))
      assert.ok(times.length > 3)
      for (const time of times) assert.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
      assert.deepEqual(times, times.toSorted())
      assert.ok(Date.parse(times[0] ?? '') >= before && Date.parse(times.at(-1) ?? '') <= Date.now())
    }
  })
})

describe('the trace of events', () => {
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
  const traceparent = `00-${traceId}-00f067aa0ba902b7-01`
  const asking = { 'a2a-extensions': traceExtension, 'x-a2a-extensions': traceExtension }

  for (const [path, body] of [
    ['/message:stream', () => ({ message: testMessage() })],
    ['/a2a', () => rpc('message/stream', { message: legacyTestMessage() })],
  ] as const) {
    it(`is that of the request, with a span for each, also at the position of older drafts: ${path} [B-171 S2-31]`, async () => {
      const handler = open({ extensions: [trace()], agent: chunks })
      const { payloads } = await eventsOf(handler, path, body(), { ...asking, traceparent })
      const notes = notesIn(payloads)
      for (const metadata of notes) {
        assert.equal(metadata['traceId'], traceId)
        assert.match(String(metadata['spanId']), /^[\da-f]{16}$/)
        assert.deepEqual(metadata[traceExtension], { traceId, spanId: metadata['spanId'] })
      }
      assert.equal(new Set(notes.map(({ spanId }) => String(spanId))).size, notes.length)
    })
  }

  it('is that of the turn for every reader, and that of the task without a trace', async () => {
    const agent: Agent = ({ text }: Turn) => (text === 'go' ? inputRequired('Which?') : 'done')
    const handler = open({ extensions: [trace()], agent })
    const first = await eventsOf(handler, '/message:stream', { message: testMessage('go') }, { ...asking, traceparent })
    const { id } = first.payloads[0]!['task']
    const untraced = id.replaceAll('-', '')
    const answer = testMessage('that', { taskId: id })
    await post(handler, { message: answer }, { traceparent: 'nonsense' }, '/message:send')
    const { payloads } = await eventsOf(
      handler,
      `/tasks/${id}:subscribe`,
      {},
      { ...asking, 'last-event-id': '0', traceparent: traceparent.replaceAll('4', '5') },
    )
    const states = payloads.map(({ statusUpdate }) => statusUpdate?.status.state.replace('TASK_STATE_', '') as string)
    const traces = notesIn(payloads).map((metadata) => String(metadata['traceId']))
    const asked = states.indexOf('INPUT_REQUIRED')
    assert.deepEqual(new Set(traces.slice(0, asked + 1)), new Set([traceId]))
    assert.deepEqual(new Set(traces.slice(asked + 1)), new Set([untraced]))
    assert.ok(asked > 0 && traces.length > asked + 1)
  })

  it('is not stored for agents whose events do not carry it', async () => {
    const handler = open({ agent: () => 'x' })
    const { json } = await post(handler, { message: testMessage() }, { traceparent }, '/message:send')
    const { payloads } = await eventsOf(
      handler,
      `/tasks/${json.task.id}:subscribe`,
      {},
      { 'last-event-id': '0', ...asking },
    )
    assert.doesNotMatch(JSON.stringify(payloads), new RegExp(traceId))
  })
})
