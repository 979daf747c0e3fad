import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { A2AError } from '../../model/error.ts'
import { modern, openGrpcServers, grpcMessageRequest } from '../../testing/fixtures/grpc-server.ts'
import { testMessage, legacyTestMessage, openServers, rpc } from '../../testing/fixtures/test-server.ts'
import type { AdmissionResult, Authenticate, AuthenticatedCall, EndedCall } from '../options.ts'

const { open, post, get } = openServers()
const grpc = openGrpcServers()
const modernly = { 'a2a-version': '1.0' }
const keyed = { ...modernly, 'x-key': 'k' }
const authenticate: Authenticate = ({ header }) => (header('x-key') === undefined ? undefined : { id: 'ann' })
const headers = { 'x-ratelimit-limit': '60', 'x-ratelimit-remaining': '59' }

/** Records what `admit` sees of each call, and returns a result that the test can change. */
function asked(admission: AdmissionResult = { headers }) {
  const asks: Pick<AuthenticatedCall, 'agent' | 'caller' | 'operation' | 'version' | 'binding' | 'header'>[] = []
  return {
    asks,
    admit: ({ agent, caller, operation, version, binding, header }: AuthenticatedCall): AdmissionResult => {
      asks.push({ agent, caller, operation, version, binding, header })
      return admission
    },
  }
}

function recordAnswers() {
  const answers: EndedCall[] = []
  return { answers, onOutcome: (call: EndedCall) => void answers.push(call) }
}

describe('admit', () => {
  it('is called once for each call of any binding, with the caller and the operation', async () => {
    const { asks, admit } = asked()
    const handler = open({ authenticate, admit })
    await post(handler, rpc('SendMessage', { message: testMessage() }), keyed)
    await post(handler, rpc('message/send', { message: legacyTestMessage() }), { 'x-key': 'k' })
    await get(handler, '/tasks', keyed)
    const seen = asks.map(({ agent, caller, operation, version, binding }) =>
      [agent, caller.id, operation, version, binding].join(' '),
    )
    assert.deepEqual(seen, [
      'default ann SendMessage 1.0 JSONRPC',
      'default ann SendMessage 0.3 JSONRPC',
      'default ann ListTasks 1.0 HTTP+JSON',
    ])
    assert.equal(asks[0]?.header('x-key'), 'k')
  })

  it('is called by gRPC, and its headers are sent as metadata', async () => {
    const { asks, admit } = asked()
    const server = await grpc.open({ agent: () => 'x', admit })
    const peer = grpc.client(server.grpcPort)
    const { metadata } = await peer.call(modern, 'SendMessage', grpcMessageRequest())
    assert.deepEqual(metadata.get('x-ratelimit-remaining'), ['59'])
    const stream = peer.stream(modern, 'SendStreamingMessage', grpcMessageRequest())
    await Array.fromAsync(stream)
    assert.deepEqual((await stream.metadata).get('x-ratelimit-remaining'), ['59'])
    const refused = await peer.refused(modern, 'GetTask', { id: 'none' })
    assert.deepEqual(refused.metadata.get('x-ratelimit-remaining'), ['59'])
    assert.deepEqual(
      asks.map(({ operation, binding }) => `${operation} ${binding}`),
      ['SendMessage GRPC', 'SendStreamingMessage GRPC', 'GetTask GRPC'],
    )
  })

  it('adds headers to every response to an authenticated caller: results, streams, errors, and cards', async () => {
    const { asks, admit } = asked()
    const handler = open({ authenticate, admit })
    const stream = new Request('http://localhost/message:stream', {
      method: 'POST',
      headers: { ...keyed, 'content-type': 'application/json' },
      body: JSON.stringify({ message: testMessage() }),
    })
    const response = await handler.fetch(stream)
    await response.text()
    const answers = [
      response,
      await post(handler, { message: testMessage() }, keyed, '/message:send'),
      await get(handler, '/tasks/none', keyed),
      await post(handler, '{', keyed),
      await post(handler, rpc('NoSuchMethod'), keyed),
      await post(handler, '{', keyed, '/message:send'),
    ]
    for (const answer of answers) assert.equal(answer.headers.get('x-ratelimit-remaining'), '59', String(answer.status))
    assert.deepEqual(
      asks.map(({ operation }) => operation),
      ['SendStreamingMessage', 'SendMessage', 'GetTask', undefined, undefined, undefined],
    )
    const unauthenticated = await get(handler, '/tasks/none', modernly)
    assert.deepEqual([unauthenticated.status, unauthenticated.headers.get('x-ratelimit-remaining')], [401, null])
  })

  it('refuses before the agent runs, in the format of each binding, with the retry time', async () => {
    let runs = 0
    const refuse = new A2AError('RATE_LIMITED', 'Too many calls', { retryAfterSeconds: '7' })
    const { admit } = asked({ headers, refuse })
    const handler = open({ agent: () => void (runs += 1), admit })
    const called = await post(handler, rpc('SendMessage', { message: testMessage() }), modernly)
    assert.deepEqual([called.status, called.json.error.code], [429, -32092])
    const rest = await post(handler, { message: testMessage() }, modernly, '/message:send')
    assert.deepEqual([rest.status, rest.json.error.status], [429, 'RESOURCE_EXHAUSTED'])
    const malformed = await post(handler, '{', modernly)
    for (const answer of [called, rest, malformed]) {
      assert.equal(answer.headers.get('retry-after'), '7')
      assert.equal(answer.headers.get('x-ratelimit-remaining'), '59')
    }
    const server = await grpc.open({ agent: () => void (runs += 1), admit })
    const { code, reason, metadata } = await grpc
      .client(server.grpcPort)
      .refused(modern, 'SendMessage', grpcMessageRequest())
    assert.deepEqual([code, reason, metadata.get('x-ratelimit-limit')], [8, 'RATE_LIMITED', ['60']])
    assert.equal(runs, 0)
  })

  it('may refuse by throwing, and admits no caller if it fails', async () => {
    const denied = open({
      admit: () => {
        throw new A2AError('PERMISSION_DENIED', 'Not this one')
      },
    })
    assert.equal((await get(denied, '/tasks/x', modernly)).status, 403)
    const broken = open({ admit: () => Promise.reject(new Error('the secret of the server')) })
    const { status, json } = await get(broken, '/tasks/x', modernly)
    assert.equal(status, 500)
    assert.doesNotMatch(JSON.stringify(json), /secret/)
  })

  it('is called for the extended card of 0.2, which is both a document and a call', async () => {
    const { asks, admit } = asked()
    const handler = open({ authenticate, admit, extendedCard: { description: 'More' } })
    const { status, headers: sent } = await get(handler, '/agent/authenticatedExtendedCard', { 'x-key': 'k' })
    assert.deepEqual([status, sent.get('x-ratelimit-remaining')], [200, '59'])
    assert.deepEqual(
      asks.map(({ operation }) => operation),
      ['GetExtendedAgentCard'],
    )
  })
})

