/**
 * The door `@parley/a2a/node`: an agent, a listener and a place on disk, in one call.
 * The only file that chooses for you: port 3000 of this machine, SQLite in ./.parley.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { createServer, IncomingMessage, type Server as HttpServer, type ServerResponse } from 'node:http'
import { createServer as createTlsServer, type Server as HttpsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { guardedWebhooks, type WebhookGuardOptions } from '../client/guarded-webhooks.ts'
import type { Store } from '../stores/store.ts'
import type { EngineLog } from '../engine/contract.ts'
import { announce, type AnnounceOptions, type Listening } from './announce.ts'
import { ConfigError } from './config-error.ts'
import {
  type ConnectionCounts,
  type ConnectionLimiter,
  type ConnectionLimits,
  createConnectionLimiter,
  defaultConnections,
} from './connection-limits.ts'
import { stallMs } from './defaults.ts'
import { directRequest } from './direct-request.ts'
import type { GrpcListener, GrpcTls } from './grpc-listener.ts'
import { type GrpcListeners, openGrpcListeners } from './grpc-listeners.ts'
import { createHandler, type Handler } from './handler.ts'
import { hostInUrl } from './host-in-url.ts'
import { listenForGrpc } from './listen-for-grpc.ts'
import { consoleLog } from './log.ts'
import { isForOneHost, refuseHost } from './node-adapter.ts'
import { dropStalled, isWaitingForClient, type OpenResponses, trackResponses } from './open-responses.ts'
import type { AgentsOption, HouseOptions, Limits } from './options.ts'
import { isPortTaken, portTaken } from './port-taken.ts'
import type { PushOptions } from './push-options.ts'
import { requireNode } from './require-node.ts'

export { guardedFetch, guardedLookup } from '../client/guarded-fetch.ts'
export type { GuardOptions } from '../client/guarded-fetch.ts'
export { guardedWebhooks } from '../client/guarded-webhooks.ts'
export type { WebhookGuard, WebhookGuardOptions } from '../client/guarded-webhooks.ts'
export { clientNetwork } from './client-network.ts'
export type { ConnectionCounts, ConnectionLimits } from './connection-limits.ts'

/** As for a handler, with a guard that keeps webhooks off your network; `allow` names what they may reach all the same. */
export type ServePushOptions = Omit<PushOptions, 'fetch'> & Partial<Pick<PushOptions, 'fetch'>> & WebhookGuardOptions

export type ServeOptions = Omit<HouseOptions, 'push' | 'limits'> &
  AgentsOption & {
    readonly limits?: Partial<Limits & ConnectionLimits>
    /** How long a client may take to send the head of a request, from when it connected. Default 60 s. */
    readonly headTimeoutMs?: number
    /** How long a client may take to send a whole request. Default 5 min. */
    readonly requestTimeoutMs?: number
    /** Tells webhooks of what happens to a task. Default: no webhooks. */
    readonly push?: true | ServePushOptions
    /** Default 3000; 0 takes a free one. */
    readonly port?: number
    /** Default 127.0.0.1: this machine only. */
    readonly host?: string
    /** Speaks HTTPS. Default: no TLS, for this machine and for proxies that end it. */
    readonly tls?: ServeTls
    /**
     * Sees every request before the agents do, and answers those that are for others; `true` says that it took the request.
     * A shutdown waits for its answers as for all others.
     */
    readonly front?: Front
    /** Speaks gRPC here as well; 0 takes a free port. Default: no gRPC. Needs `@grpc/grpc-js` and `@bufbuild/protobuf`. */
    readonly grpcPort?: number
    /** Of the gRPC port. Default: certificate and key of `tls`, if that is given. */
    readonly grpcTls?: GrpcTls
    /**
     * Does not print where it listens. Default false: the address goes to `log`, or without a `log` to stderr in two lines,
     * except under `node --test`.
     */
    readonly quiet?: boolean
    /** Default: SQLite in `dataDir`. Closed with the server. */
    readonly store?: Store
    /** Default `./.parley`. */
    readonly dataDir?: string
    /** How long `close` lets requests finish that are being answered, and agents that cannot be resumed. Default 5 s. */
    readonly drainMs?: number
    /** How long `close` goes on serving after `/readyz` has said that it is going, for those who route by it. Default 0. */
    readonly noticeMs?: number
  }

