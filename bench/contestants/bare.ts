/**
 * The limit: node:http alone with the same bytes. It parses the request, writes an
 * answer of the same shape with JSON.stringify, stores nothing and validates nothing.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { answer, chunkText } from '../workload.ts'
import { runContestant } from './child-process.ts'

interface Request {
  readonly id: number
  readonly method: string
  readonly params: {
    readonly id?: string
    readonly message?: { readonly messageId: string; readonly parts: readonly { text: string }[] }
  }
}

const sseHeaders = { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-cache' }
// Writing each event separately costs three times as much as writing 16 kB at once.
const writeBytes = 16_384
const subscribers = new Set<ServerResponse>()

const artifact = { artifactId: 'answer', parts: [{ text: answer }] }
const status = (state: string): object => ({ state, timestamp: new Date().toISOString() })

function task(request: Request): object {
  const id = crypto.randomUUID()
  const history = [{ ...request.params.message, taskId: id, contextId: id }]
  return { id, contextId: id, status: status('TASK_STATE_COMPLETED'), artifacts: [artifact], history }
}

const frame = (request: Request, result: object): string =>
  `data: ${JSON.stringify({ jsonrpc: '2.0', id: request.id, result })}\n\n`

function answerStream(request: Request, response: ServerResponse): void {
  const count = Number(request.params.message?.parts[0]?.text)
  response.writeHead(200, sseHeaders)
  const ids = { taskId: 'task', contextId: 'context' }
  let pending = frame(request, { task: { id: 'task', contextId: 'context', status: status('TASK_STATE_SUBMITTED') } })
  for (let index = 0; index < count; index++) {
    const chunk = { artifactId: 'answer', parts: [{ text: chunkText(index) }] }
    pending += frame(request, { artifactUpdate: { ...ids, artifact: chunk, append: index > 0, lastChunk: false } })
    if (pending.length < writeBytes) continue
    response.write(pending)
    pending = ''
  }
  response.end(pending + frame(request, { statusUpdate: { ...ids, status: status('TASK_STATE_COMPLETED') } }))
}

function answerSubscriber(request: Request, response: ServerResponse): void {
  response.writeHead(200, sseHeaders)
  response.write(frame(request, { task: { id: 'task', contextId: 'context', status: status('TASK_STATE_WORKING') } }))
  subscribers.add(response)
  response.on('close', () => subscribers.delete(response))
}

function result(path: string, request: Request): object {
  if (request.method === 'GetTask') return task(request)
  if (path !== '/a2a/message') return { task: task(request) }
  return { message: { messageId: crypto.randomUUID(), role: 'ROLE_AGENT', parts: [{ text: answer }] } }
}

function answerTo(path: string, body: string, response: ServerResponse): void {
  const request = JSON.parse(body) as Request
  if (request.method === 'SendStreamingMessage') return answerStream(request, response)
  if (request.method === 'SubscribeToTask') return answerSubscriber(request, response)
  const text = JSON.stringify({ jsonrpc: '2.0', id: request.id, result: result(path, request) })
  response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) })
  response.end(text)
}

function listen(request: IncomingMessage, response: ServerResponse): void {
  let body = ''
  request.setEncoding('utf8')
  request.on('data', (piece: string) => (body += piece))
  request.on('end', () => answerTo(request.url ?? '', body, response))
}

const server = createServer(listen)
server.listen(0, '127.0.0.1', () => {
  runContestant({
    port: (server.address() as AddressInfo).port,
    announce(text) {
      const chunk = { artifactId: 'news', parts: [{ text }] }
      const update = { taskId: 'task', contextId: 'context', artifact: chunk, append: true, lastChunk: false }
      const bytes = `data: ${JSON.stringify({ jsonrpc: '2.0', id: 1, result: { artifactUpdate: update } })}\n\n`
      for (const subscriber of subscribers) subscriber.write(bytes)
    },
    close: () => server.closeAllConnections(),
  })
})
