import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { readSse } from '../bindings/sse-reader.ts'
import { A2AError } from '../model/error.ts'
import { cursorExtension } from '../model/extension.ts'
import { memoryStore } from '../stores/memory.ts'
import type { Agent } from '../agents/agent.ts'
import { createHandler, type EngineLog, type Handler, type HandlerOptions } from './index.ts'

const opened: Handler[] = []
after(() => Promise.all(opened.map((handler) => handler.close())))

type Over = Partial<Omit<HandlerOptions, 'agents'>>
const quiet: EngineLog = { debug() {}, info() {}, warn() {}, error() {} }
function open(over: Over = {}): Handler {
  const agent: Agent = ({ text }) => `Hello, ${text}!`
  const handler = createHandler({ store: memoryStore(), agent, log: quiet, ...over } as HandlerOptions)
  opened.push(handler)
  return handler
}
let count = 0
const messageOf = (text = 'hi', over: object = {}) => ({ messageId: `m${++count}`, role: 'ROLE_USER', parts: [{ text }], ...over })
const oldMessageOf = (text = 'hi') => ({ kind: 'message', messageId: `m${++count}`, role: 'user', parts: [{ kind: 'text', text }] })

async function post(handler: Handler, body: unknown, headers: Record<string, string> = {}, path = '/a2a') {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const init = { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: text }
  const response = await handler.fetch(new Request(`http://localhost${path}`, init))
  return { status: response.status, headers: response.headers, json: JSON.parse((await response.text()) || '{}') }
}
const rpc = (method: string, params?: unknown) => ({ jsonrpc: '2.0', id: 'r', method, params })
async function get(handler: Handler, path: string, headers: Record<string, string> = {}, method = 'GET') {
  const response = await handler.fetch(new Request(`http://localhost${path}`, { method, headers }))
  return { status: response.status, headers: response.headers, json: JSON.parse((await response.text()) || '{}') }
}

describe('a call over JSON-RPC', () => {
  it('is answered in the version of its header, which is echoed [B-6]', async () => {
    const handler = open()
    const modern = await post(handler, rpc('SendMessage', { message: messageOf() }), { 'a2a-version': '1.0' })
    assert.equal(modern.json.result.task.status.state, 'TASK_STATE_COMPLETED')
    assert.equal(modern.headers.get('a2a-version'), '1.0')
    for (const version of ['0.3', '0.2']) {
      const old = await post(handler, rpc('message/send', { message: oldMessageOf() }), { 'a2a-version': version })
      assert.equal(old.json.result.kind, 'task')
      assert.equal(old.json.result.status.state, 'completed')
      assert.equal(old.headers.get('a2a-version'), version)
    }
  })

  it('without a header is read by its method [B-3 B-10]', async () => {
    const handler = open()
    assert.ok((await post(handler, rpc('SendMessage', { message: messageOf() }))).json.result.task)
    assert.equal((await post(handler, rpc('message/send', { message: oldMessageOf() }))).json.result.kind, 'task')
  })

  it('with a header that does not fit its method is -32601 in the shape of the header [B-6 B-10]', async () => {
    const handler = open()
    const crossed = await post(handler, rpc('message/send', { message: oldMessageOf() }), { 'a2a-version': '1.0' })
    assert.equal(crossed.json.error.code, -32601)
    assert.ok(Array.isArray(crossed.json.error.data))
    const back = await post(handler, rpc('SendMessage', { message: messageOf() }), { 'a2a-version': '0.3' })
    assert.equal(back.json.error.code, -32601)
    assert.equal(back.json.error.data.reason, 'METHOD_NOT_FOUND')
    const strict = await post(open({ strict: true }), rpc('SendMessage', { message: messageOf() }))
    assert.equal(strict.json.error.code, -32601)
  })

  it('that names a version we do not have is -32009, with its id and the versions we have [B-5 B-7]', async () => {
    const { status, json } = await post(open(), rpc('SendMessage', { message: messageOf() }), { 'a2a-version': '0.5' })
    assert.equal(status, 200)
    assert.equal(json.id, 'r')
    assert.equal(json.error.code, -32009)
    assert.equal(json.error.data[0].reason, 'VERSION_NOT_SUPPORTED')
    assert.equal(json.error.data[0].metadata.supportedVersions, '1.0,0.3,0.2')
  })

  it('may be made at the root, at /a2a and at /api/a2a', async () => {
    const handler = open()
    for (const path of ['/', '/a2a', '/a2a/', '/api/a2a']) {
      assert.ok((await post(handler, rpc('SendMessage', { message: messageOf() }), {}, path)).json.result, path)
    }
    const wrong = await get(handler, '/a2a')
    assert.deepEqual([wrong.status, wrong.headers.get('allow')], [405, 'POST'])
  })
})

