import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { A2AError } from '../../model/error.ts'
import { errorNameOf } from '../../versions/error-names.ts'
import { memoryStore } from '../../stores/memory/memory-store.ts'
import type { Store } from '../../stores/store.ts'
import type { EngineLog } from '../../engine/contract.ts'
import { type AgentSettings, createHandler, type Handler, type ServerOptions } from '../index.ts'

const opened: Handler[] = []
after(() => Promise.all(opened.map((handler) => handler.close())))
const logged: { message: string; fields: unknown }[] = []
const keep = (message: string, fields?: unknown): void => void logged.push({ message, fields })
const log: EngineLog = { debug() {}, info() {}, warn: keep, error: keep }
function open(over: ServerOptions & Partial<AgentSettings> & { readonly store?: Store } = {}): Handler {
  const handler = createHandler({ store: memoryStore(), agent: () => 'x', log, ...over })
  opened.push(handler)
  return handler
}

/** One way to request a task in each version and binding. */
interface Cell {
  readonly name: string
  readonly version: '1.0' | '0.3' | '0.2'
  readonly binding: 'JSONRPC' | 'HTTP+JSON'
  request(over?: RequestInit & { readonly headers?: Record<string, string> }): Request
  /** SendMessage of this cell with this payload. */
  send(payload: unknown, headers?: Record<string, string>): Request
}
const cells: readonly Cell[] = (['1.0', '0.3', '0.2'] as const).flatMap((version): Cell[] => {
  const isOld = version !== '1.0'
  const headers = { 'a2a-version': version, 'content-type': 'application/json' }
  const root = `http://localhost${isOld ? '/v1' : ''}`
  const jsonrpc = (method: string, params: unknown, more: object = {}, init: RequestInit = {}): Request =>
    new Request('http://localhost/a2a', {
      method: 'POST',
      body: JSON.stringify({ jsonrpc: '2.0', id: 7, method, params }),
      ...init,
      headers: { ...headers, ...more },
    })
  return [
    {
      name: `${version} over JSON-RPC`,
      version,
      binding: 'JSONRPC',
      request: ({ headers: more, ...init } = {}) =>
        jsonrpc(isOld ? 'tasks/get' : 'GetTask', { id: 'nope' }, more, init),
      send: (payload, more) => jsonrpc(isOld ? 'message/send' : 'SendMessage', payload, more),
    },
    {
      name: `${version} over REST`,
      version,
      binding: 'HTTP+JSON',
      request: ({ headers: more, ...init } = {}) =>
        new Request(`${root}/tasks/nope`, { ...init, headers: { ...headers, ...more } }),
      send: (payload, more) =>
        new Request(`${root}/message:send`, {
          method: 'POST',
          body: JSON.stringify(payload),
          headers: { ...headers, ...more },
        }),
    },
  ]
})

interface Expected {
  readonly http: number
  /** Set if JSON-RPC uses another status than 200. */
  readonly transport?: true
  readonly number: number
  readonly grpc: string
  readonly reason: string
  readonly message: string
  readonly metadata?: Record<string, string>
  readonly id?: number | null
}

function bodyOf({ version, binding }: Cell, expected: Expected): unknown {
  const { number, reason, message, metadata = {}, id = 7 } = expected
  const info = { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason, domain: 'a2a-protocol.org', metadata }
  const old = { code: number, message, data: { reason, ...metadata } }
  if (binding === 'JSONRPC') {
    return { jsonrpc: '2.0', id, error: version === '1.0' ? { code: number, message, data: [info] } : old }
  }
  if (version === '1.0') return { error: { code: expected.http, status: expected.grpc, message, details: [info] } }
  return { ...old, type: errorNameOf(number), error: `io.a2a.spec.${errorNameOf(number)}` }
}

async function check(cell: Cell, response: Response, expected: Expected): Promise<void> {
  const status = cell.binding === 'JSONRPC' && expected.transport !== true ? 200 : expected.http
  assert.equal(response.status, status, cell.name)
  assert.deepEqual(await response.json(), bodyOf(cell, expected), cell.name)
  assert.equal(response.headers.get('a2a-version'), cell.version)
  const type = cell.binding === 'HTTP+JSON' && cell.version === '1.0' ? 'application/a2a+json' : 'application/json'
  assert.equal(response.headers.get('content-type'), type)
}

