/**
 * JSON from callers, backends of every kind, token issuers and detected addresses is counted before it is
 * parsed. A million small values block the event loop for seconds.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, it, type TestContext } from 'node:test'
import { inspect } from 'node:util'
import type { Task } from '@parley/a2a'
import { clearCardCache } from '@parley/a2a/client'
import { webhook } from '@parley/a2a/server'
import { WebSocketServer } from 'ws'
import { createOidc } from '../../packages/hub/src/admin/oidc.ts'
import { a2aKind } from '../../packages/hub/src/agents/a2a/index.ts'
import { acpKind } from '../../packages/hub/src/agents/acp/index.ts'
import { createDetect } from '../../packages/hub/src/agents/detect/index.ts'
import { createMcpConnection } from '../../packages/hub/src/agents/mcp/connection.ts'
import { parseJsonOrUndefined } from '../../packages/hub/src/json/embedded-json.ts'
import { openClawKind } from '../../packages/hub/src/agents/openclaw/index.ts'
import { openOpenClawConnection } from '../../packages/hub/src/agents/openclaw/gateway/connection.ts'
import { testAgentServices } from '../../packages/hub/src/agents/testing/test-agent-services.ts'
import { openKind } from '../../packages/hub/src/agents/testing/open-kind.ts'
import { openTestHub } from '../admin/test-hub.ts'

const jsonNodes = 1_000
const numbers = (count: number): string => `[${Array.from({ length: count }, () => '7').join(',')}]`
/** A few over the setting, and over the default. */
const [many, tooMany] = [numbers(2_000), numbers(200_000)]

async function web(t: TestContext, answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** The longest text that was parsed meanwhile. */
async function longestParsed(t: TestContext, work: () => Promise<unknown>): Promise<number> {
  const parse = t.mock.method(JSON, 'parse')
  await work()
  const longest = Math.max(0, ...parse.mock.calls.map(({ arguments: [text] }) => text.length))
  parse.mock.restore()
  return longest
}

describe('`limits.jsonNodes` of the configuration', () => {
  it('applies to messages, the MCP endpoint and the admin API', async () => {
    const { url, ask } = await openTestHub({
      config: { limits: { jsonNodes }, access: { anonymous: ['talker'] }, mcp: { tools: 'agents' } },
    })
    const post = async (path: string, body: string, headers = {}): Promise<[number, string]> => {
      const accept = 'application/json, text/event-stream'
      const response = await fetch(url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'a2a-version': '1.0', accept, ...headers },
        body,
      })
      return [response.status, await response.text()]
    }
    const message = (list: string, params = ''): string =>
      `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"${crypto.randomUUID()}","role":"ROLE_USER","parts":[{"text":"hi"}],"metadata":{"list":${list}}}${params}}}`
    const [status, said] = await post('/a2a/talker', message(many))
    assert.equal(status, 413, said)
    assert.match(said, /The body holds more than 1000 JSON values/)
    assert.equal((await post('/a2a/talker', message(numbers(900))))[0], 200)

    const call = (list: string): string =>
      `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"list":${list}}}}`
    const mcp = await post('/mcp', call(many))
    assert.equal(mcp[0], 413, mcp[1])
    assert.match(mcp[1], /exceeds 1000 JSON values/)
    assert.notEqual((await post('/mcp', call(numbers(900))))[0], 413)

    const refused = await ask('POST', '/admin/config/check', { text: '', more: JSON.parse(many) })
    assert.equal(refused.status, 413)
    assert.match(refused.json.error.message, /exceeds 1000 JSON values/)
    assert.equal((await ask('POST', '/admin/config/check', { text: '', more: JSON.parse(numbers(900)) })).status, 400)
  })

  it('defaults to 100,000 for the admin API', async () => {
    const { ask } = await openTestHub()
    const refused = await ask('POST', '/admin/config/check', { text: '', more: JSON.parse(tooMany) })
    assert.equal(refused.status, 413)
    assert.match(refused.json.error.message, /exceeds 100000 JSON values/)
  })
})