describe('a call over REST', () => {
  it('is answered in the version of its path or header [B-6 B-11]', async () => {
    const handler = open()
    const modern = await post(handler, { message: messageOf() }, {}, '/message:send')
    assert.equal(modern.headers.get('content-type'), 'application/a2a+json')
    const { id } = modern.json.task
    assert.equal((await get(handler, `/tasks/${id}`)).json.status.state, 'TASK_STATE_COMPLETED')
    const old = await post(handler, { message: { messageId: 'x1', role: 'ROLE_USER', content: [{ text: 'hi' }] } }, {}, '/v1/message:send')
    assert.equal(old.headers.get('content-type'), 'application/json')
    assert.equal(old.json.task.status.state, 'TASK_STATE_COMPLETED')
    assert.equal((await get(handler, `/v1/tasks/${id}`, { 'a2a-version': '0.3' })).json.id, id)
    assert.equal((await get(handler, `/v1/tasks/${id}`, { 'a2a-version': '1.0' })).status, 404)
    assert.equal((await get(handler, `/tasks/${id}`, { 'a2a-version': '0.3' })).status, 404)
    assert.equal((await get(open({ strict: true }), `/tasks/${id}`)).headers.get('a2a-version'), '0.3')
  })

  it('takes both media types, whatever their parameters, and no others [F-8]', async () => {
    const handler = open()
    for (const type of ['application/json', 'application/a2a+json', 'Application/JSON; charset=utf-8']) {
      assert.equal((await post(handler, { message: messageOf() }, { 'content-type': type }, '/message:send')).status, 200)
    }
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonx', '']) {
      const refused = await post(handler, { message: messageOf() }, { 'content-type': type }, '/message:send')
      assert.equal(refused.status, 415, type)
      assert.equal(refused.json.error.details[0].reason, 'UNSUPPORTED_MEDIA_TYPE')
    }
  })

  it('keeps tasks out of caches, and answers HEAD without a body', async () => {
    const handler = open()
    const { id } = (await post(handler, { message: messageOf() }, {}, '/message:send')).json.task
    assert.equal((await get(handler, `/tasks/${id}`)).headers.get('cache-control'), 'no-store')
    const head = await get(handler, `/tasks/${id}`, {}, 'HEAD')
    assert.deepEqual([head.status, head.json], [200, {}])
  })

  it('says 404 for an unknown path, 405 with Allow for a wrong verb, and 400 for a bad escape [F-9]', async () => {
    const handler = open()
    assert.equal((await get(handler, '/nothing/here')).status, 404)
    assert.equal((await get(handler, '/some-tenant/tasks/x')).status, 404)
    const wrong = await get(handler, '/tasks/x', {}, 'DELETE')
    assert.deepEqual([wrong.status, wrong.headers.get('allow')], [405, 'GET, HEAD'])
    const bad = await get(handler, '/tasks/%ff')
    assert.deepEqual([bad.status, bad.json.error.details[0].reason], [400, 'INVALID_PARAMS'])
  })

  it('cancels with an empty body, a null and nothing at all [F-9]', async () => {
    const handler = open()
    for (const body of ['{}', 'null', undefined]) {
      const init = { method: 'POST', ...(body === undefined ? {} : { body, headers: { 'content-type': 'application/json' } }) }
      const response = await handler.fetch(new Request('http://localhost/tasks/unknown:cancel', init))
      assert.equal(response.status, 404)
      assert.equal((await response.json()).error.details[0].reason, 'TASK_NOT_FOUND')
    }
  })
})

