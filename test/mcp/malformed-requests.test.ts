/** Malformed requests to `/mcp`: none of them may crash or hang the hub, grant access or reveal internals. */
import assert from 'node:assert/strict'
import { request as httpRequest } from 'node:http'
import { describe, it } from 'node:test'
import { openMcpTestClient, textOf } from './mcp-clients.ts'
import { openMcpTestHub } from './mcp-test-hub.ts'

const { mcp, url, hub } = await openMcpTestHub({
  limits: { body: '1MB', perAddress: '100000/min' },
  cors: ['https://app.example'],
})

const plain = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' }

function post(body: string | object, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return fetch(mcp, { method: 'POST', headers: { ...plain, ...headers }, body: text })
}

const call = (name: unknown, input: unknown, more: object = {}): object => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name, arguments: input, ...more },
})

async function isWell(): Promise<void> {
  const response = await post(call('send_message', { agent: 'scripted', message: 'say well' }))
  assert.match(await response.text(), /well/)
}

describe('bodies', () => {
  it('that are not requests are refused', async () => {
    for (const body of ['', '{', 'null', '1', '"x"', '[]', '{}', '[1]', '{"jsonrpc":"1.0"}', '\u0000', '[[[]]]']) {
      const response = await post(body)
      assert.ok(response.status >= 400 && response.status < 500, `${JSON.stringify(body)}: ${response.status}`)
      await response.text()
    }
    for (const method of ['PUT', 'PATCH', 'GET', 'DELETE']) {
      const response = await fetch(mcp, { method, headers: plain })
      assert.ok(response.status >= 400 && response.status < 500, `${method}: ${response.status}`)
      await response.text()
    }
    assert.equal((await post(list, { 'content-type': 'text/plain' })).status, 415)
    await isWell()
  })

  it('that are too large or too deep are refused', async () => {
    const large = await post(call('send_message', { agent: 'scripted', message: 'x'.repeat(1_100_000) }))
    assert.equal(large.status, 413)
    const deep = await post(`${'['.repeat(50_000)}${']'.repeat(50_000)}`)
    assert.equal(deep.status, 400)
    const values = await post(`[${'{},'.repeat(200_000)}{}]`)
    assert.equal(values.status, 413)
    assert.match(await values.text(), /exceeds 100000 JSON values/)
    const data = JSON.parse(`${'{"a":'.repeat(500)}1${'}'.repeat(500)}`)
    const nested = await post(call('send_message', { agent: 'scripted', message: 'received', data }))
    assert.equal(nested.status, 400)
    const many = await post(Array.from({ length: 51 }, (_, id) => ({ ...list, id })))
    assert.equal(many.status, 400)
    await isWell()
  })

  it('with invalid arguments are answered with a message', async () => {
    const odd: readonly unknown[] = [
      null,
      1,
      '',
      [],
      { toString: 1 },
      { __proto__: null },
      '../../etc/passwd',
      'x\u0000y',
    ]
    for (const value of odd) {
      for (const body of [
        call(value, {}),
        call('send_message', value),
        call('send_message', { agent: value, message: 'x' }),
        call('send_message', { agent: 'scripted', message: value }),
        call('send_message', { agent: 'scripted', message: 'x', taskId: value }),
        call('send_message', { agent: 'scripted', message: 'say x', contextId: value, waitSeconds: 5 }),
        call('send_message', { agent: 'scripted', message: 'x', waitSeconds: value }),
        call('get_task', { agent: value, taskId: value }),
        call('discover_agent', { url: value }),
        call('send_message', { agent: 'scripted', message: 'say x' }, { _meta: value }),
        { jsonrpc: '2.0', id: 1, method: 'resources/read', params: { uri: value } },
        { jsonrpc: '2.0', id: value, method: 'tools/list' },
        { jsonrpc: '2.0', id: 1, method: value },
      ]) {
        const response = await post(body)
        const text = await response.text()
        assert.ok(response.status < 500, `${JSON.stringify(body)}: ${response.status} ${text}`)
        assert.doesNotMatch(text, /node_modules|\.ts:\d|at async|TypeError|Cannot read/, JSON.stringify(body))
      }
    }
    await isWell()
  })

  it('with names of object prototypes find no tool and no agent', async () => {
    for (const name of ['constructor', '__proto__', 'toString', 'hasOwnProperty']) {
      assert.match(await (await post(call(name, {}))).text(), /Unknown tool/)
      const text = await (await post(call('send_message', { agent: name, message: 'x' }))).text()
      assert.match(text, /Unknown agent/)
    }
  })
})

