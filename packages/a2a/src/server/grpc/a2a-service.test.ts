import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect as connectHttp2, type OutgoingHttpHeaders, type Settings } from 'node:http2'
import { Duplex } from 'node:stream'
import { describe, it } from 'node:test'
import type { Agent } from '../../agents/agent.ts'
import { artifact, inputRequired } from '../../agents/reports.ts'
import { encodeProtobuf } from '../../bindings/grpc/codec.ts'
import { A2AError, type ErrorCode } from '../../model/error.ts'
import { cursorExtension } from '../../model/extension.ts'
import type { LogRecord } from '../../model/record.ts'
import { memoryStore } from '../../stores/memory/memory-store.ts'
import { cursor } from '../extensions/builtin-extensions.ts'
import {
  legacy,
  modern,
  legacyGrpcMessageRequest,
  openGrpcServers,
  refusedCallOf,
  grpcMessageRequest,
} from '../../testing/fixtures/grpc-server.ts'
import { eventually } from '../../testing/fixtures/test-engine.ts'

const { open, client } = openGrpcServers()

/** A stream of a raw HTTP/2 client, because the library's own client always reads. */
function openUnreadStream(port: number, headers: OutgoingHttpHeaders = {}, settings: Settings = {}) {
  const session = connectHttp2(`http://127.0.0.1:${port}`, { settings })
  const message = encodeProtobuf('lf.a2a.v1.SendMessageRequest', grpcMessageRequest('much'))
  const head = Buffer.alloc(5)
  head.writeUInt32BE(message.length, 1)
  const stream = session.request({
    ':method': 'POST',
    ':path': `/${modern}/SendStreamingMessage`,
    'content-type': 'application/grpc',
    te: 'trailers',
    ...headers,
  })
  stream.end(Buffer.concat([head, message]))
  return { session, stream }
}