export interface ServeTls {
  /** PEM: the certificate with the chain that leads to it, and its key. */
  readonly cert: string | Uint8Array
  readonly key: string | Uint8Array
  /** PEM: who signs the certificates of clients. */
  readonly ca?: string | Uint8Array
  /**
   * Asks clients for a certificate, for `mtls()` or a function of your own to read. Whoever has none that `ca` vouches for
   * is let in as one without a certificate. Default: if `ca` is given.
   */
  readonly requestCert?: boolean
  /** For how long browsers are told to come by TLS only (HSTS); 0 makes them forget it. Default 1 year. */
  readonly hstsSeconds?: number
}

export type Front = (request: IncomingMessage, response: ServerResponse) => boolean

export interface Server {
  /** Where it listens, such as `http://127.0.0.1:3000`. */
  readonly url: string
  readonly port: number
  /** If gRPC is spoken too. */
  readonly grpcPort?: number
  /** The gRPC ports of single agents, by name. Resolves when they are open, also after agents have changed. */
  grpcPorts(): Promise<Readonly<Record<string, number>>>
  readonly server: HttpServer | HttpsServer
  readonly handler: Handler
  /** The connections of the HTTP and gRPC listeners. */
  connections(): ConnectionCounts
  /**
   * Takes nothing new, lets answers and agents that cannot be resumed finish within `drainMs`, then stops what runs and
   * closes the store. Where other servers share the store, they go on with it at once.
   */
  close(): Promise<void>
}

export async function serve(options: ServeOptions): Promise<Server> {
  requireNode(process.versions.node)
  const { port = 3000, host = '127.0.0.1', drainMs = 5_000, noticeMs = 0, tls } = options
  const server = createListener(options)
  const limiters = limitersOf(options)
  server.on('connection', limiters.http.admit)
  const store = options.store ?? (await defaultStore(options.dataDir))
  const handler = await openHandler(options, store)
  const answering = trackResponses(server)
  dropStalled(server, answering, options.stallMs ?? stallMs, () => handler.readers.stalled())
  server.on('request', receiver(options, handler))
  let grpc: GrpcListeners
  try {
    await handler.ready
    await listen(server, port, host, 'port')
    grpc = await openGrpc(handler, options, host, server, limiters.grpc)
  } catch (reason) {
    server.close()
    // What went wrong first is what has to be told.
    await handler.close().catch(() => {})
    throw reason
  }
  const address = server.address() as AddressInfo
  const url = `${tls === undefined ? 'http' : 'https'}://${urlHost(host)}:${address.port}`
  announce({ url, grpcPort: grpc?.port, agents: listedAgents(options) }, announcing(options))
  let closed: Promise<void> | undefined
  return {
    url,
    port: address.port,
    ...(grpc.port !== undefined ? { grpcPort: grpc.port } : {}),
    grpcPorts: () => grpc.settled().then(grpc.agentPorts),
    server,
    handler,
    connections: () => totalOf(limiters.http.counts, limiters.grpc.counts),
    close: () => (closed ??= shutDown({ server, grpc }, handler, answering, { drainMs, noticeMs })),
  }
}

function listedAgents(options: ServeOptions): Listening['agents'] {
  if (options.agents === undefined) return [{ name: options.name ?? 'Agent', path: '' }]
  return Object.keys(options.agents).map((name) => ({ name, path: `/a2a/${name}` }))
}

function announcing({ quiet, log }: ServeOptions): AnnounceOptions {
  // A test opens many servers, and its output is for its results.
  const isTest = process.execArgv.some((argument) => argument.startsWith('--test'))
  // On stderr: what a program answers on stdout is its own.
  return { quiet: quiet ?? (isTest && log === undefined), log, print: (line) => console.error(line) }
}

/** Node's default holds 511 connections that wait to be accepted; the rest of a burst is reset or waits for seconds. */
const backlog = 4_096

