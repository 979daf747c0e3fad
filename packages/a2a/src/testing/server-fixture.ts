/**
 * Handlers with a polite agent and a memory store, and calls spelled out by hand: what the tests of the server set up.
 * Nothing here knows the client, so that both sides cannot make the same mistake.
 */
import { after } from 'node:test'
import type { Agent } from '../agents/agent.ts'
import { type AgentSettings, createHandler, type EngineLog, type Handler, type HouseOptions } from '../server/index.ts'
import { memoryStore } from '../stores/memory.ts'
import type { Store } from '../stores/store.ts'

type Headers = Readonly<Record<string, string>>

const quiet: EngineLog = { debug() {}, info() {}, warn() {}, error() {} }
const polite: Agent = ({ text }) => `Hello, ${text}!`

/** What it opens is closed when the tests of the file are over. */
export function openServers() {
  const opened: Handler[] = []
  after(() => Promise.all(opened.map((handler) => handler.close())))
  return {
    open(over: HouseOptions & Partial<AgentSettings> & { readonly store?: Store } = {}): Handler {
      const handler = createHandler({ store: memoryStore(), agent: polite, log: quiet, ...over })
      opened.push(handler)
      return handler
    },
    post(handler: Handler, body: unknown, headers: Headers = {}, path = '/a2a') {
      const text = typeof body === 'string' ? body : JSON.stringify(body)
      const init = { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: text }
      return call(handler, path, init)
    },
    get: (handler: Handler, path: string, headers: Headers = {}, method = 'GET') =>
      call(handler, path, { method, headers }),
  }
}

async function call(handler: Handler, path: string, init: RequestInit) {
  const response = await handler.fetch(new Request(`http://localhost${path}`, init))
  // oxlint-disable-next-line typescript/no-unsafe-assignment -- tests look into answers of every shape, right and wrong
  return { status: response.status, headers: response.headers, json: JSON.parse((await response.text()) || '{}') }
}

export const rpc = (method: string, params?: unknown) => ({ jsonrpc: '2.0', id: 'r', method, params })

let count = 0

export const messageOf = (text = 'hi', over: object = {}) => ({
  messageId: `m${++count}`,
  role: 'ROLE_USER',
  parts: [{ text }],
  ...over,
})

export const oldMessageOf = (text = 'hi') => ({
  kind: 'message',
  messageId: `m${++count}`,
  role: 'user',
  parts: [{ kind: 'text', text }],
})
