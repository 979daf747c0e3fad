/** A server without a socket, and hand-written requests in the format of each version. */
import { memoryStore } from '@parley/a2a'
import { createHandler, type AgentSettings, type Handler, type ServerOptions } from '@parley/a2a/server'
import type { EngineLog } from '@parley/a2a/internal'

export type InMemoryServerOptions = ServerOptions & Partial<AgentSettings>

export interface HttpAnswer {
  readonly status: number
  readonly headers: Headers
  readonly body: any
}

export interface InMemoryServer {
  readonly handler: Handler
  /** A JSON-RPC call; the whole envelope comes back. */
  rpc(method: string, params?: unknown, headers?: Record<string, string>, path?: string): Promise<HttpAnswer>
  /** A streaming JSON-RPC call, read to its end: the `result` or `error` of each event. */
  stream(method: string, params: unknown, headers?: Record<string, string>): Promise<readonly any[]>
  fetch(path: string, init?: RequestInit): Promise<HttpAnswer>
}

export const v1 = { 'a2a-version': '1.0' }
export const v0_3 = { 'a2a-version': '0.3' }

const quiet: EngineLog = { debug() {}, info() {}, warn() {}, error() {} }
const opened: Handler[] = []
let count = 0

export function openInMemoryServer(settings: InMemoryServerOptions = {}): InMemoryServer {
  const handler = createHandler({
    store: memoryStore(),
    agent: ({ text }) => `Hello, ${text}!`,
    log: quiet,
    ...settings,
  })
  opened.push(handler)
  const send = (path: string, init?: RequestInit): Promise<Response> =>
    handler.fetch(new Request(`http://localhost${path}`, init))
  const post = (path: string, body: unknown, headers: Record<string, string>): Promise<Response> =>
    send(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
  return {
    handler,
    rpc: async (method, params, headers = {}, path = '/a2a') =>
      readAnswer(await post(path, { jsonrpc: '2.0', id: ++count, method, params }, headers)),
    async stream(method, params, headers = {}) {
      const response = await post('/a2a', { jsonrpc: '2.0', id: ++count, method, params }, headers)
      const lines = (await response.text()).split('\n').filter((line) => line.startsWith('data:'))
      return lines.map((line) => JSON.parse(line.slice(5))).map((document) => document.result ?? document.error)
    },
    fetch: async (path, init) => readAnswer(await send(path, init)),
  }
}

export async function closeInMemoryServers(): Promise<void> {
  await Promise.all(opened.map((handler) => handler.close()))
}

/** A message as 1.0 writes it. */
export const newMessage = (text: string, more: object = {}): object => ({
  messageId: `new-${++count}`,
  role: 'ROLE_USER',
  parts: [{ text }],
  ...more,
})

/** The same as 0.x writes it. */
export const newLegacyMessage = (text: string, more: object = {}): object => ({
  kind: 'message',
  messageId: `old-${++count}`,
  role: 'user',
  parts: [{ kind: 'text', text }],
  ...more,
})

async function readAnswer(response: Response): Promise<HttpAnswer> {
  const text = await response.text()
  return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) }
}
