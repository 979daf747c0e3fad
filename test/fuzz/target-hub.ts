/** The hub's own entry points over a real socket: simple tasks, the older draft, bot chat, discovery, MCP, the admin API. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent as HttpAgent, request as httpRequest } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfig } from '../../packages/hub/src/config/load-config.ts'
import { demoKind } from '../../packages/hub/src/demo/index.ts'
import { startHub } from '../../packages/hub/src/hub.ts'
import { internalsIn } from './answers/check-answer.ts'
import { httpInput, readHttpInput } from './guided/http-input.ts'
import type { HttpInput } from './guided/http-input.ts'
import type { FuzzTarget, Subject } from './guided/target.ts'
import { words } from './vocabulary.ts'

const adminKey = 'the admin of the fuzz'
const silent = { debug() {}, info() {}, warn() {}, error() {} }

async function openHub(sent: Readonly<Record<string, string>>): Promise<Subject> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-fuzz-hub-'))
  const tree = {
    listen: { port: 0, grpcPort: false },
    store: 'sqlite::memory:',
    admin: { key: adminKey },
    limits: { perAddress: '100000000/min', perKey: '100000000/min', body: '1MB', wait: '1s' },
    profiles: { simpleTasks: true, botChat: true, olderDraft: true },
    agents: { echo: { kind: 'demo', agent: 'echo', default: true }, concierge: { kind: 'demo', agent: 'concierge' } },
  }
  // Whatever configuration the admin API gets, no input starts a program or is written to disk.
  const kinds = [demoKind]
  let held = JSON.stringify(tree)
  const load = (text: string) => loadConfig({ text, fallback: {}, environment: {}, cwd: folder, kinds })
  const source = {
    file: join(folder, 'parley.yaml'),
    places: [],
    loadedText: undefined,
    rejection: undefined,
    reject() {},
    read: () => held,
    load: async (text: string) => load(text),
    check: async (text: string) => load(text),
    async write(text: string) {
      held = text
      return true
    },
  }
  const loaded = load(held)
  if ('problems' in loaded) throw new Error(JSON.stringify(loaded.problems))
  const hub = await startHub(loaded.config, { log: silent, kinds, source })
  const agent = new HttpAgent({ keepAlive: true, maxSockets: 64 })
  return {
    async run(input) {
      const request = readHttpInput(input)
      const { status, type, body } = await exchange(hub.port, agent, request, sent)
      assert.ok(
        status < 500,
        `${request.method} ${request.path.slice(0, 100)} answered ${status} ${body.slice(0, 300)}`,
      )
      // What a schema says about a missing field names it `undefined`, which reveals no internals.
      if (status >= 400)
        assert.deepEqual(
          internalsIn(body.replaceAll(/undefined|NaN|sqlite/g, '')),
          [],
          `${status} ${body.slice(0, 300)}`,
        )
      if (type.includes('json') && body !== '') JSON.parse(body)
    },
    async close() {
      agent.destroy()
      await hub.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** A stream that waits for more is closed after this time. */
const silenceMs = 25

function exchange(
  port: number,
  agent: HttpAgent,
  { method, path, headers, body }: HttpInput,
  sent: Readonly<Record<string, string>>,
): Promise<{ status: number; type: string; body: string }> {
  return new Promise((resolve, reject) => {
    const flat = [
      ...headers.flat(),
      ...Object.entries(sent).flat(),
      'host',
      `127.0.0.1:${port}`,
      'content-length',
      String(body.length),
    ]
    const request = httpRequest({ host: '127.0.0.1', port, method, path, headers: flat, agent }, (response) => {
      const { statusCode: status = 0, headers: answered } = response
      const type = answered['content-type'] ?? ''
      let text = ''
      let timer: ReturnType<typeof setTimeout> | undefined
      const done = (): void => {
        clearTimeout(timer)
        resolve({ status, type, body: type.includes('event-stream') ? '' : text })
      }
      const wait = (): void => {
        clearTimeout(timer)
        if (!type.includes('event-stream')) return
        timer = setTimeout(() => {
          response.destroy()
          done()
        }, silenceMs)
      }
      wait()
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        text += chunk
        wait()
      })
      response.on('end', done)
      response.on('error', done)
    })
    request.on('error', (reason: NodeJS.ErrnoException) => {
      // A connection that was kept open may be closed when it is used again, as after a body that is too large.
      if (reason.code === 'ECONNRESET' || reason.code === 'EPIPE') resolve({ status: 0, type: '', body: '' })
      else reject(reason)
    })
    request.end(body)
  })
}

const json = { 'content-type': 'application/json' }
const old = { kind: 'message', messageId: '~new~', role: 'user', parts: [{ kind: 'text', text: 'hi' }] }
const rpc = (method: string, params: unknown): string => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })

