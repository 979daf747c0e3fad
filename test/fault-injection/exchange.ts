/**
 * One request at a faulty server, and every way to answer it badly. Responses are written byte by byte
 * to the socket, because an HTTP library would refuse to break the rules.
 */
import type { Socket } from 'node:net'

export type Operation = 'SendMessage' | 'SendStreamingMessage' | 'GetTask' | 'SubscribeToTask' | 'CancelTask' | 'card'

export interface Head {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
}

type Headers = Readonly<Record<string, string | number>>

export interface Exchange extends Head {
  readonly body: string
  readonly socket: Socket
  /** The operation, over any binding; `undefined` if it is not an A2A request. */
  readonly operation: Operation | undefined
  /** The payload: the message of a send, the id of a task. */
  readonly params: any
  /** Whether the whole response has been written: only then may the client keep the connection open. */
  readonly isAnswered: boolean
  /** Bytes as they are. */
  raw(bytes: string | Uint8Array): void
  /** Status and the given headers, without a computed length. */
  head(status: number, headers?: Headers): void
  /** A whole answer. */
  answer(status: number, headers: Headers, body: string | Uint8Array): void
  json(value: unknown, status?: number, headers?: Headers): void
  /** A result or an error in the envelope of the binding that asked. */
  result(payload: unknown): void
  error(code: number, message: string, status?: number): void
  /** Begins a stream of events. */
  stream(headers?: Headers): void
  event(payload: unknown, id?: string | number): void
  chunk(text: string | Uint8Array): void
  /** Ends a started body properly. */
  end(): void
  /** Closes the connection at any point. */
  hangUp(): void
  /** The same with a TCP reset. */
  reset(): void
}

export function createExchange(head: Head, body: string, socket: Socket): Exchange {
  const { operation, params, id } = readCall(head, body)
  const isRest = id === undefined
  let isAnswered = false

  const raw = (bytes: string | Uint8Array): void => {
    if (!socket.destroyed) socket.write(bytes)
  }
  const writeHead = (status: number, headers: Headers = {}): void => {
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
    raw(`HTTP/1.1 ${status} Whatever\r\n${lines.join('')}\r\n`)
  }
  const answer = (status: number, headers: Headers, content: string | Uint8Array): void => {
    writeHead(status, { 'content-length': Buffer.byteLength(content), ...headers })
    raw(content)
    isAnswered = true
  }
  const json = (value: unknown, status = 200, headers: Headers = {}): void =>
    answer(status, { 'content-type': 'application/json', ...headers }, JSON.stringify(value))
  const wrap = (payload: unknown): unknown => (isRest ? payload : { jsonrpc: '2.0', id, result: payload })
  const chunk = (text: string | Uint8Array): void => {
    raw(`${Buffer.byteLength(text).toString(16)}\r\n`)
    raw(text)
    raw('\r\n')
  }

  return {
    ...head,
    body,
    socket,
    operation,
    params,
    get isAnswered() {
      return isAnswered
    },
    raw,
    head: writeHead,
    answer,
    json,
    result: (payload) => json(wrap(payload)),
    error(code, message, status = 200) {
      if (isRest) json({ error: { code: status, message, details: [] } }, status === 200 ? 400 : status)
      else json({ jsonrpc: '2.0', id, error: { code, message } }, status)
    },
    stream: (headers = {}) =>
      writeHead(200, { 'content-type': 'text/event-stream', 'transfer-encoding': 'chunked', ...headers }),
    event(payload, eventId) {
      const mark = eventId === undefined ? '' : `id: ${eventId}\n`
      chunk(`${mark}data: ${JSON.stringify(wrap(payload))}\n\n`)
    },
    chunk,
    end() {
      raw('0\r\n\r\n')
      isAnswered = true
    },
    hangUp: () => socket.destroySoon(),
    reset: () => void socket.resetAndDestroy(),
  }
}

const wellKnown = new Set(['/.well-known/agent-card.json', '/.well-known/agent.json'])

function readCall(
  { method, path }: Head,
  body: string,
): { operation: Operation | undefined; params: any; id?: unknown } {
  const [route = ''] = path.split('?')
  if (wellKnown.has(route)) return { operation: 'card', params: {} }
  const json: any = body === '' ? {} : JSON.parse(body)
  if ('jsonrpc' in json) return { operation: json.method, params: json.params, id: json.id ?? null }
  const [, id, verb] = /\/tasks\/([^/:]+)(?::(\w+))?$/.exec(route) ?? []
  if (route.endsWith('/message:send')) return { operation: 'SendMessage', params: json }
  if (route.endsWith('/message:stream')) return { operation: 'SendStreamingMessage', params: json }
  if (id === undefined) return { operation: undefined, params: json }
  const operations = { subscribe: 'SubscribeToTask', cancel: 'CancelTask' } as const
  if (verb === undefined) return { operation: method === 'GET' ? 'GetTask' : undefined, params: { id } }
  return { operation: operations[verb as 'subscribe'], params: { id } }
}