describe('an error has the shape of its version and binding', () => {
  it('for an unknown task [F-3 B-160]', async () => {
    const handler = open()
    for (const cell of cells) {
      await check(cell, await handler.fetch(cell.request()), {
        http: 404,
        number: -32001,
        grpc: 'NOT_FOUND',
        reason: 'TASK_NOT_FOUND',
        message: 'Task not found',
        metadata: { taskId: 'nope' },
      })
    }
  })

  it('and CANCELED, which is for agents only, is UNSUPPORTED_OPERATION in each', async () => {
    const handler = open()
    handler.engine.getTask = () => Promise.reject(new A2AError('CANCELED', 'The task was canceled'))
    for (const cell of cells) {
      await check(cell, await handler.fetch(cell.request()), {
        http: 400,
        number: -32004,
        grpc: 'FAILED_PRECONDITION',
        reason: 'UNSUPPORTED_OPERATION',
        message: 'The task was canceled',
      })
    }
  })

  it('for an unauthenticated caller, before any body is read [B-150 B-151]', async () => {
    const handler = open({ authenticate: () => undefined })
    for (const cell of cells) {
      for (const request of [cell.request(), cell.send('not even an object')]) {
        const response = await handler.fetch(request)
        assert.equal(response.headers.get('www-authenticate'), 'Bearer')
        assert.equal(request.bodyUsed, false)
        await check(cell, response, {
          http: 401,
          transport: true,
          number: -32090,
          grpc: 'UNAUTHENTICATED',
          reason: 'UNAUTHENTICATED',
          message: 'Authentication is required',
          id: null,
        })
      }
    }
  })

  it('for a caller without permission [B-151]', async () => {
    const handler = open({
      authenticate() {
        throw new A2AError('PERMISSION_DENIED', 'Not today', { scope: 'agent:x' })
      },
    })
    for (const cell of cells) {
      await check(cell, await handler.fetch(cell.request()), {
        http: 403,
        transport: true,
        number: -32091,
        grpc: 'PERMISSION_DENIED',
        reason: 'PERMISSION_DENIED',
        message: 'Not today',
        metadata: { scope: 'agent:x' },
        id: null,
      })
    }
  })

  it('for an oversized body, declared or not [B-41]', async () => {
    const handler = open({ limits: { bodyBytes: 1_000 } })
    const large = { message: { parts: [{ text: 'x'.repeat(2_000) }] } }
    const expected: Expected = {
      http: 413,
      transport: true,
      number: -32600,
      grpc: 'INVALID_ARGUMENT',
      reason: 'PAYLOAD_TOO_LARGE',
      message: 'The body is larger than 1000 bytes',
      id: null,
    }
    for (const cell of cells) {
      await check(cell, await handler.fetch(cell.send(large)), expected)
      await check(cell, await handler.fetch(cell.send(large, { 'content-length': '2100' })), expected)
    }
  })

  it('for a body of another type [B-41]', async () => {
    const handler = open()
    for (const cell of cells) {
      await check(cell, await handler.fetch(cell.send({}, { 'content-type': 'text/plain' })), {
        http: 415,
        transport: true,
        number: -32005,
        grpc: 'INVALID_ARGUMENT',
        reason: 'UNSUPPORTED_MEDIA_TYPE',
        message: 'Content-Type must be application/json or application/a2a+json',
        id: null,
      })
    }
  })

  it('for a body that is not JSON: -32700 with a null id, in a 200 over JSON-RPC [B-35 F-1 F-3]', async () => {
    const handler = open()
    for (const cell of cells) {
      const { url, headers } = cell.send({})
      for (const body of ['{"jsonrpc": "2.0", "password": "hunter2"', ...(cell.binding === 'JSONRPC' ? [''] : [])]) {
        const response = await handler.fetch(new Request(url, { method: 'POST', headers, body }))
        await check(cell, response, {
          http: 400,
          number: -32700,
          grpc: 'INVALID_ARGUMENT',
          reason: 'PARSE_ERROR',
          message: 'Invalid JSON payload',
          id: null,
        })
      }
    }
  })

  it('for a body that is nested too deep, in any field [B-41]', async () => {
    const handler = open()
    for (const cell of cells) {
      const { url, headers } = cell.send({})
      for (const field of ['message', 'unheard']) {
        const body = (await cell.send({ [field]: '~' }).text()).replace(
          '"~"',
          `${'['.repeat(5_000)}${']'.repeat(5_000)}`,
        )
        await check(cell, await handler.fetch(new Request(url, { method: 'POST', headers, body })), {
          http: 400,
          number: -32602,
          grpc: 'INVALID_ARGUMENT',
          reason: 'INVALID_PARAMS',
          message: 'Invalid parameters: the body is nested deeper than 200 levels',
        })
      }
    }
  })

  it('for a JSON-RPC request without an id, before its params are checked [F-2 B-36]', async () => {
    const handler = open()
    for (const [method, params, code] of [
      ['tasks/nope', { id: 'x' }, -32601],
      ['tasks/get', {}, -32600],
      ['GetTask', { id: 5 }, -32600],
      ['message/send', [], -32600],
      ['SendMessage', 'text', -32600],
      ['tasks/get', { id: 'x' }, -32600],
      ['GetTask', { id: 'x' }, -32600],
    ] as const) {
      const body = JSON.stringify({ jsonrpc: '2.0', method, params })
      const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body }
      const response = await handler.fetch(new Request('http://localhost/', init))
      const answer = JSON.parse(await response.text())
      assert.deepEqual([response.status, answer.id, answer.error.code], [200, null, code], method)
    }
  })

  it('for an invalid field, with the field as it was spelled [B-38]', async () => {
    const handler = open()
    for (const cell of cells) {
      const response = await handler.fetch(cell.send({ message: { messageId: 5 } }))
      assert.equal(response.status, cell.binding === 'JSONRPC' ? 200 : 400)
      const text = await response.text()
      assert.match(text, /message\.messageId/)
      assert.match(text, cell.binding === 'JSONRPC' || cell.version !== '1.0' ? /-32602/ : /"code":400/)
    }
  })

  it('for an internal error: the caller gets no details, the log has the cause', async () => {
    const secret = new Error('postgres://user:secret@db/prod')
    const handler = open()
    handler.engine.getTask = () => Promise.reject(secret)
    for (const cell of cells) {
      logged.length = 0
      await check(cell, await handler.fetch(cell.request()), {
        http: 500,
        number: -32603,
        grpc: 'INTERNAL',
        reason: 'INTERNAL',
        message: 'Internal error',
      })
      assert.deepEqual(logged, [{ message: 'a request failed', fields: { agent: 'default', cause: secret } }])
    }
  })

  it('UNAVAILABLE when the store cannot keep the key that signs the first page token', async () => {
    const store = memoryStore()
    let isDiskFull = false
    const save: typeof store.keys.save = (row) =>
      isDiskFull ? Promise.reject(new Error('database or disk is full')) : store.keys.save(row)
    const handler = open({ store: { ...store, keys: { ...store.keys, save } }, allowAnonymousList: true })
    const headers = { 'a2a-version': '1.0', 'content-type': 'application/json' }
    for (const messageId of ['m1', 'm2']) {
      const message = { messageId, role: 'ROLE_USER', parts: [{ text: 'x' }] }
      const body = JSON.stringify({ message, configuration: { returnImmediately: true } })
      const sent = await handler.fetch(new Request('http://localhost/message:send', { method: 'POST', headers, body }))
      assert.equal(sent.status, 200)
    }
    const list = (): Promise<Response> => handler.fetch(new Request('http://localhost/tasks?pageSize=1', { headers }))
    isDiskFull = true
    assert.equal((await list()).status, 503)
    isDiskFull = false
    assert.equal((await list()).status, 200)
  })

  it('for a server that is shutting down, with a retry time [F-3]', async () => {
    const handler = open()
    await handler.close()
    for (const cell of cells) {
      const response = await handler.fetch(cell.request())
      assert.equal(response.headers.get('retry-after'), '1')
      await check(cell, response, {
        http: 503,
        transport: true,
        number: -32603,
        grpc: 'UNAVAILABLE',
        reason: 'UNAVAILABLE',
        message: 'The server is shutting down',
        id: null,
      })
    }
    assert.equal((await handler.fetch(new Request('http://localhost/readyz'))).status, 503)
    assert.equal((await handler.fetch(new Request('http://localhost/healthz'))).status, 200)
  })

  it('for a foreign Host', async () => {
    const handler = open({ hosts: ['agent.example'] })
    for (const cell of cells) {
      await check(cell, await handler.fetch(cell.request()), {
        http: 403,
        transport: true,
        number: -32091,
        grpc: 'PERMISSION_DENIED',
        reason: 'PERMISSION_DENIED',
        message: 'This server does not serve that Host',
        id: null,
      })
    }
  })
})