/** Answers may be streams of any length, so only the receiving of a request is timed; proxies keep connections a minute. */
function listenerOptions({ headTimeoutMs = 60_000, requestTimeoutMs = 300_000 }: ServeOptions) {
  const headersTimeout = Math.min(headTimeoutMs, requestTimeoutMs)
  return {
    requestTimeout: requestTimeoutMs,
    headersTimeout,
    keepAliveTimeout: 65_000,
    // Late connections are closed at the next look: Node's own 30 s would make a minute one and a half.
    connectionsCheckingInterval: Math.ceil(headersTimeout / 12),
    IncomingMessage: directRequest(IncomingMessage),
  }
}

/** HTTP and gRPC count apart, so that neither can take all places of the other. */
function limitersOf(options: ServeOptions): { readonly http: ConnectionLimiter; readonly grpc: ConnectionLimiter } {
  const { trustProxy = false, log = consoleLog } = options
  const { connections = defaultConnections, connectionsPerAddress } = options.limits ?? {}
  const limits = { connections, connectionsPerAddress: trustProxy ? undefined : connectionsPerAddress, log }
  return {
    http: createConnectionLimiter({ ...limits, isIdle: isWaitingForClient }),
    grpc: createConnectionLimiter(limits),
  }
}

function totalOf(http: ConnectionCounts, grpc: ConnectionCounts): ConnectionCounts {
  return {
    open: http.open + grpc.open,
    refused: http.refused + grpc.refused,
    dropped: http.dropped + grpc.dropped,
  }
}

/** Before anything is opened: a mistake in a certificate leaves nothing behind. */
function createListener(options: ServeOptions): HttpServer | HttpsServer {
  const { tls } = options
  const listening = listenerOptions(options)
  if (tls === undefined) return createServer(listening)
  const [cert, key, ca] = [tls.cert, tls.key, tls.ca].map((pem) => (pem === undefined ? undefined : Buffer.from(pem)))
  const requestCert = tls.requestCert ?? ca !== undefined
  try {
    // Cards are for everybody, so who shows no certificate is not cut off: `authenticate` knows what needs one.
    return createTlsServer({ ...listening, cert, key, ca, requestCert, rejectUnauthorized: false })
  } catch (cause) {
    throw new ConfigError('tls', `give a certificate and its key in PEM (${(cause as Error).message})`)
  }
}

type Receive = (request: IncomingMessage, response: ServerResponse) => void

function receiver({ tls, front, log = consoleLog }: ServeOptions, handler: Handler): Receive {
  const inside: Receive = front === undefined ? handler.node : behind(front, handler, log)
  if (tls === undefined) return inside
  const hsts = `max-age=${tls.hstsSeconds ?? 31_536_000}`
  return (request, response) => {
    response.setHeader('strict-transport-security', hsts)
    inside(request, response)
  }
}

function behind(front: Front, handler: Handler, log: EngineLog): Receive {
  return (request, response) => {
    if (!isForOneHost(request)) return refuseHost(response)
    try {
      if (front(request, response)) return
    } catch (cause) {
      log.error('front failed', { cause })
      if (response.headersSent) response.destroy()
      else response.writeHead(500, { 'content-length': 0 }).end()
      return
    }
    handler.node(request, response)
  }
}

/** Loaded only when wanted, so that an old Node hears the sentence above and not of a missing module. */
async function defaultStore(dataDir = './.parley'): Promise<Store> {
  const { sqliteStore } = await import('../stores/sqlite/index.ts')
  return sqliteStore(join(dataDir, 'parley.db'))
}

function guarded(options: ServePushOptions): PushOptions {
  const guard = guardedWebhooks(options)
  return {
    ...options,
    fetch: options.fetch ?? guard.fetch,
    refuses: (url) => options.refuses?.(url) ?? guard.refuses(url),
  }
}

/** A mistake in the options must not keep the store: whoever mends it opens the same file again. */
async function openHandler(options: ServeOptions, store: Store): Promise<Handler> {
  try {
    const { push, ...rest } = options
    return createHandler({
      homePage: true,
      ...rest,
      store,
      ...(push !== undefined ? { push: guarded(push === true ? {} : push) } : {}),
    })
  } catch (reason) {
    await store.close()
    throw reason
  }
}