describe('onOutcome', () => {
  const brief = ({ caller, endpoint, operation, binding, version, outcome, status }: EndedCall): string =>
    [caller?.id ?? '-', endpoint, operation ?? '-', binding, version ?? '-', outcome, status].join(' ')

  it('gets the address that a trusted proxy reports', async () => {
    for (const [trustProxy, seen] of [
      [true, '198.51.100.7'],
      [false, undefined],
    ] as const) {
      const { answers, onOutcome } = recordAnswers()
      await get(open({ authenticate, onOutcome, trustProxy }), '/tasks/x', {
        ...modernly,
        'x-forwarded-for': '203.0.113.9, 198.51.100.7',
      })
      assert.deepEqual(
        answers.map(({ clientAddress }) => clientAddress),
        [seen],
      )
    }
  })

  it('gets every request once: calls, cards, refusals and unknown paths', async () => {
    const { answers, onOutcome } = recordAnswers()
    const handler = open({ authenticate, onOutcome })
    const sent = await post(handler, rpc('SendMessage', { message: testMessage() }), keyed)
    const { id } = sent.json.result.task
    await get(handler, `/tasks/${id}`, keyed)
    await get(handler, '/tasks/none', keyed)
    await post(handler, rpc('GetTask', { id: 'none' }), keyed)
    await get(handler, '/tasks/none', modernly)
    await get(handler, '/.well-known/agent-card.json')
    await post(handler, '{', keyed)
    await get(handler, '/nowhere', modernly)
    await get(handler, '/a2a', modernly)
    await get(handler, '/healthz')
    assert.deepEqual(answers.map(brief), [
      'ann call SendMessage JSONRPC 1.0 OK 200',
      'ann call GetTask HTTP+JSON 1.0 OK 200',
      'ann call GetTask HTTP+JSON 1.0 TASK_NOT_FOUND 404',
      'ann call GetTask JSONRPC 1.0 TASK_NOT_FOUND 200',
      '- call GetTask HTTP+JSON 1.0 UNAUTHENTICATED 401',
      '- card - HTTP+JSON - OK 200',
      'ann call - JSONRPC 1.0 PARSE_ERROR 200',
      '- call - HTTP+JSON 1.0 METHOD_NOT_FOUND 404',
      '- call - JSONRPC 1.0 METHOD_NOT_ALLOWED 405',
    ])
    assert.deepEqual(
      answers.slice(0, 4).map(({ taskId }) => taskId),
      [id, id, 'none', 'none'],
    )
    assert.ok(answers.every(({ agent, durationMs }) => agent === 'default' && durationMs >= 0))
  })

  it('gets a stream when its first event is ready, with the task that it opened', async () => {
    const { answers, onOutcome } = recordAnswers()
    const go = Promise.withResolvers<void>()
    const handler = open({
      async *agent() {
        yield 'one'
        await go.promise
        yield 'two'
      },
      onOutcome,
    })
    const request = new Request('http://localhost/message:stream', {
      method: 'POST',
      headers: { ...modernly, 'content-type': 'application/json' },
      body: JSON.stringify({ message: testMessage() }),
    })
    const response = await handler.fetch(request)
    assert.equal(answers.length, 0)
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    const first = new TextDecoder().decode((await reader.read()).value)
    assert.deepEqual(answers.map(brief), ['anonymous call SendStreamingMessage HTTP+JSON 1.0 OK 200'])
    assert.ok(answers[0]?.taskId !== undefined && first.includes(answers[0].taskId))
    go.resolve()
    while (!(await reader.read()).done);
    assert.equal(answers.length, 1)
  })

  it('gets a stream that no client read, one that could not begin, and gRPC calls', async () => {
    const { answers, onOutcome } = recordAnswers()
    const server = await grpc.open({ agent: () => 'x', onOutcome })
    const peer = grpc.client(server.grpcPort)
    const { payload } = await peer.call(modern, 'SendMessage', grpcMessageRequest())
    await Array.fromAsync(peer.stream(modern, 'SendStreamingMessage', grpcMessageRequest()))
    await peer.refused(modern, 'GetTask', { id: 'none' })
    assert.deepEqual(answers.map(brief), [
      'anonymous call SendMessage GRPC 1.0 OK 200',
      'anonymous call SendStreamingMessage GRPC 1.0 OK 200',
      'anonymous call GetTask GRPC 1.0 TASK_NOT_FOUND 404',
    ])
    assert.equal(answers[0]?.taskId, payload.task.id)
    assert.equal(answers[0]?.remoteAddress, '127.0.0.1')
    answers.length = 0
    const handler = open({ onOutcome })
    const subscribed = await get(handler, '/tasks/none:subscribe', modernly)
    assert.equal(subscribed.status, 404)
    const left = await handler.fetch(
      new Request('http://localhost/message:stream', {
        method: 'POST',
        headers: { ...modernly, 'content-type': 'application/json' },
        body: JSON.stringify({ message: testMessage() }),
      }),
    )
    await left.body?.cancel()
    assert.deepEqual(answers.map(brief), [
      'anonymous call SubscribeToTask HTTP+JSON 1.0 TASK_NOT_FOUND 404',
      'anonymous call SendStreamingMessage HTTP+JSON 1.0 OK 200',
    ])
  })

  it('gets calls that admit refused, and private cards that were sent', async () => {
    const { answers, onOutcome } = recordAnswers()
    const refuse = new A2AError('RATE_LIMITED', 'Later')
    const admit = ({ operation }: AuthenticatedCall): AdmissionResult =>
      operation === undefined ? { headers } : { refuse }
    const handler = open({ authenticate, admit, onOutcome, protectCard: true })
    await get(handler, '/tasks/x', keyed)
    const shown = await get(handler, '/.well-known/agent-card.json', keyed)
    assert.equal(shown.headers.get('x-ratelimit-remaining'), '59')
    await get(handler, '/.well-known/agent-card.json')
    assert.deepEqual(answers.map(brief), [
      'ann call GetTask HTTP+JSON 1.0 RATE_LIMITED 429',
      'ann card - HTTP+JSON - OK 200',
      '- card - HTTP+JSON - UNAUTHENTICATED 401',
    ])
  })

  it('cannot break a response', async () => {
    const handler = open({
      onOutcome: () => {
        throw new Error('the disk is full')
      },
    })
    assert.equal((await get(handler, '/tasks/none', modernly)).status, 404)
  })
})
