/** The client of the SDK, and the endpoints of a hub beside agents: `/mcp`, the admin API, the change feed and the console's reader of it. */
import assert from 'node:assert/strict'
import { Client as NewClient, StreamableHTTPClientTransport as NewHttp } from '@modelcontextprotocol/client'
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as OldHttp } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { clearCardCache, connect } from '@parley/a2a/client'
import { agentFile } from '../delegation/open-hub.ts'
import { adminKey, fillCaches, openMeasuredHub } from './measured-hub.ts'
import { type LeakCase, measureAll } from './measure.ts'

const { hub, close } = await openMeasuredHub({
  agents: {
    echo: { kind: 'module', path: agentFile('echo'), default: true },
    asker: { kind: 'module', path: agentFile('asker') },
  },
})
const at = (name: string): string => `${hub.url}/a2a/${name}`
const asAdmin = { authorization: `Bearer ${adminKey}` }

/** The signal lives as long as the process, as that of a server would. */
const { signal } = new AbortController()
const agent = await connect(at('echo'), { signal })

const client: readonly LeakCase[] = [
  { name: 'client: connect', run: () => connect(at('echo'), { signal }) },
  {
    name: 'client: connect without the card at hand',
    async run() {
      clearCardCache()
      await connect(at('echo'), { signal })
    },
  },
  { name: 'client: send', run: () => agent.send('hello', { signal }) },
  {
    name: 'client: ask with a timeout',
    fullOnly: true,
    run: () => agent.ask('hello', { signal, timeoutMs: 600_000 }),
  },
  { name: 'client: stream', run: () => agent.stream('hello', { signal }).all() },
  {
    name: 'client: stream, left in the middle',
    async run() {
      for await (const _ of agent.stream('hello', { signal })) break
    },
  },
  {
    name: 'client: follow a task that is at work',
    async run() {
      const { id } = await agent.start('hello there', { signal })
      await agent.wait(id, { signal, timeoutMs: 600_000 })
    },
  },
  { name: 'client: refused', run: () => assert.rejects(agent.get('nothing', { signal })) },
  {
    name: 'client: chat',
    async run() {
      const chat = agent.chat()
      await chat.send('hello', { signal })
      await chat.stream('hello again', { signal }).all()
    },
  },
]

/** Every `GET` without a parameter that the admin API has, by its own document. */
async function adminCases(): Promise<readonly LeakCase[]> {
  const document = (await (await fetch(`${hub.url}/admin/openapi.json`, { headers: asAdmin })).json()) as {
    paths: Record<string, Record<string, unknown>>
  }
  const paths = Object.entries(document.paths).flatMap(([path, { get }]) =>
    get === undefined || path.includes('{') || path === '/admin/events' ? [] : [path],
  )
  assert.ok(paths.length > 5, `only ${paths.join(', ')}`)
  // Generated for each request, which takes as long as a hundred others. They have no state.
  const documents = ['/admin/kinds', '/admin/config/schema', '/admin/openapi.json']
  const isDocument = (path: string): boolean => documents.includes(path)
  const routes = paths.filter((path) => !isDocument(path))
  const read = async (path: string): Promise<void> => {
    await (await fetch(hub.url + path, { headers: asAdmin, redirect: 'manual' })).text()
  }
  return [
    {
      name: `admin API: ${routes.length} routes`,
      slowness: 8,
      async run() {
        for (const path of routes) await read(path)
      },
    },
    {
      name: 'admin API: generated documents',
      slowness: 8,
      fullOnly: true,
      async run() {
        for (const path of paths.filter(isDocument)) await read(path)
      },
    },
    {
      name: 'admin API: refused',
      async run() {
        const response = await fetch(`${hub.url}/admin/tasks`)
        await response.text()
        assert.equal(response.status, 401)
      },
    },
    {
      name: 'admin API: a key made and revoked',
      slowness: 4,
      async run() {
        const made = await fetch(`${hub.url}/admin/keys`, {
          method: 'POST',
          headers: { ...asAdmin, 'content-type': 'application/json' },
          body: JSON.stringify({ name: 'test', agents: ['*'] }),
        })
        const { id } = (await made.json()) as { id: string }
        const gone = await fetch(`${hub.url}/admin/keys/${id}`, { method: 'DELETE', headers: asAdmin })
        await gone.text()
        assert.ok(gone.ok, String(gone.status))
      },
    },
    {
      name: 'admin API: the stream of changes, left',
      async run() {
        const leaving = new AbortController()
        const response = await fetch(`${hub.url}/admin/events`, { headers: asAdmin, signal: leaving.signal })
        const reader = response.body?.getReader()
        await reader?.read()
        leaving.abort()
        await reader?.closed.catch(() => {})
      },
    },
  ]
}

/** As in a page: relative URLs, and a session cookie that the browser sends. */
async function consoleCases(): Promise<readonly LeakCase[]> {
  const plain = globalThis.fetch
  globalThis.fetch = (input, init) =>
    typeof input === 'string' && input.startsWith('/')
      ? plain(hub.url + input, { ...init, headers: { ...(init?.headers as object), ...asAdmin } })
      : plain(input, init)
  // By a specifier that the compiler does not follow: browser code has other types.
  const feed = '../../packages/console/src/api/change-feed.ts'
  const { connectionStatus, startChangeFeed, stopChangeFeed } = await import(feed)
  return [
    {
      name: 'console: its feed, begun and ended',
      slowness: 2,
      async run() {
        const live = Promise.withResolvers<void>()
        const forget = connectionStatus.subscribe((state: string) => state === 'live' && live.resolve())
        startChangeFeed()
        await live.promise
        forget()
        stopChangeFeed()
      },
    },
  ]
}

async function mcpCases(): Promise<readonly LeakCase[]> {
  const url = new URL(`${hub.url}/mcp`)
  const info = { name: 'test', version: '1' }
  const old = new OldClient(info)
  await old.connect(new OldHttp(url))
  const next = new NewClient(info, { versionNegotiation: { mode: 'auto' } })
  await next.connect(new NewHttp(url))
  const call = { name: 'send_message', arguments: { agent: 'echo', message: 'hello' } }
  const good = (result: Record<string, unknown>): void => assert.ok(result['isError'] !== true, JSON.stringify(result))
  return [
    { name: 'mcp: a call, 2025-11-25', slowness: 2, run: async () => good(await old.callTool(call)) },
    { name: 'mcp: a call, 2026-07-28', slowness: 2, run: async () => good(await next.callTool(call)) },
    {
      name: 'mcp: a session begun and ended',
      slowness: 4,
      async run() {
        const one = new OldClient(info)
        const transport = new OldHttp(url)
        await one.connect(transport)
        await one.listTools()
        await transport.terminateSession()
        await one.close()
      },
    },
  ]
}

try {
  await fillCaches(at('echo'))
  await measureAll(client)
  await measureAll(await adminCases())
  await measureAll(await mcpCases())
  await measureAll(await consoleCases())
} finally {
  await close()
}
process.exit(0)