describe('gRPC', () => {
  it('releases the counted bytes of a large response that cannot be written', async () => {
    const kept = memoryStore()
    const server = await open({
      agent: () => artifact('log', { text: 'x'.repeat(100_000) }),
      store: {
        ...kept,
        tasks: {
          ...kept.tasks,
          loadSnapshot: async () => undefined,
          // A log that was written by other means may hold it: JSON can represent it, protobuf cannot.
          async read(...asked) {
            const text = JSON.stringify(await kept.tasks.read(...asked))
            return JSON.parse(text.replaceAll('"artifactId":"log"', '"artifactId":"log","name":5')) as LogRecord[]
          },
        },
      },
    })
    const peer = client(server.grpcPort)
    const { payload: sent } = await peer.call(modern, 'SendMessage', grpcMessageRequest('go'))
    assert.equal((await peer.refused(modern, 'GetTask', { id: sent.task.id })).code, 13)
    assert.equal(server.handler.readers.unsentBytes, 0)
  })

  it('counts the JSON and the value of a large response until it is encoded', async (t) => {
    const server = await open({ agent: () => artifact('log', { data: { text: 'x'.repeat(600_000), none: [] } }) })
    const peer = client(server.grpcPort)
    const { payload: sent } = await peer.call(modern, 'SendMessage', grpcMessageRequest('go'))
    const counted: number[] = []
    const { parse } = JSON
    t.mock.method(JSON, 'parse', (text: string) => {
      if (text.includes('xxx')) counted.push(server.handler.readers.unsentBytes)
      return parse(text) as unknown
    })
    await peer.call(modern, 'GetTask', { id: sent.task.id })
    assert.ok(counted.length > 1 && Math.min(...counted) > 1_800_000, `${counted.join()} bytes are counted`)
  })

  it('encodes a large event in steps, once for all its readers', async (t) => {
    const rows = Array.from({ length: 20_000 }, (_, row) => ({ row, text: 'x'.repeat(40) }))
    const server = await open({ agent: () => artifact('log', { data: { rows } }) })
    const peer = client(server.grpcPort)
    const { payload: sent } = await peer.call(modern, 'SendMessage', grpcMessageRequest('go'))
    let longest = 0
    let all = 0
    const { parse, stringify } = JSON
    const see = (text: string): string => {
      longest = Math.max(longest, text.length)
      all += text.length
      return text
    }
    t.mock.method(JSON, 'parse', (text: string) => parse(see(text)) as unknown)
    t.mock.method(JSON, 'stringify', (value: unknown) => see(stringify(value) ?? ''))
    const read = async (): Promise<number> => {
      const asking = { metadata: { 'last-event-id': '0' } }
      let found = 0
      for await (const { artifactUpdate } of peer.stream(modern, 'SubscribeToTask', { id: sent.task.id }, asking))
        found += artifactUpdate?.artifact.parts[0].data.rows.length ?? 0
      return found
    }
    assert.deepEqual(await Promise.all([read(), read(), read()]), [20_000, 20_000, 20_000])
    const length = stringify(rows).length
    assert.ok(longest < length / 4, `${longest} characters at once`)
    assert.ok(all < length * 3, `${all} characters in all`)
  })

  it('serves 1.0 and 0.3 on one port, each in its own format, about the same tasks [F-10 B-12 B-13]', async () => {
    const peer = client((await open({ agent: () => inputRequired('Which?') })).grpcPort)
    const { payload: sent } = await peer.call(modern, 'SendMessage', grpcMessageRequest('go'))
    const { id } = sent.task
    assert.equal(sent.task.status.message.parts[0].text, 'Which?')
    const { payload: seen } = await peer.call(legacy, 'GetTask', { name: `tasks/${id}` })
    assert.equal(seen.status.message.content[0].text, 'Which?')
    const { payload: canceled } = await peer.call(legacy, 'CancelTask', { name: `tasks/${id}` })
    assert.equal(canceled.status.state, 'TASK_STATE_CANCELLED')
    assert.equal((await peer.call(modern, 'GetTask', { id })).payload.status.state, 'TASK_STATE_CANCELED')
    const { payload: listed } = await peer.call(modern, 'ListTasks', {})
    assert.deepEqual([listed.tasks.length, listed.totalSize, listed.pageSize], [1, 1, 50])
    const old = await peer.call(legacy, 'SendMessage', legacyGrpcMessageRequest('again'))
    assert.equal(old.payload.task.status.message.content[0].text, 'Which?')
  })

  it('reports CANCELED of an agent as UNSUPPORTED_OPERATION: only agents see the code', async () => {
    const agent: Agent = ({ text }) => {
      throw new A2AError(text as ErrorCode, 'No')
    }
    const peer = client((await open({ agent })).grpcPort)
    const canceled = await peer.refused(modern, 'SendMessage', grpcMessageRequest('CANCELED'))
    const unsupported = await peer.refused(modern, 'SendMessage', grpcMessageRequest('UNSUPPORTED_OPERATION'))
    // The time of the response may differ.
    for (const { metadata } of [canceled, unsupported]) metadata.remove('date')
    assert.deepEqual(canceled, unsupported)
    assert.equal(canceled.code, 9)
    assert.equal((await peer.refused(legacy, 'SendMessage', legacyGrpcMessageRequest('CANCELED'))).code, 12)
  })

  it('selects the version by its package; metadata may name one of that package and no other [B-4 B-5 B-7 B-12]', async () => {
    const peer = client((await open({ agent: () => 'ok' })).grpcPort)
    const as = (version: string) => ({ metadata: { 'a2a-version': version } })
    for (const [service, payload, version, answered] of [
      [modern, grpcMessageRequest, '1.0', '1.0'],
      [modern, grpcMessageRequest, '1.0.7', '1.0'],
      [modern, grpcMessageRequest, '', '1.0'],
      [legacy, legacyGrpcMessageRequest, '0.3', '0.3'],
      [legacy, legacyGrpcMessageRequest, '0.2', '0.2'],
      [legacy, legacyGrpcMessageRequest, '', '0.3'],
    ] as const) {
      const { metadata } = await peer.call(service, 'SendMessage', payload(), as(version))
      assert.deepEqual(metadata.get('a2a-version'), [answered], `${service} ${version}`)
    }
    for (const [service, payload, version, offered] of [
      [modern, grpcMessageRequest, '0.5', '1.0,0.3,0.2'],
      [modern, grpcMessageRequest, '0.3', '1.0'],
      [modern, grpcMessageRequest, 'v1', '1.0,0.3,0.2'],
      [legacy, legacyGrpcMessageRequest, '1.0', '0.3,0.2'],
    ] as const) {
      const refusal = await peer.refused(service, 'SendMessage', payload(), as(version))
      assert.deepEqual([refusal.code, refusal.reason], [9, 'VERSION_NOT_SUPPORTED'], `${service} ${version}`)
      assert.equal(refusal.details[0].metadata.supportedVersions, offered)
    }
  })

  it('has no service of a version that is not offered, and no unknown rpc [B-37 B-87]', async () => {
    const peer = client((await open({ agent: () => 'ok', versions: ['1.0'] })).grpcPort)
    assert.equal((await peer.refused(legacy, 'SendMessage', legacyGrpcMessageRequest())).code, 12)
    assert.equal((await peer.refused(modern, 'SendMassage', {}, { bytes: new Uint8Array() })).code, 12)
    // Before 1.0 there was no way to list tasks (B-87).
    const both = client((await open({ agent: () => 'ok' })).grpcPort)
    assert.equal((await both.refused(legacy, 'ListTasks', {}, { bytes: new Uint8Array() })).code, 12)
  })

  it('reads service parameters as metadata, several values as one list, and echoes active ones [F-11 B-142 B-143]', async () => {
    const uris = ['urn:one', 'urn:two']
    const server = await open({
      agent: ({ extensions }) => extensions.join(' ') || 'none',
      extensions: uris.map((uri) => ({ uri })),
    })
    const peer = client(server.grpcPort)
    const ask = async (service: string, metadata: Record<string, string | string[]>) => {
      const payload = service === modern ? grpcMessageRequest() : legacyGrpcMessageRequest()
      const answer = await peer.call(service, 'SendMessage', payload, { metadata })
      return [answer.payload.task.artifacts[0].parts[0].text, answer.metadata]
    }
    const [joined, echo] = await ask(modern, { 'a2a-extensions': 'urn:two, urn:one,urn:unknown' })
    assert.equal(joined, 'urn:two urn:one')
    assert.deepEqual(echo.get('a2a-extensions'), ['urn:two, urn:one'])
    const [apart] = await ask(modern, { 'A2A-Extensions': ['urn:one', 'urn:two'] })
    assert.equal(apart, 'urn:one urn:two')
    const [old, oldEcho] = await ask(legacy, { 'x-a2a-extensions': 'urn:one' })
    assert.equal(old, 'urn:one')
    assert.deepEqual(oldEcho.get('x-a2a-extensions'), ['urn:one'])
    const [none, silence] = await ask(modern, {})
    assert.equal(none, 'none')
    assert.deepEqual(silence.get('a2a-extensions'), [])
  })

  it('does not wait if 0.3 sends a configuration without blocking, and waits without a configuration [B-66]', async () => {
    const gate = Promise.withResolvers<void>()
    const peer = client((await open({ agent: () => gate.promise.then(() => 'done'), openAfterMs: 10 })).grpcPort)
    const { payload: begun } = await peer.call(
      legacy,
      'SendMessage',
      legacyGrpcMessageRequest('go', { configuration: {} }),
    )
    assert.notEqual(begun.task.status.state, 'TASK_STATE_COMPLETED')
    const waiting = peer.call(legacy, 'SendMessage', legacyGrpcMessageRequest('go'))
    gate.resolve()
    assert.equal((await waiting).payload.task.status.state, 'TASK_STATE_COMPLETED')
  })

  it('answers malformed or invalid requests with INVALID_ARGUMENT, and names the fields [B-38]', async () => {
    const peer = client((await open({ agent: () => 'ok' })).grpcPort)
    const malformed = await peer.refused(modern, 'SendMessage', {}, { bytes: new Uint8Array([10, 200, 1]) })
    assert.deepEqual([malformed.code, malformed.reason], [3, 'PARSE_ERROR'])
    const empty = await peer.refused(modern, 'SendMessage', { message: { messageId: 'm', role: 'ROLE_USER' } })
    assert.deepEqual([empty.code, empty.reason], [3, 'INVALID_PARAMS'])
    assert.deepEqual(
      empty.details[1].fieldViolations.map(({ field }: any) => field),
      ['message.parts'],
    )
    const lost = await peer.refused(modern, 'GetTask', { id: 'unknown' })
    assert.deepEqual([lost.code, lost.reason, lost.details[0].metadata], [5, 'TASK_NOT_FOUND', { taskId: 'unknown' }])
    assert.deepEqual(lost.metadata.get('a2a-version'), ['1.0'])
    const late = await peer.refused(legacy, 'GetTask', { name: 'tasks/unknown' })
    assert.deepEqual([late.code, late.reason], [5, 'TASK_NOT_FOUND'])
    const pushed = await peer.refused(modern, 'ListTaskPushNotificationConfigs', { taskId: 't' })
    assert.deepEqual([pushed.code, pushed.reason], [9, 'PUSH_NOTIFICATION_NOT_SUPPORTED'])
    const oldPush = await peer.refused(legacy, 'ListTaskPushNotificationConfig', { parent: 'tasks/t' })
    assert.deepEqual([oldPush.code, oldPush.reason], [12, 'PUSH_NOTIFICATION_NOT_SUPPORTED'])
  })

  it('accepts messages up to the body limit', async () => {
    const peer = client((await open({ agent: () => 'ok', limits: { bodyBytes: 10_000 } })).grpcPort)
    await peer.call(modern, 'SendMessage', grpcMessageRequest('x'.repeat(9_500)))
    assert.equal((await peer.refused(modern, 'SendMessage', grpcMessageRequest('x'.repeat(10_500)))).code, 8)
  })
})

