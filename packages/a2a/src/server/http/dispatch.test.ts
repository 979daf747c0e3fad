import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { A2AError } from '../../model/error.ts'
import { connect } from '../../client/connect.ts'
import { memoryStore } from '../../stores/memory/memory-store.ts'
import { testMessage, legacyTestMessage, openServers, rpc } from '../../testing/fixtures/test-server.ts'
import { createHandler, type ServerOptions } from '../index.ts'

const { open, post, get } = openServers()

describe('a call over JSON-RPC', () => {
  it('is answered in the version of its header, which is echoed [B-6]', async () => {
    const handler = open()
    const modern = await post(handler, rpc('SendMessage', { message: testMessage() }), { 'a2a-version': '1.0' })
    assert.equal(modern.json.result.task.status.state, 'TASK_STATE_COMPLETED')
    assert.equal(modern.headers.get('a2a-version'), '1.0')
    for (const version of ['0.3', '0.2']) {
      const old = await post(handler, rpc('message/send', { message: legacyTestMessage() }), { 'a2a-version': version })
      assert.equal(old.json.result.kind, 'task')
      assert.equal(old.json.result.status.state, 'completed')
      assert.equal(old.headers.get('a2a-version'), version)
    }
  })

  it('without a header is read by its method [B-3 B-10]', async () => {
    const handler = open()
    assert.ok((await post(handler, rpc('SendMessage', { message: testMessage() }))).json.result.task)
    assert.equal((await post(handler, rpc('message/send', { message: legacyTestMessage() }))).json.result.kind, 'task')
  })

  it('with a header that does not match its method is -32601 in the format of the header [B-6 B-10]', async () => {
    const handler = open()
    const crossed = await post(handler, rpc('message/send', { message: legacyTestMessage() }), { 'a2a-version': '1.0' })
    assert.equal(crossed.json.error.code, -32601)
    assert.ok(Array.isArray(crossed.json.error.data))
    const back = await post(handler, rpc('SendMessage', { message: testMessage() }), { 'a2a-version': '0.3' })
    assert.equal(back.json.error.code, -32601)
    assert.equal(back.json.error.data.reason, 'METHOD_NOT_FOUND')
    const strict = await post(open({ strict: true }), rpc('SendMessage', { message: testMessage() }))
    assert.equal(strict.json.error.code, -32601)
  })

  it('with a method that no version has is -32601, also if every object has a member of that name [B-37]', async () => {
    const handler = open()
    for (const method of ['tasks/send', ' GetTask', 'constructor', '__proto__', 'toString']) {
      for (const version of ['', '0.2', '0.3', '1.0']) {
        const { json } = await post(handler, rpc(method), { 'a2a-version': version })
        assert.deepEqual([json.error.code, json.id], [-32601, 'r'], `${method} in ${version}`)
      }
    }
  })

  it('with an unsupported version is -32009, with its id and the supported versions [B-5 B-7]', async () => {
    const { status, json } = await post(open(), rpc('SendMessage', { message: testMessage() }), {
      'a2a-version': '0.5',
    })
    assert.equal(status, 200)
    assert.equal(json.id, 'r')
    assert.equal(json.error.code, -32009)
    assert.equal(json.error.data[0].reason, 'VERSION_NOT_SUPPORTED')
    assert.equal(json.error.data[0].metadata.supportedVersions, '1.0,0.3,0.2')
  })

  it('may be made at the root, at /a2a and at /api/a2a', async () => {
    const handler = open()
    for (const path of ['/', '/a2a', '/a2a/', '/api/a2a']) {
      assert.ok((await post(handler, rpc('SendMessage', { message: testMessage() }), {}, path)).json.result, path)
    }
    const wrong = await get(handler, '/a2a')
    assert.deepEqual([wrong.status, wrong.headers.get('allow')], [405, 'POST'])
  })
})

