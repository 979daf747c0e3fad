/** Responses of upstreams: cards, results and streams of remote agents, models, MCP servers. Each may be malicious. */
import assert from 'node:assert/strict'
import { A2AError } from '@parley/a2a'
import { connect } from '@parley/a2a/client'
import { testAgent } from '@parley/a2a/testing'
import type { AgentKind } from '../../packages/hub/src/agents/kind.ts'
import { mcpKind } from '../../packages/hub/src/agents/mcp/index.ts'
import { openaiKind } from '../../packages/hub/src/agents/openai/index.ts'
import { testAgentServices } from '../../packages/hub/src/agents/testing/test-agent-services.ts'
import { goldenPayloads } from './golden-payloads.ts'
import { httpInput, readHttpInput } from './guided/http-input.ts'
import { bytesOfJson } from './guided/target.ts'
import type { FuzzTarget, Subject } from './guided/target.ts'
import { cardWords, hostileWords, words } from './vocabulary.ts'

const limits = {
  attempts: 1,
  firstDelayMs: 1,
  maxDelayMs: 1,
  pollMs: 1,
  maxBodyBytes: 1_000_000,
  maxEventBytes: 1_000_000,
}

/** Only an A2AError may be thrown: also INTERNAL, which a peer may report. */
async function refusable<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work()
  } catch (reason) {
    if (reason instanceof A2AError) return undefined
    throw reason
  }
}

function responseOf(status: number, type: string, body: Uint8Array): Response {
  return new Response([101, 204, 205, 304].includes(status) ? null : Uint8Array.from(body), {
    status,
    headers: { 'content-type': type },
  })
}

const card: FuzzTarget = {
  name: 'card',
  format: 'json',
  weight: 2,
  dictionary: [...cardWords, ...hostileWords],
  seeds: () =>
    goldenPayloads()
      .filter((golden) => golden.card)
      .map(({ payload }) => bytesOfJson(payload)),
  open: async () => ({
    async run(input) {
      const fetch = async (): Promise<Response> => responseOf(200, 'application/json', input)
      await refusable(() => connect('https://agent.test/', { fetch, limits, verify: 'warn' }))
      await refusable(() => connect('https://agent.test/', { fetch, limits }))
    },
  }),
}

const peerCard = (binding: string, protocolVersion: string): object => ({
  name: 'Peer',
  description: 'd',
  version: '1',
  supportedInterfaces: [{ url: 'https://agent.test/x', protocolBinding: binding, protocolVersion }],
  capabilities: { streaming: true },
  defaultInputModes: [],
  defaultOutputModes: [],
  skills: [],
})

const bindings = [
  ['JSONRPC', '1.0'],
  ['HTTP+JSON', '1.0'],
  ['JSONRPC', '0.3'],
  ['HTTP+JSON', '0.3'],
  ['JSONRPC', '0.2'],
] as const

const mostAsked = 20

/** An answer as an HTTP input: the path's number chooses binding and version, its second number the status. */
const answers: FuzzTarget = {
  name: 'answers',
  format: 'http',
  weight: 3,
  dictionary: [
    ...words,
    'data: ',
    'id: 1\n',
    '\n\n',
    'event: error\n',
    'content-type: text/event-stream',
    'content-type: application/json',
  ],
  seeds: answerSeeds,
  open: async () => ({
    async run(input) {
      const { path, headers, body } = readHttpInput(input)
      const [, which = '0', status = '200'] = /(\d)\/?(\d{3})?/.exec(path) ?? []
      const [binding, version] = bindings[Number(which) % bindings.length]!
      const type = headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? 'application/json'
      const code = Math.min(599, Math.max(200, Number(status)))
      const enough = new AbortController()
      let asked = 0
      // A client waits for a task for as long as its peer reports WORKING: here until it has polled often enough.
      const fetch = async (): Promise<Response> => {
        asked += 1
        if (asked > mostAsked) enough.abort(new A2AError('UNAVAILABLE', 'asked often enough'))
        return responseOf(code >= 300 && code < 400 ? 400 : code, type, body)
      }
      const { signal } = enough
      const peer = await connect(peerCard(binding, version) as never, { fetch, limits })
      await refusable(() => peer.send('hi', { signal }))
      await refusable(() => peer.get('t1', { signal }))
      await refusable(async () => {
        for await (const _ of peer.stream('hi', { signal })) if (asked > mostAsked) break
      })
      await refusable(() => peer.cancel('t1', { signal }))
      assert.ok(asked < mostAsked * 3, 'the client polls after its signal aborted')
    },
  }),
}

function answerSeeds(): readonly Uint8Array[] {
  return goldenPayloads().flatMap(({ version, dialect, payload, event, result, error, card: isCard }) => {
    if (isCard === true || (event === undefined && result === undefined && error === undefined)) return []
    const which = bindings.findIndex(
      ([binding, id]) => id === version && (binding === 'JSONRPC') === (dialect === 'json'),
    )
    const isRpc = bindings[Math.max(0, which)]![0] === 'JSONRPC'
    const status = typeof error === 'number' ? error : 200
    const body = JSON.stringify(
      isRpc ? { jsonrpc: '2.0', id: 1, [error === undefined ? 'result' : 'error']: payload } : payload,
    )
    const path = `/${Math.max(0, which)}/${status}`
    return [
      httpInput('POST', path, { 'content-type': 'application/json' }, body),
      httpInput('POST', path, { 'content-type': 'text/event-stream' }, `id: 1\ndata: ${body}\n\n`),
    ]
  })
}