describe('a backend that sends too many JSON values', () => {
  const parts = { jsonNodes }
  const endOf = (answer: unknown): string => (answer as Task).status.state

  it('fails the task as a remote A2A agent', async (t) => {
    clearCardCache()
    const url: string = await web(t, (request, response) => {
      request.resume().once('end', () => {
        response.setHeader('content-type', 'application/json')
        if (request.method === 'GET') return response.end(JSON.stringify(card(url)))
        const message = `{"messageId":"m","role":"ROLE_AGENT","parts":[{"data":${many}}]}`
        response.end(`{"jsonrpc":"2.0","id":1,"result":{"message":${message}}}`)
      })
    })
    const { agent, lines } = await openKind(t, a2aKind, { url, allowPrivate: true }, { services: parts })
    const outcome = await agent.send('hi').then(endOf, (reason: Error) => reason.message)
    assert.ok(outcome === 'TASK_STATE_FAILED' || /JSON values|remote/i.test(outcome), outcome)
    assert.match(inspect(lines, { depth: 10 }) + outcome, /(more than|exceeds) 1000 JSON values/)
  })

  it('is cut off as an OpenClaw gateway, before the frame is parsed', async (t) => {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
    t.after(() => server.close())
    await once(server, 'listening')
    server.on('connection', (socket) =>
      socket.send(`{"type":"event","event":"connect.challenge","payload":{"nonce":"n","ts":1,"list":${many}}}`),
    )
    const { port } = server.address() as AddressInfo
    const open = (nodes: number | undefined) =>
      openOpenClawConnection({
        url: `ws://127.0.0.1:${port}`,
        connect: () => assert.fail('the frame was read'),
        onEvent: () => assert.fail('the frame was read'),
        openTimeoutMs: 60_000,
        jsonNodes: nodes,
      })
    assert.deepEqual(await open(jsonNodes), { failed: 'it sent a frame of more than 1000 JSON values' })
  })

  for (const type of ['application/json', 'text/event-stream']) {
    it(`fails the task as an OpenClaw gateway that answers with ${type}`, async (t) => {
      const url = await web(t, (request, response) => {
        request.resume().once('end', () => {
          const body = `{"choices":[{"message":{"content":"hi"},"delta":{"content":"hi"},"finish_reason":"stop"}],"list":${many}}`
          response.setHeader('content-type', type)
          response.end(type === 'application/json' ? body : `data: ${body}\n\ndata: [DONE]\n\n`)
        })
      })
      const entry = { url: url.replace('http', 'ws'), token: 't', transport: 'http' }
      const { agent, lines } = await openKind(t, openClawKind, entry, { services: parts })
      const outcome = await agent.send('hi').then(endOf, (reason: unknown) => inspect(reason, { depth: 5 }))
      assert.doesNotMatch(outcome, /COMPLETED/)
      assert.match(inspect(lines, { depth: 10 }) + outcome, /it holds more than 1000 JSON values/)
    })
  }

  it('fails the task as an ACP agent', async (t) => {
    const program = `process.stdout.write('{"jsonrpc":"2.0","id":0,"result":{"list":[7' + ',7'.repeat(2000) + ']}}\\n'); setInterval(() => {}, 1000)`
    const entry = { command: [process.execPath, '-e', program], killGrace: '300ms' }
    const { agent, lines } = await openKind(t, acpKind, entry, { services: { ...parts, baseDir: import.meta.dirname } })
    const outcome = await agent.send('hi').then(endOf, (reason: unknown) => inspect(reason, { depth: 5 }))
    assert.doesNotMatch(outcome, /COMPLETED/)
    assert.match(inspect(lines, { depth: 10 }) + outcome, /the agent sent a message of more than 1000 JSON values/)
  })

  it('is ended as an MCP server that is a program', async (t) => {
    const { fetch, log, programEnv } = testAgentServices()
    const program = `process.stdin.once('data', () => process.stdout.write('{"jsonrpc":"2.0","id":0,"result":[7' + ',7'.repeat(2000) + ']}\\n')); setInterval(() => {}, 1000)`
    const command = [process.execPath, '-e', program] as const
    const server = { command, cwd: import.meta.dirname, env: programEnv }
    const connection = createMcpConnection(server, { fetch, log, connectTimeoutMs: 60_000, jsonNodes })
    t.after(() => connection.close())
    await assert.rejects(connection.tools(new AbortController().signal), {
      code: 'PAYLOAD_TOO_LARGE',
      message: /(more than|exceeds) 1000 JSON values/,
    })
  })

  const card = (url: string): object => ({
    name: 'peer',
    description: '',
    version: '1',
    supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
    capabilities: {},
    defaultInputModes: [],
    defaultOutputModes: [],
    skills: [],
  })
})

describe('an answer of too many JSON values is not parsed', () => {
  it('by agent detection', async (t) => {
    clearCardCache()
    const url = await web(t, (_, response) =>
      response.setHeader('content-type', 'application/json').end(`{"name":"x","data":${tooMany}}`),
    )
    let found: object = {}
    const longest = await longestParsed(t, async () => {
      found = await createDetect({ httpMs: 60_000, programMs: 60_000, fetchedMs: 60_000 })([url], {
        fetch: globalThis.fetch,
        signal: new AbortController().signal,
        onProgress() {},
        cwd: import.meta.dirname,
        env: {},
      })
    })
    assert.ok('reasons' in found, inspect(found))
    assert.ok(longest < tooMany.length, `${longest} characters were parsed`)
  })

  it('by the hub during sign-in at an issuer', async (t) => {
    const answer = `{"authorization_endpoint":"https://i.example/a","token_endpoint":"https://i.example/t","x":${tooMany}}`
    const oidc = createOidc({
      settings: () => ({ issuer: 'https://i.example', clientId: 'c', scope: 'openid' }),
      secrets: () => assert.fail('it went on'),
      fetch: async () => new Response(answer),
      now: () => 0,
    })
    const longest = await longestParsed(t, () =>
      assert.rejects(oidc.begin('https://hub.example/back', '/'), { code: 'UNAVAILABLE' }),
    )
    assert.equal(longest, 0)
  })

  it('by a receiver of notifications', async (t) => {
    const hook = webhook({ unverified: true, jsonNodes })
    let received = 0
    hook.handle(() => void received++)
    const deliver = (list: string): Promise<Response> =>
      Promise.resolve(
        hook.fetch(
          new Request('http://hook.example/', {
            method: 'POST',
            headers: { 'content-type': 'application/a2a+json' },
            body: `{"task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"},"metadata":{"list":${list}}}}`,
          }),
        ),
      )
    let status = 0
    const longest = await longestParsed(t, async () => (status = (await deliver(many)).status))
    assert.equal(status, 413)
    assert.ok(longest < many.length)
    assert.ok((await deliver(numbers(900))).ok)
    assert.equal(received, 1)
  })

  it('where it is the text of a message for a tool', async (t) => {
    const longest = await longestParsed(t, async () => assert.equal(parseJsonOrUndefined(tooMany), undefined))
    assert.equal(longest, 0)
    assert.deepEqual(parseJsonOrUndefined('[1,2]'), [1, 2])
  })
})
