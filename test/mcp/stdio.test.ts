/** `parley mcp` as a program: where it finds agents, what it prints, and how it ends. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, request as httpRequest } from 'node:http'
import type { IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, it } from 'node:test'
import type { TestContext } from 'node:test'
import { commandOf, openMcpTestClient, textOf } from './mcp-clients.ts'
import { openMcpTestHub } from './mcp-test-hub.ts'

const testHub = await openMcpTestHub({ access: { anonymous: ['clock'] } })

describe('parley mcp --hub', () => {
  it('has the agents and skills that the key permits', async () => {
    const { authorization } = await testHub.key('skill:scripted/sing')
    const key = authorization.slice('Bearer '.length)
    const caller = await openMcpTestClient('2025-11-25', {
      args: ['--hub', new URL(testHub.url).host],
      env: { PARLEY_KEY: key },
    })
    const { structuredContent } = await caller.call('list_agents', {})
    const skills = structuredContent.agents.map((one: any) => [one.name, one.skills.map(({ id }: any) => id)])
    assert.deepEqual(skills, [
      ['scripted', ['sing']],
      ['clock', ['count']],
    ])
    const said = await caller.call('send_message', { agent: 'scripted', message: 'who', skill: 'sing' })
    assert.match(textOf(said), /^key:.* sing$/)
    const refused = await caller.call('send_message', { agent: 'scripted', message: 'who' })
    assert.equal(refused.isError, true)
    const hidden = await caller.call('send_message', { agent: 'other', message: 'who' })
    assert.match(hidden.content[0].text, /Unknown agent/)
    const wrong = await openMcpTestClient('2025-11-25', { args: ['--hub', testHub.url, '--key', 'wrong'] })
    assert.match((await wrong.call('list_agents', {})).content[0].text, /The hub does not accept this key/)
  })

  it('sends the key to the hub and to no agent of its catalog', async (t) => {
    const requests: IncomingHttpHeaders[] = []
    const elsewhere = await listen(t, ({ headers }, end) => end(requests.push(headers), '{}'))
    const hub = await openFrontOf(t, testHub.url, {
      specVersion: '1.0',
      entries: [
        entry('scripted', `https://hub.example.com/a2a/scripted/.well-known/agent-card.json`),
        entry('far', `${elsewhere}/card.json`),
        { identifier: 'urn:air:x:skill:y', type: 'application/agent-skills+zip', url: '/x.zip' },
        'nonsense',
      ],
    })
    const { authorization } = await testHub.key('agent:scripted')
    const key = authorization.slice('Bearer '.length)
    const caller = await openMcpTestClient('2025-11-25', { args: ['--hub', hub], env: { PARLEY_KEY: key } })
    const { structuredContent } = await caller.call('list_agents', {})
    assert.deepEqual(
      structuredContent.agents.map(({ name, available }: any) => [name, available]),
      [
        ['scripted', true],
        ['far', false],
      ],
    )
    assert.match(textOf(await caller.call('send_message', { agent: 'scripted', message: 'who' })), /^key:/)
    assert.ok(requests.length > 0 && requests.every((headers) => headers.authorization === undefined))
  })

  it('uses the agent at the root if there is no catalog, and reports problems of a hub', async (t) => {
    const { authorization } = await testHub.key('agent:*')
    const args = ['--hub', await openFrontOf(t, testHub.url, undefined), '--key', authorization.slice('Bearer '.length)]
    const caller = await openMcpTestClient('2025-11-25', { args })
    const said = await caller.call('send_message', { agent: 'default', message: 'say hi' })
    assert.equal(textOf(said), 'hi')
    const gone = await openMcpTestClient('2025-11-25', { args: ['--hub', 'http://127.0.0.1:9'] })
    const missing = await gone.call('list_agents', {})
    assert.deepEqual(
      [missing.isError, missing.content[0].text],
      [true, 'No hub responds at http://127.0.0.1:9 (AGENT_UNAVAILABLE).'],
    )
    const odd = await listen(t, (_, end) => end(200, '{"entries":7}'))
    const strange = await openMcpTestClient('2025-11-25', { args: ['--hub', odd] })
    assert.match((await strange.call('list_agents', {})).content[0].text, /no readable catalog/)
  })
})

describe('parley mcp --agent', () => {
  it('sends a token to those agents, and to no URL that a model names', async (t) => {
    const { authorization } = await testHub.key('agent:scripted')
    const token = authorization.slice('Bearer '.length)
    const requests: IncomingHttpHeaders[] = []
    const elsewhere = await listen(t, ({ headers }, end) => end(requests.push(headers), '{}'))
    const args = ['--agent', `${testHub.url}/a2a/scripted`, '--token-env', 'TOKEN', '--allow', '127.0.0.1']
    const caller = await openMcpTestClient('2025-11-25', { args, env: { TOKEN: token } })
    const said = await caller.call('send_message', { agent: 'scripted', message: 'who' })
    assert.match(textOf(said), /^key:/)
    await caller.call('discover_agent', { url: elsewhere })
    assert.ok(requests.length > 0 && requests.every((headers) => headers.authorization === undefined))
  })

  it('blocks internal addresses, or all of them', async () => {
    const guarded = await openMcpTestClient('2025-11-25', { args: ['--agent', `${testHub.url}/a2a/clock`] })
    const refused = await guarded.call('invoke_remote_agent', { url: `${testHub.url}/a2a/clock`, message: '1' })
    assert.match(refused.content[0].text, /resolves to a disallowed address/)
    const shut = await openMcpTestClient('2025-11-25', { args: ['--agent', `${testHub.url}/a2a/clock`, '--no-remote'] })
    assert.ok(!(await shut.tools()).some(({ name }) => name === 'invoke_remote_agent'))
    assert.match((await shut.call('discover_agent', { url: 'https://x.example' })).content[0].text, /not allowed here/)
  })

  it('distinguishes agents of the same name, and shows an unreachable one as such', async () => {
    const clock = `${testHub.url}/a2a/clock`
    const args = ['--agent', clock, '--agent', clock, '--agent', 'http://127.0.0.1:9']
    const caller = await openMcpTestClient('2025-11-25', { args })
    const { structuredContent } = await caller.call('list_agents', {})
    assert.deepEqual(
      structuredContent.agents.map(({ name, available }: any) => [name, available]),
      [
        ['clock', true],
        ['clock-2', true],
        ['127.0.0.1', false],
      ],
    )
  })
})

describe('the program', () => {
  it('survives invalid lines, and writes only messages', async (t) => {
    const { command, args, env } = commandOf({ args: ['--agent', `${testHub.url}/a2a/clock`] })
    const child = spawn(command, args, { env, stdio: ['pipe', 'pipe', 'pipe'] })
    t.after(() => child.kill('SIGKILL'))
    const out: string[] = []
    child.stdout.on('data', (piece) => out.push(String(piece)))
    const begin = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } }
    const lines = [
      'hello',
      '{',
      '[]',
      '{"jsonrpc":"2.0","id":null}',
      JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: begin }),
      '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":7}',
      '{"jsonrpc":"2.0","id":3,"method":"no/such"}',
      JSON.stringify({ jsonrpc: '2.0', id: 4, method: 'tools/list' }),
    ]
    for (const line of lines) child.stdin.write(`${line}\n`)
    while (!out.join('').includes('"id":4')) await once(child.stdout, 'data')
    for (const line of out.join('').trim().split('\n')) assert.equal(JSON.parse(line).jsonrpc, '2.0')
    child.stdin.end()
    assert.deepEqual(await once(child, 'exit'), [0, null])
  })

  it('exits on SIGTERM', async (t) => {
    const { command, args, env } = commandOf({ args: ['--agent', `${testHub.url}/a2a/clock`] })
    const child = spawn(command, args, { env, stdio: ['pipe', 'pipe', 'pipe'] })
    t.after(() => child.kill('SIGKILL'))
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })}\n`)
    await once(child.stdout, 'data')
    child.kill('SIGTERM')
    assert.deepEqual(await once(child, 'exit'), [0, null])
  })
})

const entry = (name: string, url: string): object => ({
  identifier: `urn:air:hub.example.com:agent:${name}`,
  type: 'application/a2a-agent-card+json',
  url,
})

type Answer = (request: { readonly headers: IncomingHttpHeaders }, end: (status: number, body: string) => void) => void

async function listen(t: TestContext, answer: Answer): Promise<string> {
  const server = createServer((request, response) =>
    answer(request, (status, body) => response.writeHead(status === 200 ? 200 : 404).end(body)),
  ).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** The hub, with this catalog. */
async function openFrontOf(t: TestContext, hub: string, catalog: object | undefined): Promise<string> {
  const server = createServer((request, response) => {
    if (request.url === '/.well-known/ai-catalog.json') {
      response.writeHead(catalog === undefined ? 404 : 200).end(JSON.stringify(catalog))
      return
    }
    const { method, headers } = request
    const onward = httpRequest(`${hub}${request.url}`, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers)
      answer.pipe(response)
    })
    onward.on('error', () => response.destroy())
    request.pipe(onward)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