/** An agent of a kind whose upstream answers with the input, whatever it is asked. */
async function openUpstream<Entry>(kind: AgentKind<Entry>, entry: unknown): Promise<Subject> {
  let answer = new Uint8Array()
  let type = 'application/json'
  const fetch: typeof globalThis.fetch = async (_, init) => {
    // A response to another request would be ignored: the id must match.
    const [, id] = /"id":(\d+)/.exec(typeof init?.body === 'string' ? init.body : '') ?? []
    const text = Buffer.from(answer).toString('latin1')
    return responseOf(
      200,
      type,
      id === undefined ? answer : Buffer.from(text.replace('"id":0', `"id":${id}`), 'latin1'),
    )
  }
  const opened = await kind.open(kind.schema.parse(entry), testAgentServices({ fetch, guardedFetch: fetch }))
  const failures: unknown[] = []
  const note = (_: string, fields?: Record<string, unknown>): void => void failures.push(fields?.['cause'])
  const log = { debug() {}, info() {}, warn() {}, error: note }
  const agent = testAgent(opened.agent, { server: { log } })
  return {
    async run(input) {
      const { body, headers } = readHttpInput(input)
      answer = Uint8Array.from(body)
      type = headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? 'application/json'
      const seen = failures.length
      await refusable(() => agent.send('hi'))
      if (opened.fetchCard !== undefined)
        await refusable(() => opened.fetchCard!(AbortSignal.timeout(15_000)) as Promise<unknown>).catch(ignoreRefusal)
      // An agent may fail, but by an error that was meant.
      for (const cause of failures.slice(seen)) {
        if (cause instanceof TypeError || cause instanceof RangeError || cause instanceof ReferenceError) throw cause
      }
    },
    async close() {
      await agent.close()
      await opened.close?.()
    },
  }
}

/** Errors of the MCP SDK are not A2AErrors: the caller gets the server's message. */
function ignoreRefusal(reason: unknown): void {
  if (reason instanceof TypeError || reason instanceof RangeError || reason instanceof ReferenceError) throw reason
}

const chunk = (delta: object, finish?: string): string =>
  `data: ${JSON.stringify({ id: 'x', model: 'm', choices: [{ index: 0, delta, finish_reason: finish ?? null }], usage: { prompt_tokens: 1, completion_tokens: 2 } })}\n\n`

const openai: FuzzTarget = {
  name: 'openai',
  format: 'http',
  weight: 1,
  dictionary: [
    ...hostileWords,
    ...'choices delta content tool_calls function arguments name index finish_reason stop length usage refusal data: [DONE] error message model'.split(
      ' ',
    ),
  ],
  seeds: () => [
    httpInput(
      'POST',
      '/',
      { 'content-type': 'text/event-stream' },
      `${chunk({ role: 'assistant', content: 'hi' })}${chunk({}, 'stop')}data: [DONE]\n\n`,
    ),
    httpInput(
      'POST',
      '/',
      { 'content-type': 'text/event-stream' },
      chunk({ tool_calls: [{ index: 0, id: 'c', function: { name: 'f', arguments: '{' } }] }, 'tool_calls'),
    ),
    httpInput(
      'POST',
      '/',
      { 'content-type': 'application/json' },
      JSON.stringify({ id: 'x', choices: [{ message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }] }),
    ),
    httpInput(
      'POST',
      '/',
      { 'content-type': 'application/json' },
      JSON.stringify({ data: [{ id: 'm1' }, { id: 'm2' }] }),
    ),
    httpInput(
      'POST',
      '/',
      { 'content-type': 'application/json' },
      JSON.stringify({ error: { message: 'no', code: 'x' } }),
    ),
  ],
  open: () => openUpstream(openaiKind, { baseUrl: 'http://model.test/v1', model: 'm', retries: 0 }),
}

const mcpServer: FuzzTarget = {
  name: 'mcp-server',
  format: 'http',
  weight: 1,
  dictionary: [
    ...hostileWords,
    ...'jsonrpc id result error tools inputSchema properties required content text type isError structuredContent serverInfo capabilities protocolVersion data:'.split(
      ' ',
    ),
  ],
  seeds: () =>
    [
      { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } },
      {
        tools: [
          {
            name: 't',
            description: 'd',
            inputSchema: { type: 'object', properties: { message: { type: 'string' } }, required: ['message'] },
          },
        ],
      },
      { content: [{ type: 'text', text: 'x' }], isError: false },
    ].flatMap((result) => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 0, result })
      return [
        httpInput('POST', '/', { 'content-type': 'application/json' }, body),
        httpInput('POST', '/', { 'content-type': 'text/event-stream' }, `data: ${body}\n\n`),
      ]
    }),
  open: () => openUpstream(mcpKind, { url: 'http://mcp.test/mcp', connectTimeout: '200ms', idleTimeout: '200ms' }),
}

export const targets: readonly FuzzTarget[] = [card, answers, openai, mcpServer]
