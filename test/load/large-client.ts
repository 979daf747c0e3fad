/** The callers of the large-task load: `attack` asks for large tasks, `probe` times what others wait. A process for each. */
import { Agent, request } from 'node:http'
import { connect as connectHttp2 } from 'node:http2'
import { connect } from 'node:net'
import { encodeProtobuf } from '../../packages/a2a/src/bindings/grpc/codec.ts'

/** How large tasks are asked for. */
export const ways = ['jsonrpc', 'rest', 'grpc', 'mcp', 'admin', 'list', 'replay', 'bodies', 'output'] as const
export type Way = (typeof ways)[number]

export interface StoredTask {
  readonly id: string
  readonly contextId: string
}

export interface LargeOrder {
  readonly role: 'attack' | 'probe'
  readonly port: number
  readonly grpcPort: number
  readonly key: string
  readonly adminKey: string
  readonly way: Way
  readonly tasks: readonly StoredTask[]
  /** Requests at once. */
  readonly count: number
  readonly reads: boolean
}

export interface LargeCounts {
  readonly answered: number
  /** Answers that are no success. */
  readonly refused: number
  readonly isDone: boolean
  readonly lastError: string
  /** Of `probe`; a request that is not answered yet counts with its time so far. */
  readonly healthMs: readonly number[]
  readonly messageMs: readonly number[]
}

/** Clients that read nothing hang up after this time, and the next ones come. */
const hangUpMs = 3_000

const isMain = process.argv[1] === import.meta.filename
if (isMain) run(JSON.parse(process.argv[2] ?? '') as LargeOrder)

