/**
 * Entry point `@parley/a2a/node`: an agent, a listener and storage on disk, in one call. The only module with defaults for your
 * environment: port 3000 of this machine, SQLite in ./.parley.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { createServer, IncomingMessage, type Server as HttpServer, type ServerResponse } from 'node:http'
import { createServer as createTlsServer, type Server as HttpsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { guardedWebhooks } from '../client/egress/guarded-fetch.ts'
import type { Store } from '../stores/store.ts'
import type { EngineLog } from '../engine/contract.ts'
import { announce, warnOfOpenServer, type AnnounceOptions, type ListeningServer } from './announce.ts'
import { checkServeOptions } from './check-serve-options.ts'
import { hostInUrl, isLoopbackAddress } from './http/addresses.ts'
import { ConfigError } from './config-error.ts'
import {
  type ConnectionCounts,
  type ConnectionLimiter,
  createConnectionLimiter,
  defaultConnections,
  dropStalled,
  isWaitingForClient,
  type OpenResponses,
  trackResponses,
} from './http/connections.ts'
import { stallMs } from './defaults.ts'
import { createDirectRequestClass } from './http/node-body.ts'
import type { GrpcListener } from './grpc/grpc-listener.ts'
import { openGrpcListener } from './grpc/open-grpc-listener.ts'
import { type GrpcListeners, openGrpcListeners } from './grpc/grpc-listeners.ts'
import { type Handler, type OpenedHandler, openHandler } from './handler.ts'
import { consoleLog } from './console-log.ts'
import type { NodeMiddleware } from './http/node-adapter.ts'
import { dataDirError, isPortInUse, listenError, portInUse, requireNode } from './http/start-errors.ts'
import type { PushOptions } from './push/push-options.ts'
import type { ServePushOptions, ServeOptions, Middleware, Server } from './serve-options.ts'

export type { ServeOptions, Middleware, Server } from './serve-options.ts'

export { guardedFetch, guardedLookup, guardedWebhooks } from '../client/egress/guarded-fetch.ts'
export { nodeFetch } from '../client/egress/node-exchange.ts'
export type { NodeFetchOptions } from '../client/egress/node-exchange.ts'

/**
 * Serves one or several agents over HTTP, and with `grpcPort` over gRPC. Resolves when the listeners are open and
 * interrupted tasks are resumed. Throws ConfigError for invalid options, for a port
 * in use and for a `dataDir` that it cannot use.
 *
 * @example
 * ```ts
 * import { serve } from '@parley/a2a/node'
 *
 * const server = await serve({
 *   name: 'Greeter',
 *   description: 'Greets people by name',
 *   async *agent({ text }) {
 *     yield `Hello, ${text}!`
 *   },
 * })
 * process.once('SIGTERM', () => void server.close())
 * ```
 */
export async function serve(options: ServeOptions): Promise<Server> {
  requireNode(process.versions.node)
  await checkOptions(options)
  const { port = 3000, host = '127.0.0.1', drainMs = 5_000, shutdownDelayMs = 0, tls } = options
  const server = createListener(options)
  const limiters = limitersOf(options)
  server.on('connection', limiters.http.admit)
  const store = options.store ?? (await defaultStore(options.dataDir))
  const opened = await openServedHandler(options, store)
  const { handler } = opened
  const openResponses = trackResponses(server)
  dropStalled(server, openResponses, options.stallMs ?? stallMs, () => handler.readers.stalled())
  server.on('request', createRequestListener(options, opened))
  let grpc: GrpcListeners
  try {
    await handler.ready
    await listen(server, port, host, 'port')
    grpc = await openGrpc(handler, options, host, server, limiters.grpc)
  } catch (reason) {
    server.close()
    // The first error is the one to report.
    await handler.close().catch(() => {})
    throw reason
  }
  const address = server.address() as AddressInfo
  const url = `${tls === undefined ? 'http' : 'https'}://${urlHost(host)}:${address.port}`
  const listening = { url, grpcPort: grpc?.port, agents: listedAgents(options), store: storeDescription(options) }
  const reporting = announceOptions(options)
  announce(listening, reporting)
  if (options.authenticate === undefined && !isLoopbackAddress(address.address)) warnOfOpenServer(host, reporting)
  let closed: Promise<void> | undefined
  return {
    url,
    port: address.port,
    ...(grpc.port !== undefined ? { grpcPort: grpc.port } : {}),
    grpcPorts: () => grpc.settled().then(grpc.agentPorts),
    server,
    handler,
    connections: () => totalOf(limiters.http.counts, limiters.grpc.counts),
    close: () =>
      (closed ??= shutDown({ server, grpc }, handler, openResponses, { drainMs, noticeMs: shutdownDelayMs })),
  }
}

