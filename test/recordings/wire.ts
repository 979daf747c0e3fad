/** Requests as bytes on a socket, and the responses as they come back: no client library, which would repair or hide a change. */
import { once } from 'node:events'
import { Agent, type IncomingMessage, request as httpRequest } from 'node:http'
import { type ClientHttp2Session, connect as connectHttp2, type IncomingHttpHeaders } from 'node:http2'
import { connect } from 'node:net'
import { fromBinary, fromJson, type JsonValue, toBinary, toJson } from '@bufbuild/protobuf'
import {
  descriptorRegistry,
  messageDescriptor,
  serviceDescriptor,
} from '../../packages/a2a/src/bindings/grpc/schema.ts'

export interface Address {
  readonly port: number
  readonly grpcPort: number
}

export interface HttpExchange {
  readonly verb: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

export interface GrpcExchange {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly message: unknown
}

/** A response whose lines are final once `done` resolves. */
export interface Response {
  /** What was received: one line for the status, for each header and for each piece of the body. */
  readonly lines: readonly string[]
  /** The JSON documents of the body: the body itself, or each event or message. */
  readonly documents: readonly any[]
  readonly done: Promise<void>
  /** Resolves when `documents` has this many. */
  received(documents: number): Promise<void>
  /** The client hangs up. */
  cancel(): void
}

export interface Wire {
  http(exchange: HttpExchange): Response
  grpc(exchange: GrpcExchange): Response
  /** Sends these bytes on a connection of their own and reads until the server closes it. */
  socket(bytes: string): Response
  close(): void
}

/** They differ from run to run, or belong to the connection. */
const omittedHeaders = new Set(['date', 'connection', 'keep-alive', 'content-length'])

export function openWire({ port, grpcPort }: Address): Wire {
  const agent = new Agent({ keepAlive: true })
  let session: ClientHttp2Session | undefined
  return {
    http: (exchange) => sendHttp(port, agent, exchange),
    grpc: (exchange) => sendGrpc((session ??= connectHttp2(`http://127.0.0.1:${grpcPort}`)), exchange),
    socket: (bytes) => sendBytes(port, bytes),
    close() {
      agent.destroy()
      session?.destroy()
    },
  }
}

/** Collects what arrives, and wakes those who wait for it. */
function createResponse(cancel: () => void) {
  const lines: string[] = []
  const documents: unknown[] = []
  const { promise: done, resolve: end, reject: fail } = Promise.withResolvers<void>()
  done.catch(() => {})
  const waiting: { readonly count: number; resolve(): void }[] = []
  const add = (document: unknown): void => {
    documents.push(document)
    for (const { count, resolve } of waiting) if (documents.length >= count) resolve()
  }
  const received = (count: number): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>()
    waiting.push({ count, resolve })
    if (documents.length >= count) resolve()
    const ended = done.then(() => {
      if (documents.length < count) throw new Error(`ended after ${documents.length} of ${count}:\n${lines.join('\n')}`)
    })
    return Promise.race([promise, ended])
  }
  const response: Response = { lines, documents, done, received, cancel }
  return { response, lines, add, end, fail }
}

function sendHttp(port: number, agent: Agent, { verb, path, headers, body }: HttpExchange): Response {
  const request = httpRequest({ host: '127.0.0.1', port, agent, method: verb, path, headers })
  const { response, lines, add, end, fail } = createResponse(() => request.destroy())
  request.on('error', (reason) => {
    if (request.destroyed && lines.length > 0) end()
    else fail(reason)
  })
  request.on('response', (message: IncomingMessage) => {
    const type = message.headers['content-type'] ?? ''
    lines.push(String(message.statusCode), ...headerLines(message.rawHeaders))
    message.setEncoding('utf8')
    let text = ''
    message.on('data', (piece: string) => {
      text += piece
      if (!type.startsWith('text/event-stream')) return
      const blocks = text.split('\n\n')
      text = blocks.pop() ?? ''
      for (const block of blocks) {
        // A keep-alive comment comes by the clock.
        if (block.startsWith(':')) continue
        lines.push(...block.split('\n'))
        add(documentIn(block.replace(/^(?:(?!data: ).*\n)*data: /, '')))
      }
    })
    message.on('close', () => {
      if (text !== '') {
        lines.push(...text.split('\n'))
        add(documentIn(text))
      }
      const length = message.headers['content-length']
      if (length !== undefined && verb !== 'HEAD' && Number(length) !== Buffer.byteLength(text))
        lines.push(`content-length: ${length} is wrong`)
      end()
    })
  })
  request.end(body)
  return response
}