describe('a stream over gRPC', () => {
  it('begins with the task, ends with its last event, and its end is the end of the call [F-10 B-92]', async () => {
    const peer = client(
      (
        await open({
          agent: async function* () {
            yield 'a'
            yield 'b'
          },
        })
      ).grpcPort,
    )
    const stream = peer.stream(modern, 'SendStreamingMessage', grpcMessageRequest())
    const events = await Array.fromAsync(stream)
    assert.ok(events[0].task)
    assert.equal(events.at(-1).statusUpdate.status.state, 'TASK_STATE_COMPLETED')
    assert.deepEqual((await stream.metadata).get('a2a-version'), ['1.0'])
    const old = await Array.fromAsync(peer.stream(legacy, 'SendStreamingMessage', legacyGrpcMessageRequest()))
    assert.deepEqual(
      old.filter(({ statusUpdate }) => statusUpdate).map(({ statusUpdate }) => statusUpdate.final === true),
      [false, true],
    )
  })

  it('that cannot start is a plain error [F-7 B-106]', async () => {
    const peer = client((await open({ agent: () => 'ok' })).grpcPort)
    const { payload } = await peer.call(modern, 'SendMessage', grpcMessageRequest())
    const refused = async (rpc: string, message: object) =>
      Array.fromAsync(peer.stream(modern, rpc, message)).then(() => assert.fail(), refusedCallOf)
    const ended = await refused('SubscribeToTask', { id: payload.task.id })
    assert.deepEqual([ended.code, ended.reason], [9, 'UNSUPPORTED_OPERATION'])
    assert.equal((await refused('SubscribeToTask', { id: 'unknown' })).reason, 'TASK_NOT_FOUND')
    assert.equal((await refused('SendStreamingMessage', {})).reason, 'INVALID_PARAMS')
    // 0.x sends a finished task once more (B-108).
    const shown = await Array.fromAsync(peer.stream(legacy, 'TaskSubscription', { name: `tasks/${payload.task.id}` }))
    assert.deepEqual([shown.length, shown[0].task.status.state], [1, 'TASK_STATE_COMPLETED'])
  })

  it('continues after last-event-id, and has its position if the cursor extension is active [B-109]', async () => {
    const peer = client(
      (
        await open({
          extensions: [cursor()],
          agent: async function* () {
            yield 'a'
            yield 'b'
          },
        })
      ).grpcPort,
    )
    const metadata = { 'a2a-extensions': cursorExtension }
    const stream = peer.stream(modern, 'SendStreamingMessage', grpcMessageRequest(), { metadata })
    const events = await Array.fromAsync(stream)
    assert.deepEqual((await stream.metadata).get('a2a-extensions'), [cursorExtension])
    const place = (event: any): string => {
      const [inner] = Object.values(event) as any[]
      return inner.metadata[cursorExtension].cursor
    }
    const [, second, ...rest] = events
    const resumed = peer.stream(
      modern,
      'SubscribeToTask',
      { id: events[0].task.id },
      { metadata: { ...metadata, 'last-event-id': place(second) } },
    )
    assert.deepEqual(await Array.fromAsync(resumed), rest)
  })

  it('whose client leaves ends only itself [B-103]', async () => {
    const gate = Promise.withResolvers<void>()
    const server = await open({
      limits: { streamsPerCaller: 1 },
      agent: async function* () {
        yield 'a'
        await gate.promise
        yield 'b'
      },
    })
    const peer = client(server.grpcPort)
    const stream = peer.stream(modern, 'SendStreamingMessage', grpcMessageRequest())
    const reader = stream[Symbol.asyncIterator]()
    const { id } = (await reader.next()).value.task
    stream.cancel()
    await assert.rejects(async () => {
      while ((await reader.next()).done !== true);
    })
    // The slot is released as soon as the server has noticed.
    for (;;) {
      const again = peer.stream(modern, 'SubscribeToTask', { id })
      const first = await again[Symbol.asyncIterator]().next().catch(refusedCallOf)
      if ('reason' in first) {
        assert.equal(first.reason, 'RATE_LIMITED')
        continue
      }
      again.cancel()
      break
    }
    gate.resolve()
    for (let state = ''; state !== 'TASK_STATE_COMPLETED';) {
      state = (await peer.call(modern, 'GetTask', { id })).payload.status.state
      assert.notEqual(state, 'TASK_STATE_CANCELED')
    }
  })

  it('is not produced faster than it is read, and closed if it is not read at all [B-95]', async () => {
    const chunk = 'x'.repeat(20_000)
    const server = await open({
      stallMs: 300,
      limits: { streamsPerCaller: 1 },
      agent: async function* ({ text }) {
        for (let n = 0; n < (text === 'much' ? 400 : 1); n++) yield chunk
      },
    })
    const peer = client(server.grpcPort)
    const { session, stream } = openUnreadStream(server.grpcPort)
    await once(stream, 'response')
    // The client does not read. As long as the server holds the stream, there is no slot for a second one.
    for (let refused = true; refused;) {
      const other = await Array.fromAsync(
        peer.stream(modern, 'SendStreamingMessage', grpcMessageRequest('little')),
      ).catch(refusedCallOf)
      refused = 'reason' in other
      if (refused) assert.equal((other as { reason?: string }).reason, 'RATE_LIMITED')
    }
    // Only what was written by then can be read, a small part of the eight megabytes.
    let bytes = 0
    stream.on('data', (read: Buffer) => (bytes += read.length))
    const [trailers] = await once(stream, 'trailers')
    assert.equal(trailers['grpc-status'], '14')
    assert.ok(bytes < 1_000_000, `${bytes} bytes were encoded without a reader`)
    session.close()
  })
})