function listedAgents(options: ServeOptions): ListeningServer['agents'] {
  if (options.agents === undefined) return [{ name: options.name ?? 'Agent', path: '' }]
  return Object.keys(options.agents).map((name) => ({ name, path: `/a2a/${name}` }))
}

function announceOptions({ quiet, log }: ServeOptions): AnnounceOptions {
  // A test opens many servers, and its output is for its results.
  const isTest = process.execArgv.some((argument) => argument.startsWith('--test'))
  // On stderr, because stdout belongs to the program.
  const print = (line: string): void => console.error(line)
  return { quiet: quiet ?? (isTest && log === undefined), log, isTerminal: process.stderr.isTTY, print }
}

/** Node's default holds 511 connections that wait to be accepted; the rest of a burst is reset or waits for seconds. */
const backlog = 4_096

/** Responses may be streams of any length, so only receiving a request is limited; proxies keep connections for a minute. */
function listenerOptions({ headTimeoutMs = 60_000, requestTimeoutMs = 300_000 }: ServeOptions) {
  const headersTimeout = Math.min(headTimeoutMs, requestTimeoutMs)
  return {
    requestTimeout: requestTimeoutMs,
    headersTimeout,
    keepAliveTimeout: 65_000,
    // Late connections are closed at the next check: Node's own 30 s would turn a minute into one and a half.
    connectionsCheckingInterval: Math.ceil(headersTimeout / 12),
    IncomingMessage: createDirectRequestClass(IncomingMessage),
  }
}

/** HTTP and gRPC are counted separately, so that neither can take all connections of the other. */
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

/** Called before anything is opened: an invalid certificate leaves nothing behind. */
function createListener(options: ServeOptions): HttpServer | HttpsServer {
  const { tls } = options
  const listening = listenerOptions(options)
  if (tls === undefined) return createServer(listening)
  const [cert, key, ca] = [tls.cert, tls.key, tls.ca].map((pem) => (pem === undefined ? undefined : Buffer.from(pem)))
  const requestCert = tls.requestCert ?? ca !== undefined
  try {
    // Cards are public, so a client without a certificate is not disconnected: `authenticate` decides what needs one.
    return createTlsServer({ ...listening, cert, key, ca, requestCert, rejectUnauthorized: false })
  } catch (cause) {
    throw new ConfigError('tls', `must be a certificate and its key in PEM (${(cause as Error).message})`)
  }
}

type RequestListener = (request: IncomingMessage, response: ServerResponse) => void

function createRequestListener(
  { tls, middleware, log = consoleLog }: ServeOptions,
  { handler, withMiddleware }: OpenedHandler,
): RequestListener {
  const innerListener: RequestListener =
    middleware === undefined ? handler.node : withMiddleware(respondOnError(middleware, log))
  if (tls === undefined) return innerListener
  const hsts = `max-age=${tls.hstsSeconds ?? 31_536_000}`
  return (request, response) => {
    response.setHeader('strict-transport-security', hsts)
    innerListener(request, response)
  }
}

function respondOnError(middleware: Middleware, log: EngineLog): NodeMiddleware {
  const guarded: Middleware = (request, response) => {
    try {
      return middleware(request, response)
    } catch (cause) {
      log.error('a middleware failed', { cause })
      if (response.headersSent) response.destroy()
      else response.writeHead(500, { 'content-length': 0 }).end()
      return true
    }
  }
  return guarded as NodeMiddleware
}