function openGrpc(
  handler: Handler,
  options: ServeOptions,
  host: string,
  server: HttpServer | HttpsServer,
  { admit }: ConnectionLimiter,
): Promise<GrpcListeners> {
  const { grpcPort, tls, log = consoleLog } = options
  const { port: httpPort } = server.address() as AddressInfo
  const grpcTls = options.grpcTls ?? (tls === undefined ? undefined : { cert: tls.cert, key: tls.key })
  const common = { host, httpPort, httpIsSecure: tls !== undefined, ...(grpcTls !== undefined ? { tls: grpcTls } : {}) }
  return openGrpcListeners({
    handler: handler.grpc,
    port: grpcPort,
    async listen(port, agent) {
      await requireFree(port, host)
      const listener = await listenForGrpc(handler, { ...common, port, ...(agent !== undefined ? { agent } : {}) })
      return watched(listener, admit)
    },
    log,
  })
}

/** grpc-js keeps its sockets to itself, but Node publishes every connection that any listener of the process accepts. */
function watched(listener: GrpcListener, admit: (socket: Socket) => unknown): GrpcListener {
  const accepted = (message: unknown): void => {
    const { socket } = message as { readonly socket: Socket }
    if (socket.localPort === listener.port) admit(socket)
  }
  const unwatch = (): void => void unsubscribe('net.server.socket', accepted)
  subscribe('net.server.socket', accepted)
  return {
    ...listener,
    drain: () => listener.drain().finally(unwatch),
    close() {
      unwatch()
      listener.close()
    },
  }
}

function urlHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost'
  return hostInUrl(host)
}

type PortSetting = Parameters<typeof portTaken>[0]

function listen(server: HttpServer | HttpsServer, port: number, host: string, setting: PortSetting): Promise<void> {
  return new Promise((resolve, reject) => {
    const failed = (reason: Error): void => reject(isPortTaken(reason) ? portTaken(setting, host, port) : reason)
    server.once('error', failed)
    server.listen({ port, host, backlog }, () => {
      server.off('error', failed)
      resolve()
    })
  })
}

/** Asked before grpc-js is: that prints a line of its own for a port that is taken. */
async function requireFree(port: number, host: string): Promise<void> {
  if (port === 0) return
  const server = createServer()
  await listen(server, port, host, 'grpcPort')
  await new Promise<void>((resolve) => server.close(() => resolve()))
}

/** A store that does not answer any more is not waited for longer than this: whoever is told to go must go. */
const letGoMs = 15_000

interface ShutDownTimes {
  readonly drainMs: number
  readonly noticeMs: number
}

interface Listeners {
  readonly server: HttpServer | HttpsServer
  readonly grpc: GrpcListeners
}

async function shutDown(
  { server, grpc }: Listeners,
  handler: Handler,
  answering: OpenResponses,
  { drainMs, noticeMs }: ShutDownTimes,
): Promise<void> {
  handler.leave()
  if (noticeMs > 0) await delay(noticeMs)
  const gone = new Promise<void>((resolve) => server.close(() => resolve()))
  let isGrpcGone = false
  void grpc.drain().then(() => (isGrpcGone = true))
  const deadline = performance.now() + drainMs
  let isDrained = false
  const drained = (): void => void (isDrained = true)
  void handler.drain().then(drained, drained)
  const isWaiting = (): boolean => answering().some((response) => !response.headersSent) || grpc.answering() > 0
  const isBusy = (): boolean => !isDrained || isWaiting()
  // The first look is after what has ended has been told.
  do await delay(10)
  while (isBusy() && performance.now() < deadline)
  try {
    await Promise.race([handler.close(), delay(letGoMs, undefined, { ref: false })])
    // Streams have been told by now; one more moment for their last words to leave.
    const settled = performance.now() + 1_000
    while ((answering().length > 0 || !isGrpcGone) && performance.now() < settled) await delay(10)
  } finally {
    // Also if the store cannot be closed: whoever is told to go must give back its port.
    server.closeAllConnections()
    grpc.close()
    await gone
  }
}
