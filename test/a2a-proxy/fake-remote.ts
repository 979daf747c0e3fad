/**
 * A scripted remote agent that can break the protocol: omit the end, mix up ids, disconnect,
 * change its card. It serves JSON-RPC of 1.0 or 0.3, as its card declares.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

type JsonObject = Record<string, unknown>

export interface FakeCall {
  readonly method: string
  readonly params: JsonObject
  readonly headers: IncomingHttpHeaders
  /** How often this method has been called, this time included. */
  readonly count: number
}

/** What is sent one after the other, and how it ends. */
export interface FakeStream {
  readonly events: readonly (JsonObject | (() => Promise<unknown>))[]
  /** `id:` of each event, if they have one. */
  readonly ids?: readonly string[]
  /** Properly, as a broken connection, or not at all. */
  readonly then?: 'end' | 'cut' | 'hang'
}

export type FakeAnswer =
  | { readonly result: unknown }
  | { readonly error: { readonly code: number; readonly message: string; readonly data?: unknown } }
  | { readonly status: number; readonly body?: string; readonly headers?: Record<string, string> }
  | FakeStream
  /** The connection breaks without an answer. */
  | 'cut'

export interface FakeRemote {
  readonly url: string
  readonly calls: readonly FakeCall[]
  called(method: RegExp): readonly FakeCall[]
  close(): Promise<void>
}

export interface FakeOptions {
  readonly version?: '1.0' | '0.3'
  /** Merged into its card. A function is called for each request. */
  readonly card?: JsonObject | (() => JsonObject)
  readonly port?: number
}

export async function openFakeRemote(
  answer: (call: FakeCall) => FakeAnswer | Promise<FakeAnswer>,
  { version = '1.0', card = {}, port = 0 }: FakeOptions = {},
): Promise<FakeRemote> {
  const calls: FakeCall[] = []
  const server = createServer((req, res) => {
    if (req.method === 'GET') {
      const url = `http://${req.headers.host}/rpc`
      const shown = { ...cardOf(version, url), ...(typeof card === 'function' ? card() : card) }
      const isCard = req.url === '/.well-known/agent-card.json'
      res.writeHead(isCard ? 200 : 404, { 'content-type': 'application/json', 'cache-control': 'no-cache' })
      res.end(JSON.stringify(shown))
      return
    }
    let body = ''
    req.setEncoding('utf8').on('data', (chunk: string) => (body += chunk))
    req.on('end', () => {
      const { id, method, params } = JSON.parse(body) as { id: unknown; method: string; params: JsonObject }
      const count = calls.filter((call) => call.method === method).length + 1
      const call = { method, params, headers: req.headers, count }
      calls.push(call)
      void Promise.resolve(answer(call)).then((given) => writeAnswer(res, id, given))
    })
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    called: (method) => calls.filter((call) => method.test(call.method)),
    async close() {
      if (!server.listening) return
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

async function writeAnswer(res: ServerResponse, id: unknown, given: FakeAnswer): Promise<void> {
  if (given === 'cut') return void res.destroy()
  if ('status' in given) {
    res.writeHead(given.status, given.headers).end(given.body ?? '')
    return
  }
  if (!('events' in given)) {
    res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id, ...given }))
    return
  }
  res.writeHead(200, { 'content-type': 'text/event-stream' })
  res.flushHeaders()
  for (const [index, event] of given.events.entries()) {
    if (typeof event === 'function') {
      await event()
      continue
    }
    const name = given.ids?.[index]
    res.write(
      `${name === undefined ? '' : `id: ${name}\n`}data: ${JSON.stringify({ jsonrpc: '2.0', id, result: event })}\n\n`,
    )
  }
  if (given.then === 'hang') return
  // Written bytes must arrive before the connection breaks.
  if (given.then === 'cut') res.write(':', () => setImmediate(() => res.destroy()))
  else res.end()
}

function cardOf(version: '1.0' | '0.3', url: string): JsonObject {
  const about = {
    name: 'Fake',
    description: 'Follows the script of the test',
    version: '1.0.0',
    capabilities: { streaming: true },
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [{ id: 'fake', name: 'Fake', description: 'Anything', tags: ['test'] }],
  }
  return version === '1.0'
    ? { ...about, supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }] }
    : { ...about, url, protocolVersion: '0.3.0', preferredTransport: 'JSONRPC' }
}

// Results and events of a 1.0 agent, for tests.

export const remoteTaskIds = { taskId: 'r1', contextId: 'rc' } as const

export const task = (state: string, more: JsonObject = {}): JsonObject => ({
  id: remoteTaskIds.taskId,
  contextId: remoteTaskIds.contextId,
  status: { state: `TASK_STATE_${state}` },
  ...more,
})

export const agentMessage = (text: string, messageId = 's1'): JsonObject => ({
  messageId,
  role: 'ROLE_AGENT',
  parts: [{ text }],
})

export const statusUpdate = (state: string, text?: string, more: JsonObject = {}): JsonObject => ({
  statusUpdate: {
    ...remoteTaskIds,
    status: { state: `TASK_STATE_${state}`, ...(text !== undefined ? { message: agentMessage(text) } : {}) },
    ...more,
  },
})

export const chunk = (text: string, more: JsonObject = {}, artifactId = 'answer'): JsonObject => ({
  artifactUpdate: { ...remoteTaskIds, artifact: { artifactId, parts: [{ text }] }, ...more },
})

export const artifact = (text: string, artifactId = 'answer'): JsonObject => ({ artifactId, parts: [{ text }] })