describe('answers to questions that were never asked', () => {
  it('reach only what the sender may reach', async () => {
    const caller = await openMcpTestClient('2025-11-25', { url: mcp })
    const hers = await caller.call('send_message', { agent: 'scripted', message: 'ask' })
    const { taskId } = hers.structuredContent
    const envelope = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } },
    }
    const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'send_message' }
    const sending = async (requestState: unknown, inputResponses: unknown = accepted) => {
      const more = { _meta: envelope, requestState, inputResponses }
      const response = await post(call('send_message', { agent: 'scripted', message: 'ask' }, more), headers)
      return { status: response.status, text: await response.text() }
    }
    const accepted = { answer: { action: 'accept', content: { answer: 'Rome' } } }
    const state = (about: object): string =>
      JSON.stringify({ messageId: crypto.randomUUID(), round: 1, isVisit: false, ...about })
    for (const nonsense of ['', '{', 'null', '[]', '{"ref":{}}', state({}), state({ ref: { agent: 'scripted' } })]) {
      const { status, text } = await sending(nonsense)
      assert.ok(status < 500)
      assert.match(text, /matches no open question|Invalid or expired/)
    }
    for (const ref of [{ agent: 'unknown' }, { url: `${url}/a2a/scripted` }]) {
      const { text } = await sending(state({ ref, taskId }))
      assert.match(text, /"isError":true/)
    }
    assert.match((await sending(state({ ref: { agent: 'scripted' }, taskId: 'x' }))).text, /Task not found/)
    for (const responses of [
      {},
      null,
      { answer: 1 },
      { answer: { action: 'no' } },
      { answer: { action: 'accept', content: 7 } },
    ]) {
      const { status, text } = await sending(state({ ref: { agent: 'scripted' }, taskId }), responses)
      assert.ok(status < 500)
      assert.doesNotMatch(text, / it is/, JSON.stringify(responses))
    }
    // A repeated answer counts once.
    const right = state({ ref: { agent: 'scripted' }, taskId })
    const [first, second] = [await sending(right), await sending(right)]
    assert.match(first.text, /it is/)
    assert.match(second.text, /it is/)
  })
})

describe('web pages', () => {
  it('may not call from another origin', async () => {
    for (const origin of ['https://evil.example', 'null', 'http://127.0.0.1:1', 'file://', 'x']) {
      const response = await post(list, { origin })
      assert.equal(response.status, 403, origin)
    }
    assert.equal((await post(list, { origin: url })).status, 200)
  })

  it('may call from an allowed origin', async () => {
    const asked = await fetch(mcp, {
      method: 'OPTIONS',
      headers: { origin: 'https://app.example', 'access-control-request-method': 'POST' },
    })
    assert.equal(asked.status, 204)
    assert.equal(asked.headers.get('access-control-allow-origin'), 'https://app.example')
    assert.match(asked.headers.get('access-control-allow-headers') ?? '', /Mcp-Session-Id/)
    const response = await post(list, { origin: 'https://app.example' })
    assert.equal(response.headers.get('access-control-allow-origin'), 'https://app.example')
    assert.match(response.headers.get('access-control-expose-headers') ?? '', /Mcp-Session-Id/)
    await response.text()
  })

  it('may not call by their own host name (DNS rebinding)', async () => {
    const status = await new Promise((resolve, reject) => {
      const sent = httpRequest(mcp, { method: 'POST', headers: { ...plain, host: 'evil.example' } }, (response) => {
        response.resume()
        resolve(response.statusCode)
      })
      sent.on('error', reject)
      sent.end(JSON.stringify(list))
    })
    assert.equal(status, 403)
  })
})

describe('a client that disconnects', () => {
  it('leaves nothing behind that would stop the hub', async () => {
    for (let count = 0; count < 20; count += 1) {
      const leaving = new AbortController()
      const body = JSON.stringify(call('send_message', { agent: 'scripted', message: 'steps 50' }))
      const calling = fetch(mcp, { method: 'POST', headers: plain, body, signal: leaving.signal })
      const response = count % 2 === 0 ? undefined : await calling
      leaving.abort()
      await (response === undefined ? calling : response.text()).catch(() => {})
    }
    await isWell()
  })

  it('and keeps its session does not stop its task', async () => {
    const caller = await openMcpTestClient('2025-11-25', { url: mcp })
    const before = await caller.call('send_message', { agent: 'scripted', message: 'say x' })
    const { contextId } = before.structuredContent
    const at = Promise.withResolvers<void>()
    const calling = caller.call(
      'send_message',
      { agent: 'scripted', message: 'steps 8', contextId },
      { onprogress: ({ message }) => (message === 'step 1' ? at.resolve() : undefined) },
    )
    calling.catch(() => {})
    await at.promise
    await caller.close()
    const again = await openMcpTestClient('2025-11-25', { url: mcp })
    const response = await fetch(`${url}/a2a/scripted/tasks?contextId=${contextId}`, {
      headers: { 'A2A-Version': '1.0' },
    })
    const { tasks } = (await response.json()) as { tasks: { id: string }[] }
    const done = await again.call('get_task', { agent: 'scripted', taskId: tasks[0]?.id, waitSeconds: 30 })
    assert.equal(textOf(done), 'walked')
  })
})

describe('the hub', () => {
  it('exits while clients wait, and their tasks continue after a restart [full]', async () => {
    const caller = await openMcpTestClient('2025-11-25', { url: mcp })
    const calling = caller.client.callTool(
      { name: 'send_message', arguments: { agent: 'scripted', message: 'long' } },
      undefined,
      { timeout: 3_000 },
    )
    calling.catch(() => {})
    const begun = await caller.call('send_message', { agent: 'scripted', message: 'long', waitSeconds: 0 })
    assert.ok(begun.structuredContent.taskId)
    const { code } = await hub.stop()
    assert.equal(code, 0)
    await assert.rejects(calling)
  })
})