describe('the authenticate hook', () => {
  const get = (handler: Handler, headers: Record<string, string> = {}): Promise<Response> =>
    handler.fetch(new Request('http://localhost/tasks/x', { headers }))

  it('that throws refuses, and its error stays in the log [B-151]', async () => {
    logged.length = 0
    const cause = new Error('token of ann@example.com expired')
    const response = await get(open({ authenticate: () => Promise.reject(cause) }))
    assert.equal(response.status, 401)
    assert.doesNotMatch(await response.text(), /ann/)
    assert.deepEqual(logged, [{ message: 'authentication failed', fields: { agent: 'default', cause } }])
  })

  it('sends a challenge: its own, that of its error, or by the schemes of the card [B-151]', async () => {
    const own = Object.assign(() => undefined, { challenge: 'Basic realm="x"' })
    assert.equal((await get(open({ authenticate: own }))).headers.get('www-authenticate'), 'Basic realm="x"')
    const schemes = {
      a: { httpAuthSecurityScheme: { scheme: 'basic' } },
      b: { openIdConnectSecurityScheme: { openIdConnectUrl: 'https://id.example' } },
      c: { apiKeySecurityScheme: { location: 'header' as const, name: 'x-key' } },
    }
    const declared = open({ authenticate: () => null, securitySchemes: schemes })
    assert.equal((await get(declared)).headers.get('www-authenticate'), 'Basic, Bearer')
    const thrown = open({
      authenticate() {
        throw new A2AError('UNAUTHENTICATED', 'Expired', { challenge: 'Bearer error="invalid_token"\r\nX-Evil: 1' })
      },
    })
    const { headers } = await get(thrown)
    assert.equal(headers.get('www-authenticate'), 'Bearer error="invalid_token"X-Evil: 1')
    assert.equal(headers.get('x-evil'), null)
  })

  it('gets the transport and the name of the agent, and its caller owns the tasks [B-77 B-150 B-153 B-160]', async () => {
    const seen: unknown[] = []
    const handler = open({
      authenticate(credentials) {
        seen.push([credentials.method, credentials.path, credentials.query, credentials.agent])
        return { id: credentials.header('x-who') ?? 'unnamed' }
      },
    })
    const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hi' }] }
    const init = {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-who': 'ann' },
      body: JSON.stringify({ message }),
    }
    const sent = await handler.fetch(new Request('http://localhost/message:send?q=1', init))
    const { task } = JSON.parse(await sent.text())
    assert.deepEqual(seen, [['POST', '/message:send', 'q=1', 'default']])
    const read = (who: string): Promise<Response> =>
      handler.fetch(new Request(`http://localhost/tasks/${task.id}`, { headers: { 'x-who': who } }))
    assert.equal((await read('ann')).status, 200)
    const foreign = await read('bob')
    assert.equal(foreign.status, 404)
    const listed = async (who: string): Promise<number> => {
      const list = await handler.fetch(new Request('http://localhost/tasks', { headers: { 'x-who': who } }))
      return JSON.parse(await list.text()).totalSize
    }
    assert.deepEqual([await listed('ann'), await listed('bob')], [1, 0])
  })

  it('is not called for the public card or the probes', async () => {
    const handler = open({ authenticate: () => undefined })
    for (const path of ['/.well-known/agent-card.json', '/healthz', '/readyz']) {
      assert.equal((await handler.fetch(new Request(`http://localhost${path}`))).status, 200, path)
    }
  })
})
