/**
 * The door `@parley/a2a/node`: an agent, a listener and a place on disk, in one call.
 * The only file that chooses for you: port 3000 of this machine, SQLite in ./.parley.
 */
import { createServer, type Server as HttpServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Store } from '../stores/store.ts'
import { stallMs } from './defaults.ts'
import { createHandler, type Handler } from './handler.ts'
import type { AgentsOption, HouseOptions } from './options.ts'
import { requireNode } from './require-node.ts'

export { guardedFetch } from '../client/guarded-fetch.ts'
export type { GuardOptions } from '../client/guarded-fetch.ts'

export type ServeOptions = HouseOptions &
  AgentsOption & {
    /** Default 3000; 0 takes a free one. */
    readonly port?: number
    /** Default 127.0.0.1: this machine only. */
    readonly host?: string
    /** Default: SQLite in `dataDir`. Closed with the server. */
    readonly store?: Store
    /** Default `./.parley`. */
    readonly dataDir?: string
    /** How long `close` lets requests finish that are being answered. Default 5 s. */
    readonly drainMs?: number
  }

export interface Server {
  /** Where it listens, such as `http://127.0.0.1:3000`. */
  readonly url: string
  readonly port: number
  readonly server: HttpServer
  readonly handler: Handler
  /** Takes nothing new, lets answers finish within `drainMs`, then stops what runs and closes the store. */
  close(): Promise<void>
}

export async function serve(options: ServeOptions): Promise<Server> {
  requireNode(process.versions.node)
  const { port = 3000, host = '127.0.0.1', drainMs = 5_000 } = options
  const store = options.store ?? (await defaultStore(options.dataDir))
  const handler = await openHandler(options, store)
  // Answers may be streams of any length, so only the receiving of a request is timed; proxies keep connections a minute.
  const server = createServer(
    { requestTimeout: 300_000, headersTimeout: 60_000, keepAliveTimeout: 65_000 },
    handler.node,
  )
  const answering = track(server)
  dropStalled(server, answering, options.stallMs ?? stallMs)
  try {
    await handler.ready
    await listen(server, port, host)
  } catch (reason) {
    await handler.close()
    throw reason
  }
  const address = server.address() as AddressInfo
  let closed: Promise<void> | undefined
  return {
    url: `http://${urlHost(host)}:${address.port}`,
    port: address.port,
    server,
    handler,
    close: () => (closed ??= shutDown(server, handler, answering, drainMs)),
  }
}

/** Loaded only when wanted, so that an old Node hears the sentence above and not of a missing module. */
async function defaultStore(dataDir = './.parley'): Promise<Store> {
  const { sqliteStore } = await import('../stores/sqlite/index.ts')
  return sqliteStore(join(dataDir, 'parley.db'))
}

/** A mistake in the options must not keep the store: whoever mends it opens the same file again. */
async function openHandler(options: ServeOptions, store: Store): Promise<Handler> {
  try {
    return createHandler({ ...options, store })
  } catch (reason) {
    await store.close()
    throw reason
  }
}

function urlHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost'
  return host.includes(':') ? `[${host}]` : host
}

function listen(server: HttpServer, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve()
    })
  })
}

/** All responses that are open, streams too. A shutdown waits for those whose head is not out; `dropStalled` looks at all. */
function track(server: HttpServer): Answering {
  // A table rather than a set: of what comes and goes a set holds on to far more (see engine/passing.ts).
  const table: (ServerResponse | undefined)[] = []
  const free: number[] = []
  server.on('request', (_request, response) => {
    const place = free.pop() ?? table.length
    table[place] = response
    response.on('close', () => {
      table[place] = undefined
      free.push(place)
    })
  })
  return () => table.filter((response) => response !== undefined)
}

type Answering = () => readonly ServerResponse[]

/**
 * Cuts off whoever takes nothing of an answer for so long. Looked at now and then, over the answers that are under way: a
 * timeout on the socket is moved with every read and write, and cost a tenth of a small request.
 */
function dropStalled(server: HttpServer, answering: Answering, stallMs: number): void {
  const seen = new WeakMap<ServerResponse, { readonly written: number; readonly at: number }>()
  const look = (): void => {
    const now = Date.now()
    for (const response of answering()) {
      const { writableLength = 0, bytesWritten: written = 0 } = response.socket ?? {}
      const last = seen.get(response)
      if (writableLength === 0 || last?.written !== written) seen.set(response, { written, at: now })
      else if (now - last.at >= stallMs) response.destroy()
    }
  }
  const timer = setInterval(look, Math.max(50, stallMs / 4)).unref()
  server.once('close', () => clearInterval(timer))
}

async function shutDown(server: HttpServer, handler: Handler, answering: Answering, drainMs: number): Promise<void> {
  const gone = new Promise<void>((resolve) => server.close(() => resolve()))
  const deadline = Date.now() + drainMs
  while (answering().some((response) => !response.headersSent) && Date.now() < deadline) await delay(10)
  await handler.close()
  // Streams have been told by now; one more moment for their last words to leave.
  const settled = Date.now() + 1_000
  while (answering().length > 0 && Date.now() < settled) await delay(10)
  server.closeAllConnections()
  await gone
}