function documentIn(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

function headerLines(raw: readonly string[]): string[] {
  const pairs = raw.flatMap((name, at) => (at % 2 === 0 ? [[name.toLowerCase(), raw[at + 1] ?? ''] as const] : []))
  return pairs
    .filter(([name]) => !omittedHeaders.has(name))
    .map(([name, value]) => `${name}: ${value}`)
    .toSorted()
}

function sendGrpc(session: ClientHttp2Session, { path, headers, message }: GrpcExchange): Response {
  const stream = session.request({
    ':method': 'POST',
    ':path': path,
    'content-type': 'application/grpc',
    te: 'trailers',
    ...headers,
  })
  const { response, lines, add, end } = createResponse(() => stream.close())
  const [, service = '', name = ''] = path.split('/')
  const method =
    descriptorRegistry.getService(service) && serviceDescriptor(service).methods.find((one) => one.name === name)
  const note = (received: IncomingHttpHeaders): void => {
    for (const key of Object.keys(received).toSorted()) {
      if (omittedHeaders.has(key)) continue
      const value = String(received[key])
      lines.push(`${key}: ${key === 'grpc-status-details-bin' ? statusDetails(value) : value}`)
    }
  }
  stream.on('response', note)
  stream.on('trailers', note)
  let bytes = Buffer.alloc(0)
  stream.on('data', (piece: Buffer) => {
    bytes = Buffer.concat([bytes, piece])
    while (bytes.length >= 5 && bytes.length >= 5 + bytes.readUInt32BE(1)) {
      const size = bytes.readUInt32BE(1)
      const one = bytes.subarray(5, 5 + size)
      bytes = bytes.subarray(5 + size)
      const document = method
        ? toJson(method.output, fromBinary(method.output, one), { registry: descriptorRegistry })
        : {}
      lines.push(JSON.stringify(document))
      add(document)
    }
  })
  stream.on('error', () => {})
  stream.on('close', end)
  const payload = method
    ? toBinary(method.input, fromJson(method.input, message as JsonValue, { registry: descriptorRegistry }))
    : new Uint8Array()
  const head = Buffer.alloc(5)
  head.writeUInt32BE(payload.length, 1)
  stream.end(Buffer.concat([head, payload]))
  return response
}

function statusDetails(value: string): string {
  const status = messageDescriptor('google.rpc.Status')
  const registry = descriptorRegistry
  return JSON.stringify(toJson(status, fromBinary(status, Buffer.from(value, 'base64')), { registry }))
}

function sendBytes(port: number, bytes: string): Response {
  const socket = connect(port, '127.0.0.1')
  const { response, lines, add, end } = createResponse(() => socket.destroy())
  let text = ''
  socket.setEncoding('utf8').on('data', (piece: string) => (text += piece))
  socket.on('error', () => {})
  void once(socket, 'close').then(() => {
    const [head = '', body = ''] = text.split(/\r\n\r\n([^]*)/)
    const [status = '', ...headers] = head.split('\r\n')
    const isOmitted = (line: string): boolean => omittedHeaders.has(line.split(':')[0]?.toLowerCase() ?? '')
    lines.push(
      status,
      ...headers.filter((line) => !isOmitted(line)).toSorted(),
      ...(body === '' ? [] : body.split('\n')),
    )
    add(documentIn(body))
    end()
  })
  socket.write(bytes)
  return response
}