describe('a call over REST', () => {
  it('is answered in the version of its path or header [B-6 B-11]', async () => {
    const handler = open()
    const modern = await post(handler, { message: testMessage() }, {}, '/message:send')
    assert.equal(modern.headers.get('content-type'), 'application/a2a+json')
    const { id } = modern.json.task
    assert.equal((await get(handler, `/tasks/${id}`)).json.status.state, 'TASK_STATE_COMPLETED')
    const old = await post(
      handler,
      { message: { messageId: 'x1', role: 'ROLE_USER', content: [{ text: 'hi' }] } },
      {},
      '/v1/message:send',
    )
    assert.equal(old.headers.get('content-type'), 'application/json')
    assert.equal(old.json.task.status.state, 'TASK_STATE_COMPLETED')
    assert.equal((await get(handler, `/v1/tasks/${id}`, { 'a2a-version': '0.3' })).json.id, id)
    assert.equal((await get(handler, `/v1/tasks/${id}`, { 'a2a-version': '1.0' })).status, 404)
    assert.equal((await get(handler, `/tasks/${id}`, { 'a2a-version': '0.3' })).status, 404)
    assert.equal((await get(open({ strict: true }), `/tasks/${id}`)).headers.get('a2a-version'), '0.3')
  })

  it('accepts both media types, with any parameters, and no others [F-8]', async () => {
    const handler = open()
    for (const type of ['application/json', 'application/a2a+json', 'Application/JSON; charset=utf-8']) {
      assert.equal(
        (await post(handler, { message: testMessage() }, { 'content-type': type }, '/message:send')).status,
        200,
      )
    }
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonx', '']) {
      const refused = await post(handler, { message: testMessage() }, { 'content-type': type }, '/message:send')
      assert.equal(refused.status, 415, type)
      assert.equal(refused.json.error.details[0].reason, 'UNSUPPORTED_MEDIA_TYPE')
    }
  })

  it('labels results and errors of 1.0 as plain JSON for clients that accept it, and streams as streams [F-8]', async () => {
    const handler = open()
    const accept = { accept: 'application/json' }
    const typeOf = ({ headers }: { headers: Headers }): string | null => headers.get('content-type')
    const sent = await post(handler, { message: testMessage() }, accept, '/message:send')
    assert.deepEqual([sent.status, typeOf(sent)], [200, 'application/json'])
    assert.equal(sent.json.task.status.state, 'TASK_STATE_COMPLETED')
    for (const path of ['/tasks/nope', '/nothing/here']) {
      const refused = await get(handler, path, accept)
      assert.deepEqual([refused.status, typeOf(refused)], [404, 'application/json'], path)
      assert.equal(refused.json.error.code, 404)
    }
    assert.equal(typeOf(await get(handler, '/tasks/nope', { accept: '*/*' })), 'application/a2a+json')
    const wrongVerb = await get(handler, '/.well-known/agent-card.json', { ...accept, 'a2a-version': '1.0' }, 'DELETE')
    assert.deepEqual([wrongVerb.status, typeOf(wrongVerb)], [405, 'application/json'])
    const init = { method: 'POST', headers: { ...accept, 'content-type': 'application/json' } }
    const body = JSON.stringify({ message: testMessage() })
    const stream = await handler.fetch(new Request('http://localhost/message:stream', { ...init, body }))
    assert.match(typeOf(stream) ?? '', /^text\/event-stream/)
    await stream.text()
  })

  it('keeps tasks out of caches, and answers HEAD without a body', async () => {
    const handler = open()
    const { id } = (await post(handler, { message: testMessage() }, {}, '/message:send')).json.task
    assert.equal((await get(handler, `/tasks/${id}`)).headers.get('cache-control'), 'no-store')
    const head = await get(handler, `/tasks/${id}`, {}, 'HEAD')
    assert.deepEqual([head.status, head.json], [200, {}])
  })

  it('returns 404 for an unknown path, 405 with Allow for a wrong verb, and 400 for a bad escape [F-9]', async () => {
    const handler = open()
    assert.equal((await get(handler, '/nothing/here')).status, 404)
    assert.equal((await get(handler, '/some-tenant/tasks/x')).status, 404)
    const wrong = await get(handler, '/tasks/x', {}, 'DELETE')
    assert.deepEqual([wrong.status, wrong.headers.get('allow')], [405, 'GET, HEAD'])
    const bad = await get(handler, '/tasks/%ff')
    assert.deepEqual([bad.status, bad.json.error.details[0].reason], [400, 'INVALID_PARAMS'])
  })

  it('cancels with an empty body, a null and no body [F-9]', async () => {
    const handler = open()
    for (const body of ['{}', 'null', undefined]) {
      const init = {
        method: 'POST',
        ...(body === undefined ? {} : { body, headers: { 'content-type': 'application/json' } }),
      }
      const response = await handler.fetch(new Request('http://localhost/tasks/unknown:cancel', init))
      assert.equal(response.status, 404)
      assert.equal(JSON.parse(await response.text()).error.details[0].reason, 'TASK_NOT_FOUND')
    }
  })
})