function run(order: LargeOrder): void {
  const { port, grpcPort, key, adminKey, way, tasks, count, reads } = order
  let answered = 0
  let refused = 0
  let lastError = ''
  const healthMs: number[] = []
  const messageMs: number[] = []
  const open = new Map<symbol, { readonly since: number; readonly into: number[] }>()
  process.on('disconnect', () => process.exit(0))
  process.on('message', () => {
    const now = performance.now()
    const pending = (into: number[]): number[] =>
      [...open.values()].filter((one) => one.into === into).map(({ since }) => now - since)
    const counts: LargeCounts = {
      answered,
      refused,
      isDone: reads && answered + refused >= count,
      lastError,
      healthMs: [...healthMs, ...pending(healthMs)],
      messageMs: [...messageMs, ...pending(messageMs)],
    }
    process.send?.(counts)
  })
  if (order.role === 'probe') probe()
  else attack()

  function attack(): void {
    const call = way === 'grpc' ? grpcWave : httpWave
    const hangUp = call()
    if (reads) return
    let leave = hangUp
    setInterval(() => {
      leave()
      leave = call()
    }, hangUpMs)
  }

  function note(isOk: boolean, text: string): void {
    if (isOk) answered += 1
    else {
      refused += 1
      lastError = text.slice(0, 300)
    }
  }

  function httpWave(): () => void {
    const sockets = Array.from({ length: count }, (_, index) => {
      const socket = connect({ host: '127.0.0.1', port, noDelay: true })
      let head = ''
      socket.on('error', () => {})
      socket.on('connect', () => {
        if (!reads) socket.pause()
        socket.write(httpRequest(index))
      })
      if (!reads) return socket
      socket.on('data', (data: Buffer) => {
        if (head.length < 300) head += data.toString('latin1', 0, 300)
      })
      socket.once('close', () => note(head.startsWith('HTTP/1.1 200') && !head.includes('"isError":true'), head))
      return socket
    })
    return () => {
      for (const socket of sockets) socket.destroy()
    }
  }

  function httpRequest(index: number): string {
    const { id, contextId } = tasks[index % tasks.length] as StoredTask
    const json = (path: string, body: unknown): string =>
      post(path, JSON.stringify(body), way === 'admin' ? adminKey : key)
    switch (way) {
      case 'jsonrpc':
        return json('/a2a/big', { jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id } })
      case 'mcp': {
        const params = { name: 'get_task', arguments: { agent: 'big', taskId: id } }
        return json('/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params })
      }
      case 'admin':
        return get(`/admin/tasks/${id}`, adminKey)
      case 'list':
        return get(`/a2a/big/tasks?contextId=${contextId}&includeArtifacts=true`, key)
      case 'replay':
        return get(`/a2a/echo/tasks/${id}:subscribe`, key, 'Last-Event-ID: 0\r\n')
      case 'bodies':
        return json('/a2a/echo/message:send', messageOf('x'.repeat(19_900_000)))
      case 'output':
        return json('/a2a/printer/message:send', messageOf('print'))
      default:
        return get(`/a2a/big/tasks/${id}`, key)
    }
  }

  function grpcWave(): () => void {
    const settings = reads ? {} : { initialWindowSize: 1 }
    const session = connectHttp2(`http://127.0.0.1:${grpcPort}`, { settings })
    session.on('error', () => {})
    for (let index = 0; index < count; index += 1) {
      const message = encodeProtobuf('lf.a2a.v1.GetTaskRequest', { id: tasks[index % tasks.length]?.id })
      const head = Buffer.alloc(5)
      head.writeUInt32BE(message.length, 1)
      const stream = session.request({
        ':method': 'POST',
        ':path': '/lf.a2a.v1.A2AService/GetTask',
        'content-type': 'application/grpc',
        te: 'trailers',
        authorization: `Bearer ${key}`,
        'a2a-version': '1.0',
      })
      let bytes = 0
      stream.on('error', () => {})
      stream.end(Buffer.concat([head, message]))
      if (!reads) {
        stream.pause()
        continue
      }
      let status = ''
      const look = (headers: Readonly<Record<string, unknown>>): void => {
        const { 'grpc-status': code, 'grpc-message': message = '' } = headers
        if (code !== undefined) status = `${String(code)} ${String(message)}`
      }
      stream.on('response', look).on('trailers', look)
      stream.on('data', (data: Buffer) => void (bytes += data.length))
      stream.once('close', () =>
        note(status.startsWith('0') && bytes > 1_000_000, `gRPC status ${status}, ${bytes} bytes`),
      )
    }
    return () => session.destroy()
  }

  /** Asks on time, whether or not the last ones were answered. */
  function probe(): void {
    const agent = new Agent({ keepAlive: true })
    const time = (into: number[], options: object, body?: string): void => {
      const asked = Symbol()
      const since = performance.now()
      open.set(asked, { since, into })
      const end = (): void => {
        if (open.delete(asked)) into.push(performance.now() - since)
      }
      const sent = request({ host: '127.0.0.1', port, agent, ...options }, (response) => {
        note(response.statusCode === 200, `HTTP ${response.statusCode}`)
        response.resume().once('close', end)
      })
      sent.once('error', (reason) => {
        note(false, String(reason))
        end()
      })
      sent.end(body)
    }
    setInterval(() => time(healthMs, { path: '/healthz' }), 25)
    setInterval(() => {
      const body = JSON.stringify(messageOf('hello'))
      const headers = { ...jsonHeaders, authorization: `Bearer ${key}`, 'content-length': body.length }
      time(messageMs, { method: 'POST', path: '/a2a/echo/message:send', headers }, body)
    }, 50)
  }
}

const jsonHeaders = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  'a2a-version': '1.0',
}

function messageOf(text: string): object {
  return { message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }] } }
}

function get(path: string, key: string, more = ''): string {
  return `GET ${path} HTTP/1.1\r\n${headOf(key)}${more}\r\n`
}

function post(path: string, body: string, key: string): string {
  const more = `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`
  return `POST ${path} HTTP/1.1\r\n${headOf(key)}${more}\r\n${body}`
}

function headOf(key: string): string {
  return `Host: 127.0.0.1\r\nConnection: close\r\nA2A-Version: 1.0\r\nAccept: application/json, text/event-stream\r\nAuthorization: Bearer ${key}\r\n`
}