describe('a stream', () => {
  const streaming = async (handler: Handler, headers: Record<string, string> = {}, path = '/message:stream', body: unknown = { message: messageOf() }) => {
    const init = { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) }
    const response = await handler.fetch(new Request(`http://localhost${path}`, init))
    return { response, events: await Array.fromAsync(readSse(response.body as ReadableStream<Uint8Array>)) }
  }

  it('has the headers that keep proxies from holding it back, and a cursor with every event [F-4 B-109]', async () => {
    const { response, events } = await streaming(open())
    assert.equal(response.headers.get('content-type'), 'text/event-stream')
    assert.equal(response.headers.get('cache-control'), 'no-cache')
    assert.equal(response.headers.get('x-accel-buffering'), 'no')
    const ids = events.map(({ id }) => Number(id))
    assert.ok(ids.every((id, index) => id > 0 && id > (ids[index - 1] ?? 0)))
    assert.ok('task' in JSON.parse(events[0]?.data ?? ''))
  })

  it('carries the whole envelope with the request id in each document of JSON-RPC [F-6]', async () => {
    const { events } = await streaming(open(), {}, '/a2a', { ...rpc('message/stream', { message: oldMessageOf() }), id: 0 })
    const documents = events.map(({ data }) => JSON.parse(data))
    assert.ok(documents.every(({ jsonrpc, id }) => jsonrpc === '2.0' && id === 0))
    assert.equal(documents.at(0).result.kind, 'task')
    assert.equal(documents.at(-1).result.final, true)
    assert.ok(documents.slice(1, -1).every(({ result }) => result.final !== true))
  })

  it('goes on after Last-Event-ID, from the header or the query, and ignores what is no cursor', async () => {
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

  it('of an agent that does not stream is refused, subscription included [B-88 B-106]', async () => {
    const handler = open({ streaming: false })
    assert.equal((await post(handler, { message: messageOf() }, {}, '/message:stream')).json.error.details[0].reason, 'UNSUPPORTED_OPERATION')
    assert.equal((await post(handler, rpc('tasks/resubscribe', { id: 'x' }))).json.error.code, -32004)
    assert.equal((await get(handler, '/.well-known/agent-card.json')).json.capabilities.streaming, false)
  })

  it('says where its events stand, if the cursor extension is asked for, and not otherwise [B-109 B-143]', async () => {
    const handler = open()
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
    const { response, events } = await streaming(handler, old, '/a2a', rpc('message/stream', { message: oldMessageOf() }))
    assert.equal(response.headers.get('x-a2a-extensions'), cursorExtension)
    assert.ok(events.every(({ data }) => data.includes(cursorExtension)))
  })

  it('is one of so many for each caller, and gives its place back however it ends [B-170]', async () => {
    let release: () => void = () => {}
    const held = new Promise<void>((resolve) => (release = resolve))
    const handler = open({
      limits: { streamsPerCaller: 1 },
      async *agent() {
        yield 'a'
        await held
      },
    } as Over)
    const start = (): Promise<Response> =>
      handler.fetch(
        new Request('http://localhost/message:stream', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ message: messageOf() }),
        }),
      )
    const first = await start()
    const second = await start()
    assert.deepEqual([first.status, second.status], [200, 429])
    assert.equal(second.headers.get('retry-after'), '1')
    assert.equal((await second.json()).error.details[0].reason, 'RATE_LIMITED')
    await first.body?.cancel()
    const third = await start()
    assert.equal(third.status, 200)
    release()
    await third.text()
    assert.equal((await post(handler, { message: {} }, {}, '/message:stream')).status, 400)
    assert.equal((await start()).status, 200)
  })

  it('gives the same bytes to all its readers of one dialect', async () => {
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

describe('extensions', () => {
  const required = { extensions: [{ uri: 'urn:must', required: true }] }

  it('that a card requires must be asked for by who sends, and by nobody else [B-144 B-145]', async () => {
    const handler = open(required)
    const refused = await post(handler, rpc('SendMessage', { message: messageOf() }))
    assert.equal(refused.json.error.code, -32008)
    assert.equal(refused.json.error.data[0].metadata.missingExtensions, 'urn:must')
    const old = await post(handler, rpc('message/send', { message: oldMessageOf() }))
    assert.equal(old.json.error.code, -32600)
    assert.equal((await post(handler, { message: messageOf() }, { 'a2a-extensions': 'urn:must/v2' }, '/message:send')).status, 400)
    assert.equal((await post(handler, { message: messageOf() }, {}, '/message:stream')).status, 400)
    assert.equal((await post(handler, rpc('GetTask', { id: 'x' }))).json.error.code, -32001)
    const accepted = await post(handler, rpc('SendMessage', { message: messageOf() }), { 'a2a-extensions': 'urn:must' })
    assert.ok(accepted.json.result)
    assert.equal(accepted.headers.get('a2a-extensions'), 'urn:must')
  })

  it('that are active reach the agent, and only those', async () => {
    let seen: readonly string[] = []
    const handler = open({
      ...required,
      agent(turn) {
        seen = turn.extensions
        return 'x'
      },
    } as Over)
    await post(handler, { message: messageOf() }, { 'a2a-extensions': 'urn:must,urn:other, urn:must' }, '/message:send')
    assert.deepEqual(seen, ['urn:must'])
  })
})

describe('what is not there', () => {
  it('is refused as such: push, in all its operations and inline [B-71 B-115]', async () => {
    const handler = open()
    const push = { taskPushNotificationConfig: { url: 'https://hooks.example/x' } }
    for (const call of [
      rpc('CreateTaskPushNotificationConfig', { taskId: 't', url: 'https://hooks.example/x' }),
      rpc('GetTaskPushNotificationConfig', { taskId: 't', id: 'c' }),
      rpc('ListTaskPushNotificationConfigs', { taskId: 't' }),
      rpc('DeleteTaskPushNotificationConfig', { taskId: 't', id: 'c' }),
      rpc('tasks/pushNotificationConfig/set', { taskId: 't', pushNotificationConfig: { url: 'https://hooks.example/x' } }),
      rpc('SendMessage', { message: messageOf(), configuration: push }),
    ]) {
      assert.equal((await post(handler, call)).json.error?.code, -32003, call.method)
    }
  })

  it('is refused as such: a tenant, with the name of the field', async () => {
    const refused = await post(open(), rpc('SendMessage', { tenant: 'acme', message: messageOf() }))
    assert.equal(refused.json.error.code, -32602)
    assert.match(JSON.stringify(refused.json.error.data), /"field":"tenant"/)
    assert.ok((await post(open(), rpc('SendMessage', { tenant: '', message: messageOf() }))).json.result)
  })

  it('is refused as such: listing in 0.x [B-87]', async () => {
    assert.equal((await post(open(), rpc('tasks/list', {}))).json.error.code, -32601)
  })
})

describe('the extended card', () => {
  const authenticate: HandlerOptions['authenticate'] = ({ header }) => {
    const who = header('authorization')
    return who === undefined ? { id: 'anonymous', anonymous: true } : { id: who }
  }
  const path = '/extendedAgentCard'

  it('is unsupported where there is none [B-136]', async () => {
    const handler = open()
    assert.equal((await get(handler, path)).json.error.details[0].reason, 'UNSUPPORTED_OPERATION')
    assert.equal((await post(handler, rpc('agent/getAuthenticatedExtendedCard'))).json.error.code, -32004)
    assert.equal((await get(handler, '/agent/authenticatedExtendedCard')).status, 404)
    assert.equal((await get(handler, '/a2a/agent/authenticatedExtendedCard')).status, 404)
    assert.equal((await get(handler, '/.well-known/agent-card.json')).json.capabilities.extendedAgentCard, undefined)
  })

  it('is shown in every version to who proved who he is, and 401 to others [B-137 B-138]', async () => {
    const handler = open({ authenticate, extendedCard: (caller) => ({ description: `For ${caller.id}` }) } as Over)
    const known = { authorization: 'ann' }
    assert.equal((await get(handler, path, known)).json.description, 'For ann')
    assert.equal((await get(handler, path, known)).headers.get('cache-control'), 'no-store')
    assert.equal((await post(handler, rpc('GetExtendedAgentCard'), known)).json.result.description, 'For ann')
    assert.equal((await post(handler, rpc('agent/getAuthenticatedExtendedCard'), known)).json.result.url, 'http://localhost/a2a')
    assert.equal((await get(handler, '/v1/card', known)).json.description, 'For ann')
    for (const place of ['/agent/authenticatedExtendedCard', '/a2a/agent/authenticatedExtendedCard']) {
      const oldest = await get(handler, place, known)
      assert.deepEqual([oldest.status, oldest.json.description, oldest.json.url], [200, 'For ann', 'http://localhost/a2a'])
      assert.deepEqual([(await get(handler, place)).status, (await get(handler, place)).headers.get('www-authenticate')], [401, 'Bearer'])
    }
    assert.equal((await get(handler, path)).status, 401)
    assert.equal((await get(handler, '/.well-known/agent-card.json')).json.capabilities.extendedAgentCard, true)
  })

  it('may be missing for a caller, or refused to one [B-136]', async () => {
    const handler = open({
      authenticate,
      extendedCard(caller) {
        if (caller.id === 'bob') throw new A2AError('PERMISSION_DENIED', 'Not for bob')
        return undefined
      },
    } as Over)
    assert.equal((await post(handler, rpc('GetExtendedAgentCard'), { authorization: 'ann' })).json.error.code, -32007)
    assert.equal((await get(handler, '/agent/authenticatedExtendedCard', { authorization: 'ann' })).status, 404)
    assert.equal((await get(handler, path, { authorization: 'bob' })).status, 403)
    assert.equal((await get(handler, '/agent/authenticatedExtendedCard', { authorization: 'bob' })).status, 403)
  })
})