describe('extensions', () => {
  const required = { extensions: [{ uri: 'urn:must', required: true }] }

  it('that a card requires must be requested when sending, and only then [B-144 B-145]', async () => {
    const handler = open(required)
    const refused = await post(handler, rpc('SendMessage', { message: testMessage() }))
    assert.equal(refused.json.error.code, -32008)
    assert.equal(refused.json.error.data[0].metadata.missingExtensions, 'urn:must')
    const old = await post(handler, rpc('message/send', { message: legacyTestMessage() }))
    assert.equal(old.json.error.code, -32600)
    assert.equal(
      (await post(handler, { message: testMessage() }, { 'a2a-extensions': 'urn:must/v2' }, '/message:send')).status,
      400,
    )
    assert.equal((await post(handler, { message: testMessage() }, {}, '/message:stream')).status, 400)
    assert.equal((await post(handler, rpc('GetTask', { id: 'x' }))).json.error.code, -32001)
    const accepted = await post(handler, rpc('SendMessage', { message: testMessage() }), {
      'a2a-extensions': 'urn:must',
    })
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
    })
    await post(
      handler,
      { message: testMessage() },
      { 'a2a-extensions': 'urn:must,urn:other, urn:must' },
      '/message:send',
    )
    assert.deepEqual(seen, ['urn:must'])
  })
})

describe('a missing capability', () => {
  it('is refused: push, in all its operations and inline [B-71 B-115]', async () => {
    const handler = open()
    const push = { taskPushNotificationConfig: { url: 'https://hooks.example/x' } }
    for (const call of [
      rpc('CreateTaskPushNotificationConfig', { taskId: 't', url: 'https://hooks.example/x' }),
      rpc('GetTaskPushNotificationConfig', { taskId: 't', id: 'c' }),
      rpc('ListTaskPushNotificationConfigs', { taskId: 't' }),
      rpc('DeleteTaskPushNotificationConfig', { taskId: 't', id: 'c' }),
      rpc('tasks/pushNotificationConfig/set', {
        taskId: 't',
        pushNotificationConfig: { url: 'https://hooks.example/x' },
      }),
      rpc('SendMessage', { message: testMessage(), configuration: push }),
    ]) {
      assert.equal((await post(handler, call)).json.error?.code, -32003, call.method)
    }
  })

  it('is refused: a tenant, with the name of the field', async () => {
    const refused = await post(open(), rpc('SendMessage', { tenant: 'acme', message: testMessage() }))
    assert.equal(refused.json.error.code, -32602)
    assert.match(JSON.stringify(refused.json.error.data), /"field":"tenant"/)
    assert.ok((await post(open(), rpc('SendMessage', { tenant: '', message: testMessage() }))).json.result)
  })

  it('is refused: listing in 0.x [B-87]', async () => {
    assert.equal((await post(open(), rpc('tasks/list', {}))).json.error.code, -32601)
  })
})