describe('the events of a gRPC stream', () => {
  it('hold what JSON makes of the values of an agent, and come in order', async () => {
    const server = await open({
      async *agent() {
        for (let n = 0; n < 1_000; n++) yield `${n} `
        yield artifact('data', { data: { at: new Date(0) } })
      },
    })
    const events = await Array.fromAsync(
      client(server.grpcPort).stream(modern, 'SendStreamingMessage', grpcMessageRequest()),
    )
    const parts = events.flatMap((event: any) => event.artifactUpdate?.artifact.parts ?? [])
    const text = parts.map((part: any) => part.text ?? '').join('')
    assert.equal(text, Array.from({ length: 1_000 }, (_, n) => `${n} `).join(''))
    assert.deepEqual(parts.find((part: any) => 'data' in part).data, { at: '1970-01-01T00:00:00.000Z' })
  })
})

describe('a deadline', () => {
  it('ends the wait and not the task [B-67 B-103]', async () => {
    const gate = Promise.withResolvers<void>()
    const server = await open({ agent: () => gate.promise.then(() => 'done'), openAfterMs: 5 })
    const peer = client(server.grpcPort)
    assert.equal(
      (await peer.refused(modern, 'SendMessage', grpcMessageRequest(), { deadline: Date.now() + 100 })).code,
      4,
    )
    const stream = peer.stream(modern, 'SendStreamingMessage', grpcMessageRequest(), { deadline: Date.now() + 100 })
    const [reason] = await once(stream.call.resume(), 'error').catch((error: unknown) => [error])
    assert.equal(refusedCallOf(reason).code, 4)
    gate.resolve()
    for (let done = 0; done < 2;) {
      const { tasks } = (await peer.call(modern, 'ListTasks', {})).payload
      assert.equal(tasks.length, 2)
      done = tasks.filter(({ status }: any) => status.state === 'TASK_STATE_COMPLETED').length
    }
  })
  it('ends a stream that is not read, and its status follows the unread events', async (t) => {
    const atDeadline = Promise.withResolvers<void>()
    const { end } = Duplex.prototype
    t.mock.method(Duplex.prototype, 'end', function (this: Duplex, ...given: unknown[]) {
      // Only the streams of a server respond.
      if ('respond' in this) atDeadline.resolve()
      return Reflect.apply(end, this, given) as Duplex
    })
    const gate = Promise.withResolvers<void>()
    const server = await open({
      async *agent() {
        yield artifact('unread', { text: 'x'.repeat(2_000) })
        await atDeadline.promise
        yield artifact('late', { text: 'x' })
        await gate.promise
      },
    })
    const { session, stream } = openUnreadStream(
      server.grpcPort,
      { 'grpc-timeout': '500m' },
      { initialWindowSize: 500 },
    )
    await once(stream, 'response')
    await atDeadline.promise
    await eventually(() => server.handler.openStreams() === 0, 'the end of the stream')
    const [trailers] = await once(stream.resume(), 'trailers')
    assert.equal(trailers['grpc-status'], '4')
    gate.resolve()
    session.close()
  })
})