/** Loaded only if needed, so that an old Node reports its version and not a missing module. */
async function defaultStore(dataDir: string | undefined): Promise<Store> {
  const { sqliteStore } = await import('../stores/sqlite/index.ts')
  try {
    return sqliteStore(databaseFile(dataDir))
  } catch (reason) {
    throw dataDirError(reason)
  }
}

function databaseFile(dataDir = './.parley'): string {
  return join(dataDir, 'parley.db')
}

function storeDescription({ store, dataDir }: ServeOptions): string {
  return store === undefined ? `SQLite in ${databaseFile(dataDir)}` : 'the one passed to serve()'
}

function withWebhookGuard(options: ServePushOptions): PushOptions {
  const guard = guardedWebhooks(options)
  return {
    ...options,
    fetch: options.fetch ?? guard.fetch,
    validateUrl: (url) => options.validateUrl?.(url) ?? guard.validateUrl(url),
  }
}

async function checkOptions(options: ServeOptions): Promise<void> {
  try {
    checkServeOptions(options)
  } catch (reason) {
    await options.store?.close?.()
    throw reason
  }
}

/** Invalid options must not keep the store open: after a fix the program opens the same file again. */
async function openServedHandler(
  options: ServeOptions,
  store: NonNullable<ServeOptions['store']>,
): Promise<OpenedHandler> {
  try {
    const { push, ...rest } = options
    return openHandler({
      homePage: true,
      ...rest,
      store,
      ...(push !== undefined ? { push: withWebhookGuard(push === true ? {} : push) } : {}),
    })
  } catch (reason) {
    await store.close?.()
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
      const listener = await openGrpcListener(handler, { ...common, port, ...(agent !== undefined ? { agent } : {}) })
      return limitConnections(listener, admit)
    },
    log,
  })
}

/** grpc-js does not expose its sockets, but Node publishes every connection that any listener of the process accepts. */
function limitConnections(listener: GrpcListener, admit: (socket: Socket) => unknown): GrpcListener {
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

type PortSetting = Parameters<typeof portInUse>[0]

function listen(server: HttpServer | HttpsServer, port: number, host: string, setting: PortSetting): Promise<void> {
  return new Promise((resolve, reject) => {
    const failed = (reason: Error): void =>
      reject(isPortInUse(reason) ? portInUse(setting, host, port) : listenError(reason, host))
    server.once('error', failed)
    server.listen({ port, host, backlog }, () => {
      server.off('error', failed)
      resolve()
    })
  })
}

/** Checked before grpc-js binds, which prints a line of its own for a port in use. */
async function requireFree(port: number, host: string): Promise<void> {
  if (port === 0) return
  const server = createServer()
  await listen(server, port, host, 'grpcPort')
  await new Promise<void>((resolve) => server.close(() => resolve()))
}

/** How long a shutdown waits for a store that no longer answers; a process that is told to stop must stop. */
const storeCloseTimeoutMs = 15_000

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
  openResponses: OpenResponses,
  { drainMs, noticeMs }: ShutDownTimes,
): Promise<void> {
  handler.announceShutdown()
  if (noticeMs > 0) await delay(noticeMs)
  const gone = new Promise<void>((resolve) => server.close(() => resolve()))
  let isGrpcGone = false
  void grpc.drain().then(() => (isGrpcGone = true))
  const deadline = performance.now() + drainMs
  let isDrained = false
  const drained = (): void => void (isDrained = true)
  void handler.drain().then(drained, drained)
  const isWaiting = (): boolean => openResponses().some((response) => !response.headersSent) || grpc.answering() > 0
  const isBusy = (): boolean => !isDrained || isWaiting()
  // The first check comes after responses that have ended are closed.
  do await delay(10)
  while (isBusy() && performance.now() < deadline)
  try {
    await Promise.race([handler.close(), delay(storeCloseTimeoutMs, undefined, { ref: false })])
    // Streams have been ended by now; a short wait lets their last events leave.
    const settled = performance.now() + 1_000
    while ((openResponses().length > 0 || !isGrpcGone) && performance.now() < settled) await delay(10)
  } finally {
    // Also if the store cannot be closed: a process that stops must release its port.
    server.closeAllConnections()
    grpc.close()
    await gone
  }
}