describe('the extended card', () => {
  const authenticate: ServerOptions['authenticate'] = ({ header }) => {
    const who = header('authorization')
    return who === undefined ? { id: 'anonymous', anonymous: true } : { id: who }
  }
  const path = '/extendedAgentCard'

  it('is unsupported if there is none [B-136]', async () => {
    const handler = open()
    assert.equal((await get(handler, path)).json.error.details[0].reason, 'UNSUPPORTED_OPERATION')
    assert.equal((await post(handler, rpc('agent/getAuthenticatedExtendedCard'))).json.error.code, -32004)
    assert.equal((await get(handler, '/agent/authenticatedExtendedCard')).status, 404)
    assert.equal((await get(handler, '/a2a/agent/authenticatedExtendedCard')).status, 404)
    assert.equal((await get(handler, '/.well-known/agent-card.json')).json.capabilities.extendedAgentCard, undefined)
  })

  it('is served in every version to authenticated callers, and 401 to others [B-137 B-138]', async () => {
    const handler = open({ authenticate, extendedCard: (caller) => ({ description: `For ${caller.id}` }) })
    const known = { authorization: 'ann' }
    assert.equal((await get(handler, path, known)).json.description, 'For ann')
    assert.equal((await get(handler, path, known)).headers.get('cache-control'), 'no-store')
    assert.equal((await post(handler, rpc('GetExtendedAgentCard'), known)).json.result.description, 'For ann')
    assert.equal(
      (await post(handler, rpc('agent/getAuthenticatedExtendedCard'), known)).json.result.url,
      'http://localhost/a2a',
    )
    assert.equal((await get(handler, '/v1/card', known)).json.description, 'For ann')
    for (const place of ['/agent/authenticatedExtendedCard', '/a2a/agent/authenticatedExtendedCard']) {
      const oldest = await get(handler, place, known)
      assert.deepEqual(
        [oldest.status, oldest.json.description, oldest.json.url],
        [200, 'For ann', 'http://localhost/a2a'],
      )
      assert.deepEqual(
        [(await get(handler, place)).status, (await get(handler, place)).headers.get('www-authenticate')],
        [401, 'Bearer'],
      )
    }
    assert.equal((await get(handler, path)).status, 401)
    assert.equal((await get(handler, '/.well-known/agent-card.json')).json.capabilities.extendedAgentCard, true)
  })

  it('of 0.2 is found beside the url of the card, for each of several agents [B-136]', async () => {
    const agents = Object.fromEntries(
      ['echo', 'clock'].map((name) => [name, { agent: () => name, extendedCard: { description: `More of ${name}` } }]),
    )
    const handler = createHandler({ store: memoryStore(), agents, authenticate: () => ({ id: 'ann' }) })
    try {
      for (const [place, name] of [
        ['/a2a/clock', 'clock'],
        ['/a2a/echo', 'echo'],
        ['', 'echo'],
      ]) {
        const { url } = (await get(handler, `${place}/.well-known/agent.json`)).json
        assert.equal(url, `http://localhost/a2a/${name}/`)
        // As a relative address, and as text before it is resolved: both must work.
        for (const beside of [
          new URL('agent/authenticatedExtendedCard', url),
          new URL(`${url}/../agent/authenticatedExtendedCard`),
        ]) {
          const { status, json } = await get(handler, beside.pathname)
          assert.deepEqual([status, json.description, json.url], [200, `More of ${name}`, url])
        }
        const sent = await post(
          handler,
          rpc('message/send', { message: legacyTestMessage() }),
          {},
          new URL(url).pathname,
        )
        assert.equal(sent.json.result.artifacts[0].parts[0].text, name)
      }
      assert.throws(() => createHandler({ store: memoryStore(), agents: { agent: () => 'x' } }), {
        path: 'agents.agent',
      })
    } finally {
      await handler.close()
    }
  })

  it('is fetched by our client of 0.2 from each of several agents [B-136 B-139]', async () => {
    const agents = { echo: { agent: () => 'x', extendedCard: { description: 'More of echo' } }, clock: () => 'y' }
    const handler = createHandler({ store: memoryStore(), agents, authenticate: () => ({ id: 'ann' }) })
    const agent = await connect('http://agent.test/a2a/echo', {
      fetch: (request) => handler.fetch(request),
      version: '0.2',
    })
    assert.equal((await agent.extendedCard()).description, 'More of echo')
    await handler.close()
  })

  it('may be missing for a caller, or refused [B-136]', async () => {
    const handler = open({
      authenticate,
      extendedCard(caller) {
        if (caller.id === 'bob') throw new A2AError('PERMISSION_DENIED', 'Not for bob')
        return undefined
      },
    })
    assert.equal((await post(handler, rpc('GetExtendedAgentCard'), { authorization: 'ann' })).json.error.code, -32007)
    assert.equal((await get(handler, '/agent/authenticatedExtendedCard', { authorization: 'ann' })).status, 404)
    assert.equal((await get(handler, path, { authorization: 'bob' })).status, 403)
    assert.equal((await get(handler, '/agent/authenticatedExtendedCard', { authorization: 'bob' })).status, 403)
  })
})
