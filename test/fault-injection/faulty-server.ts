/** A server with minimal HTTP, so that a test can break any part of it. */
import { createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { createExchange } from './exchange.ts'
import type { Exchange, Head, Operation } from './exchange.ts'

export type ExchangeHandler = (exchange: Exchange) => void | Promise<void>

export interface FaultyServerOptions {
  /** In the order in which the card lists them. */
  readonly bindings?: readonly ('JSONRPC' | 'HTTP+JSON')[]
  readonly version?: string
  /** Merged into the card. */
  readonly card?: object
  readonly port?: number
}

/** What it does with each operation. `other`: all without their own handler. */
export type ExchangeHandlers = { readonly [operation in Operation | 'other']?: ExchangeHandler }

export interface FaultyServer {
  readonly url: string
  readonly port: number
  readonly card: object
  /** The requests, without those for the card. */
  readonly calls: readonly Exchange[]
  readonly cards: readonly Exchange[]
  count(operation: Operation): number
  /** Connections on which the client still waits for a response or its rest. */
  readonly waiting: number
  /** Connections accepted so far. */
  readonly connections: number
  /** Ends everything that is still open. */
  close(): Promise<void>
}

export async function openFaultyServer(
  answers: ExchangeHandlers | ExchangeHandler,
  options: FaultyServerOptions = {},
): Promise<FaultyServer> {
  const { bindings = ['JSONRPC'], version = '1.0' } = options
  const open = new Map<Socket, Exchange | undefined>()
  const seen: Exchange[] = []
  let connections = 0

  // Small writes would otherwise wait for the acknowledgement of the last one, 40 ms each.
  const server = createServer({ noDelay: true }, (socket) => {
    connections += 1
    open.set(socket, undefined)
    socket.on('error', () => {}).once('close', () => open.delete(socket))
    readRequests(socket, (head, body) => {
      const exchange = createExchange(head, body, socket)
      open.set(socket, exchange)
      seen.push(exchange)
      void answer(exchange)
    })
  })

  async function answer(exchange: Exchange): Promise<void> {
    if (typeof answers === 'function') return answers(exchange)
    const given = (exchange.operation === undefined ? undefined : answers[exchange.operation]) ?? answers.other
    if (given !== undefined) return given(exchange)
    if (exchange.operation === 'card') exchange.json(card)
    else exchange.error(-32_601, 'Method not found', 404)
  }

  await new Promise<void>((resolve) => server.listen(options.port ?? 0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}`
  const paths = { JSONRPC: '/rpc', 'HTTP+JSON': '/rest' } as const
  const card = cardOf(
    bindings.map((binding) => ({
      url: url + paths[binding],
      protocolBinding: binding,
      protocolVersion: version,
    })),
    options.card,
  )

  return {
    url,
    port,
    card,
    get calls() {
      return seen.filter(({ operation }) => operation !== 'card')
    },
    get cards() {
      return seen.filter(({ operation }) => operation === 'card')
    },
    count: (operation) => seen.filter((exchange) => exchange.operation === operation).length,
    get waiting() {
      return [...open.values()].filter((exchange) => exchange !== undefined && !exchange.isAnswered).length
    },
    get connections() {
      return connections
    },
    async close() {
      const done = new Promise((resolve) => server.close(resolve))
      for (const socket of open.keys()) socket.destroy()
      await done
    },
  }
}

export function cardOf(supportedInterfaces: readonly object[], over: object = {}): object {
  return {
    name: 'Hostile',
    description: 'Means you no good',
    version: '1.0.0',
    supportedInterfaces,
    capabilities: { streaming: true, pushNotifications: false },
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [{ id: 'harm', name: 'Harm', description: 'Does harm', tags: ['test'] }],
    ...over,
  }
}

/** Requests as our client writes them: a head, and a body of a known length. */
function readRequests(socket: Socket, take: (head: Head, body: string) => void): void {
  let buffer = Buffer.alloc(0)
  socket.on('data', (bytes) => {
    buffer = Buffer.concat([buffer, bytes])
    for (;;) {
      const end = buffer.indexOf('\r\n\r\n')
      if (end < 0) return
      const head = readHead(buffer.subarray(0, end).toString('latin1'))
      const length = Number(head.headers['content-length'] ?? 0)
      if (buffer.length < end + 4 + length) return
      const body = buffer.subarray(end + 4, end + 4 + length).toString()
      buffer = buffer.subarray(end + 4 + length)
      take(head, body)
    }
  })
}

function readHead(text: string): Head {
  const [first = '', ...lines] = text.split('\r\n')
  const [method = '', path = ''] = first.split(' ')
  const headers = lines.map((line) => {
    const colon = line.indexOf(':')
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const
  })
  return { method, path, headers: Object.fromEntries(headers) }
}