const hub: FuzzTarget = {
  name: 'hub',
  format: 'http',
  weight: 2,
  dictionary: [
    ...words,
    '/a2a/tasks/send',
    '/a2a/echo',
    '/api/a2a',
    '/v1',
    '/bot-instances/echo/chat',
    '/.well-known',
    '/agents',
    '/hooks',
    '/metrics',
    '/mcp',
    '/healthz',
  ],
  seeds: () => [
    httpInput('POST', '/a2a/tasks/send', json, JSON.stringify({ message: 'hi', skill: 'echo', timeout: 5 })),
    httpInput('POST', '/a2a/tasks/send', json, JSON.stringify({ task: { message: { parts: [{ text: 'x' }] } } })),
    httpInput('GET', '/a2a/tasks/00000000-0000-0000-0000-000000000000', {}),
    httpInput('POST', '/bot-instances/echo/chat', json, JSON.stringify({ message: 'hi', sessionId: 's' })),
    httpInput('POST', '/bot-instances/concierge/chat', json, JSON.stringify({ message: 'hi' })),
    httpInput('POST', '/api/a2a', json, rpc('message/stream', { message: old })),
    httpInput('POST', '/api/a2a', json, rpc('message/send', { message: old, configuration: { blocking: true } })),
    httpInput('POST', '/v1/message:send', json, JSON.stringify({ message: old })),
    httpInput('POST', '/v1/message:stream', json, JSON.stringify({ message: old })),
    httpInput(
      'POST',
      '/a2a/echo',
      { ...json, 'a2a-version': '1.0' },
      rpc('SendMessage', { message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'x' }] } }),
    ),
    httpInput('GET', '/.well-known/api-catalog', { accept: 'application/linkset+json' }),
    httpInput('GET', '/agents?tag=demo&q=echo', { accept: 'application/json' }),
    httpInput('GET', '/a2a/echo/.well-known/agent-card.json', { 'if-none-match': '"x"' }),
    httpInput('POST', '/hooks/echo/x', json, '{}'),
    httpInput('GET', '/metrics', {}),
    httpInput('GET', '/readyz', {}),
    httpInput('GET', '/', { accept: 'text/html' }),
  ],
  open: () => openHub({}),
}

const mcpHeaders = { ...json, accept: 'application/json, text/event-stream' }
const initialize = {
  protocolVersion: '2025-06-18',
  capabilities: { elicitation: {} },
  clientInfo: { name: 'x', version: '1' },
}

const mcp: FuzzTarget = {
  name: 'mcp',
  format: 'http',
  weight: 2,
  dictionary: [
    ...words,
    ...'initialize notifications/initialized tools/list tools/call resources/list resources/read prompts/get ping tasks/get'.split(
      ' ',
    ),
    ...'protocolVersion capabilities clientInfo arguments name cursor progressToken _meta uri send_message get_task list_agents'.split(
      ' ',
    ),
    ...'2025-06-18 2025-11-25 2026-07-28 elicitation/create logging/setLevel completion/complete mcp-session-id: mcp-protocol-version:'.split(
      ' ',
    ),
  ],
  seeds: () =>
    [
      rpc('initialize', initialize),
      rpc('tools/list', {}),
      rpc('tools/call', { name: 'send_message', arguments: { agent: 'echo', message: 'hi' } }),
      rpc('tools/call', { name: 'list_agents', arguments: {}, _meta: { progressToken: 1 } }),
      rpc('tools/call', { name: 'echo', arguments: { message: 'hi' } }),
      rpc('resources/read', { uri: 'parley://tasks/x/artifacts/y' }),
      JSON.stringify([
        { jsonrpc: '2.0', id: 1, method: 'ping' },
        { jsonrpc: '2.0', method: 'notifications/initialized' },
      ]),
    ].flatMap((body) => [
      httpInput('POST', '/mcp', mcpHeaders, body),
      httpInput(
        'POST',
        '/mcp',
        { ...mcpHeaders, 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call' },
        body,
      ),
    ]),
  open: () => openHub({}),
}

const admin: FuzzTarget = {
  name: 'admin',
  format: 'http',
  weight: 2,
  dictionary: [
    ...words,
    ...'/admin/tasks /admin/task-counts /events /wire /cancel /admin/push /redeliver /admin/health /admin/search /admin/kinds'.split(
      ' ',
    ),
    ...'/admin/agents /card /approve /look /admin/config /check /diff /versions /restore /admin/keys /admin/audit /admin/traces'.split(
      ' ',
    ),
    ...'/admin/routes/decide /api-key/generate limit= cursor= q= since= state= agent= key= who= event= order=desc text scopes expires'.split(
      ' ',
    ),
  ],
  seeds: () => [
    ...'tasks task-counts tasks/x tasks/x/events tasks/x/wire push push/x/y health stats?range=7d&agent=echo search?q=x kinds agents agents/echo keys audit traces traces/x config config/schema config/versions config/versions/x agents/echo/card routes session openapi.json'
      .split(' ')
      .map((path) => httpInput('GET', `/admin/${path}`, {})),
    httpInput('GET', '/admin/tasks?limit=2&state=TASK_STATE_WORKING&agent=echo&cursor=x', {}),
    httpInput('GET', '/admin/audit?since=2026-01-01T00:00:00Z&limit=5&who=x', {}),
    httpInput('GET', '/admin/events?after=0', { accept: 'text/event-stream', 'last-event-id': '0' }),
    httpInput(
      'POST',
      '/admin/keys',
      json,
      JSON.stringify({ name: 'k', scopes: ['agent:echo'], expiresIn: '1d', limits: { rate: '5/min' } }),
    ),
    httpInput('DELETE', '/admin/keys/x', {}),
    httpInput('POST', '/admin/config/check', json, JSON.stringify({ text: 'agents: {}' })),
    httpInput(
      'POST',
      '/admin/config/diff',
      json,
      JSON.stringify({ text: 'agents: { a: { kind: demo, agent: echo } }' }),
    ),
    httpInput(
      'POST',
      '/admin/routes/decide',
      json,
      JSON.stringify({ agent: 'echo', text: 'x', message: { parts: [{ text: 'x' }] } }),
    ),
    httpInput('POST', '/admin/tasks/x/cancel', json, '{}'),
    httpInput('POST', '/a2a/echo/api-key/generate', json, JSON.stringify({ name: 'k' })),
    httpInput('POST', '/admin/session', json, JSON.stringify({ key: adminKey })),
    httpInput('POST', '/admin/push/x/y/redeliver', json, '{}'),
  ],
  open: () => openHub({ authorization: `Bearer ${adminKey}` }),
}

export const targets: readonly FuzzTarget[] = [hub, mcp, admin]
