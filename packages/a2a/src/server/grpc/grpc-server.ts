/** A gRPC listener: the services of all versions on one port, with health and reflection, and TLS if keys are given. */
import { Server as GrpcJsServer, ServerCredentials } from '@grpc/grpc-js'
import { ConfigError } from '../config-error.ts'
import type { GrpcListener, GrpcServerOptions, GrpcTls } from './grpc-listener.ts'
import type { Handler } from '../handler.ts'
import { hostInUrl } from '../http/addresses.ts'
import { isPortInUse, portInUse } from '../http/start-errors.ts'
import { a2aService, type GrpcService } from './a2a-service.ts'
import { healthService } from './health.ts'
import { reflectionService } from './reflection.ts'

export type { GrpcServerOptions, GrpcTls } from './grpc-listener.ts'

/** A running gRPC listener. */
export interface GrpcServer extends GrpcListener {
  /** The server of `@grpc/grpc-js`. */
  readonly server: GrpcJsServer
}

/**
 * Opens a gRPC listener for a handler: the services of all versions, health and reflection. `serve` does this for you
 * with `grpcPort`. Closing the listener does not close the handler. Throws ConfigError for a port in use and for an
 * invalid certificate.
 *
 * @example
 * ```ts
 * import { memoryStore } from '@parley/a2a'
 * import { createGrpcServer } from '@parley/a2a/grpc'
 * import { createHandler } from '@parley/a2a/server'
 *
 * const handler = createHandler({ name: 'Echo', store: memoryStore(), agent: ({ text }) => text })
 * const { address } = await createGrpcServer(handler, { port: 3001 })
 * console.log(address) // 127.0.0.1:3001
 * ```
 */
export async function createGrpcServer(handler: Handler, options: GrpcServerOptions = {}): Promise<GrpcServer> {
  const { port: wanted = 3001, host = '127.0.0.1', tls, httpPort, httpIsSecure = false, agent } = options
  const http = httpPort === undefined ? undefined : { port: httpPort, isSecure: httpIsSecure }
  const { grpc } = handler
  let waiting = 0
  const began = (): (() => void) => {
    let isOver = false
    waiting += 1
    return () => {
      if (!isOver) waiting -= 1
      isOver = true
    }
  }

  const server = new GrpcJsServer({
    'grpc.max_receive_message_length': grpc.bodyBytes,
    'grpc.max_send_message_length': -1,
    // The equivalent of SSE comments (B-101): keeps proxies from closing the connection, and detects clients that are gone.
    'grpc.keepalive_time_ms': grpc.keepAliveMs,
    'grpc.keepalive_timeout_ms': grpc.stallMs,
    // Counters of calls and messages that no service here shows.
    'grpc.enable_channelz': 0,
    // Clients reconnect with their next call.
    'grpc.max_connection_idle_ms': 300_000,
  })
  // Versions may share a service; the newest offered one handles it.
  const names = [...new Set(grpc.offered.map(({ spelling }) => spelling.grpc.service))]
  const add = ({ definition, implementation }: GrpcService): void => server.addService(definition, implementation)
  for (const name of names) {
    const version = grpc.offered.find(({ spelling }) => spelling.grpc.service === name)
    if (version !== undefined) add(a2aService(version, { handler: grpc, http, agent, onCallStart: began }))
  }
  const draining = { isOn: false }
  add(healthService({ services: names, isReady: async () => !draining.isOn && (await grpc.isReady()) }))
  const listed = [
    ...names,
    'grpc.health.v1.Health',
    'grpc.reflection.v1.ServerReflection',
    'grpc.reflection.v1alpha.ServerReflection',
  ]
  add(reflectionService('v1', listed))
  add(reflectionService('v1alpha', listed))

  const port = await bind(server, `${hostInUrl(host)}:${wanted}`, tls).catch((reason: unknown) => {
    throw isPortInUse(reason) ? portInUse('grpcPort', host, wanted) : reason
  })
  const withdraw = grpc.listening(port, agent)
  let drained: Promise<void> | undefined
  return {
    address: `${hostInUrl(host)}:${port}`,
    port,
    server,
    answering: () => waiting,
    drain() {
      draining.isOn = true
      if (agent !== undefined) withdraw()
      // An error means that the server was not running, which is fine.
      return (drained ??= new Promise((resolve) => server.tryShutdown(() => resolve())))
    },
    close: () => server.forceShutdown(),
  }
}

function bind(server: GrpcJsServer, address: string, tls: GrpcTls | undefined): Promise<number> {
  const credentials = credentialsOf(tls)
  return new Promise((resolve, reject) => {
    server.bindAsync(address, credentials, (reason, port) => {
      if (reason === null) resolve(port)
      else reject(reason)
    })
  })
}

function credentialsOf(tls: GrpcTls | undefined): ServerCredentials {
  if (tls === undefined) return ServerCredentials.createInsecure()
  const { cert, key, clientCa } = tls
  const pair = { cert_chain: Buffer.from(cert), private_key: Buffer.from(key) }
  try {
    return ServerCredentials.createSsl(
      clientCa === undefined ? null : Buffer.from(clientCa),
      [pair],
      clientCa !== undefined,
    )
  } catch (cause) {
    throw new ConfigError('grpcTls', `must be a certificate and its key in PEM (${(cause as Error).message})`)
  }
}
