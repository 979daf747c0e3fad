/** A gRPC listener: the services of all versions on one port, with health and reflection, and TLS if keys are given. */
import {
  type sendUnaryData,
  Server as GrpcJsServer,
  ServerCredentials,
  type ServerDuplexStream,
  type ServerUnaryCall,
  type ServerWritableStream,
} from '@grpc/grpc-js'
import { ConfigError } from '../config-error.ts'
import type { GrpcListener, GrpcServerOptions, GrpcTls } from './grpc-listener.ts'
import type { Handler } from '../handler.ts'
import { hostInUrl } from '../http/addresses.ts'
import { isPortInUse, portInUse } from '../http/start-errors.ts'
import { a2aService, type GrpcService, rawBytesMethod } from './a2a-service.ts'
import { decodeProtobuf, encodeProtobuf } from '../../bindings/grpc/codec.ts'
import type { DescFile } from '@bufbuild/protobuf'
import { descriptorRegistry, fileDescriptorBytes } from '../../bindings/grpc/schema.ts'

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

// The health service for orchestrators and load balancers (grpc.health.v1). Not the package of the same name: that brings a
// loader and a parser of .proto files, and the descriptors are already here.

type Bytes = Uint8Array
const healthPackage = 'grpc.health.v1.Health'
/** How often the status is checked for watching clients. */
const watchMs = 1_000
const notFound = 5

export interface HealthServiceDeps {
  /** The services that a client may ask for, beside the server as a whole. */
  readonly services: readonly string[]
  isReady(): Promise<boolean>
}

type ServingStatus = 'SERVING' | 'NOT_SERVING' | 'SERVICE_UNKNOWN'

export function healthService({ services, isReady }: HealthServiceDeps): GrpcService {
  const known = new Set(['', healthPackage, ...services])
  const isKnown = (bytes: Bytes): boolean => {
    const { service = '' } = decodeProtobuf(`grpc.health.v1.HealthCheckRequest`, bytes) as { service?: string }
    return known.has(service)
  }
  const stateNow = async (): Promise<ServingStatus> => ((await isReady()) ? 'SERVING' : 'NOT_SERVING')
  const answer = (status: ServingStatus): Bytes => encodeProtobuf('grpc.health.v1.HealthCheckResponse', { status })

  async function check(call: ServerUnaryCall<Bytes, Bytes>, callback: sendUnaryData<Bytes>): Promise<void> {
    try {
      if (isKnown(call.request)) callback(null, answer(await stateNow()))
      else callback({ code: notFound, details: 'Unknown service' })
    } catch (reason) {
      callback({ code: 3, details: reason instanceof Error ? reason.message : 'Malformed' })
    }
  }

  function watch(call: ServerWritableStream<Bytes, Bytes>): void {
    let told: ServingStatus | undefined
    const tell = async (): Promise<void> => {
      const state = isKnown(call.request) ? await stateNow() : 'SERVICE_UNKNOWN'
      if (state === told || call.cancelled) return
      told = state
      call.write(answer(state))
    }
    const look = (): void => void tell().catch((reason: unknown) => call.emit('error', reason))
    const timer = setInterval(look, watchMs).unref()
    call.on('cancelled', () => clearInterval(timer))
    look()
  }

  return {
    definition: {
      Check: rawBytesMethod(`/${healthPackage}/Check`, false, false),
      Watch: rawBytesMethod(`/${healthPackage}/Watch`, false, true),
    },
    implementation: {
      Check: (call: ServerUnaryCall<Bytes, Bytes>, callback: sendUnaryData<Bytes>) => void check(call, callback),
      Watch: watch,
    },
  }
}

// Describes the services to tools such as grpcurl (grpc.reflection). Not the package, for the same reason. It reveals
// only the protocol, which is public, so it needs no authentication.

const unimplemented = 12

interface ReflectionRequest {
  readonly fileByFilename?: string
  readonly fileContainingSymbol?: string
  readonly fileContainingExtension?: object
  readonly allExtensionNumbersOfType?: string
  readonly listServices?: string
}

/** `v1`, and its former name `v1alpha`, which many tools still use. */
export function reflectionService(revision: 'v1' | 'v1alpha', services: readonly string[]): GrpcService {
  const name = `grpc.reflection.${revision}.ServerReflection`
  const answer = (bytes: Bytes): Bytes => {
    const originalRequest = decodeProtobuf(
      `grpc.reflection.${revision}.ServerReflectionRequest`,
      bytes,
    ) as ReflectionRequest
    const response = { originalRequest, ...reflectionResponse(originalRequest, services) }
    return encodeProtobuf(`grpc.reflection.${revision}.ServerReflectionResponse`, response)
  }
  return {
    definition: { ServerReflectionInfo: rawBytesMethod(`/${name}/ServerReflectionInfo`, true, true) },
    implementation: {
      ServerReflectionInfo(call: ServerDuplexStream<Bytes, Bytes>) {
        call.on('data', (bytes: Bytes) => {
          try {
            call.write(answer(bytes))
          } catch (reason) {
            call.emit('error', { code: 3, details: reason instanceof Error ? reason.message : 'Malformed' })
          }
        })
        call.on('end', () => call.end())
      },
    },
  }
}

function reflectionResponse(question: ReflectionRequest, services: readonly string[]): object {
  if (question.listServices !== undefined) {
    return { listServicesResponse: { service: services.map((name) => ({ name })) } }
  }
  if (question.fileByFilename !== undefined) {
    return files([...descriptorRegistry.files].find(({ proto }) => proto.name === question.fileByFilename))
  }
  if (question.fileContainingSymbol !== undefined) return files(fileOf(question.fileContainingSymbol))
  // proto3 has extensions for options only.
  if (question.fileContainingExtension !== undefined || question.allExtensionNumbersOfType !== undefined) {
    return errorResponse(notFound, 'Extensions are not supported')
  }
  return errorResponse(unimplemented, 'Unknown reflection request')
}

/** Finds the file of a message, an enum, a service or one of its rpcs. */
function fileOf(symbol: string): DescFile | undefined {
  const parent = symbol.slice(0, symbol.lastIndexOf('.'))
  return (
    descriptorRegistry.get(symbol) ??
    descriptorRegistry.getService(parent) ??
    descriptorRegistry.getMessage(parent)
  )?.file
}

/** Includes all imports, so that the client need not ask again. */
function files(file: DescFile | undefined): object {
  if (file === undefined) return errorResponse(notFound, 'Unknown file or symbol')
  const found = new Set<DescFile>()
  const add = (one: DescFile): void => {
    if (found.has(one)) return
    found.add(one)
    one.dependencies.forEach(add)
  }
  add(file)
  const fileDescriptorProto = [...found].map((one) => Buffer.from(fileDescriptorBytes(one)).toString('base64'))
  return { fileDescriptorResponse: { fileDescriptorProto } }
}

function errorResponse(errorCode: number, errorMessage: string): object {
  return { errorResponse: { errorCode, errorMessage } }
}
