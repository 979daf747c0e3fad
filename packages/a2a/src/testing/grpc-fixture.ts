/**
 * A server that speaks gRPC on a free port, and calls of it as @grpc/grpc-js makes them, payloads spelled out by hand:
 * what the tests of the server set up. Nothing here knows our client, so that both sides cannot make the same mistake.
 */
import { after } from 'node:test'
import { type CallOptions, Client, credentials, Metadata, type ServiceError } from '@grpc/grpc-js'
import { decode, encode } from '../bindings/grpc/codec.ts'
import { registry } from '../bindings/grpc/schema.ts'
import { serve, type ServeOptions, type Server } from '../server/node.ts'
import { memoryStore } from '../stores/memory.ts'

export const modern = 'lf.a2a.v1.A2AService'
export const legacy = 'a2a.v1.A2AService'

// oxlint-disable-next-line typescript/no-explicit-any -- tests look into answers of every shape, right and wrong
type Loose = any

export interface Told {
  readonly payload: Loose
  /** Before the message, and after it. */
  readonly metadata: Metadata
}

/** What a call was refused with, details read. */
export interface RefusedCall {
  readonly code: number
  readonly message: string
  readonly reason: string | undefined
  readonly details: readonly Loose[]
  readonly metadata: Metadata
}

export interface Asking extends CallOptions {
  readonly metadata?: Readonly<Record<string, string | readonly string[]>>
  /** Instead of the payload. */
  readonly bytes?: Uint8Array
}

const quiet = { debug() {}, info() {}, warn() {}, error() {} }

/** What it opens is closed when the tests of the file are over. */
export function openGrpcServers() {
  const closers: (() => unknown)[] = []
  after(async () => {
    for (const close of closers.reverse()) await close()
  })
  return {
    async open(options: Partial<ServeOptions>): Promise<Server & { readonly grpcPort: number }> {
      const given = { port: 0, grpcPort: 0, store: memoryStore(), log: quiet, drainMs: 200, ...options }
      const server = await serve(given)
      closers.push(() => server.close())
      return server as Server & { readonly grpcPort: number }
    },
    /** `authority` is the name that the client says it dialed. Default: host and port. */
    client(port: number, channel = credentials.createInsecure(), host = '127.0.0.1', authority?: string): GrpcPeer {
      const named = authority === undefined ? {} : { 'grpc.default_authority': authority }
      const client = new Client(`${host}:${port}`, channel, { 'grpc.use_local_subchannel_pool': 1, ...named })
      closers.push(() => client.close())
      return peer(client)
    },
  }
}

export interface GrpcPeer {
  readonly client: Client
  call(service: string, rpc: string, payload: unknown, asking?: Asking): Promise<Told>
  refused(service: string, rpc: string, payload: unknown, asking?: Asking): Promise<RefusedCall>
  stream(service: string, rpc: string, payload: unknown, asking?: Asking): GrpcStream
}

export interface GrpcStream extends AsyncIterable<Loose> {
  readonly metadata: Promise<Metadata>
  cancel(): void
  readonly call: ReturnType<Client['makeServerStreamRequest']>
}

function peer(client: Client): GrpcPeer {
  const same = (bytes: Uint8Array): Buffer => Buffer.from(bytes)
  const typesOf = (service: string, rpc: string) => {
    const method = registry.getService(service)?.methods.find(({ name }) => name === rpc)
    if (method === undefined) return { input: 'google.protobuf.Empty', output: 'google.protobuf.Empty' }
    return { input: method.input.typeName, output: method.output.typeName }
  }
  return {
    client,
    call(service, rpc, payload, { metadata, bytes, ...options } = {}) {
      const { input, output } = typesOf(service, rpc)
      return new Promise((resolve, reject) => {
        let headers = new Metadata()
        const given = bytes ?? encode(input, payload)
        const path = `/${service}/${rpc}`
        client
          .makeUnaryRequest(path, same, same, given, metadataOf(metadata), options, (reason, answer) => {
            if (reason === null) resolve({ payload: decode(output, answer as Uint8Array), metadata: headers })
            else reject(reason)
          })
          .on('metadata', (received: Metadata) => (headers = received))
      })
    },
    async refused(service, rpc, payload, asking) {
      return this.call(service, rpc, payload, asking).then(() => {
        throw new Error(`${rpc} was not refused`)
      }, refusalOf)
    },
    stream(service, rpc, payload, { metadata, ...options } = {}) {
      const { input, output } = typesOf(service, rpc)
      const bytes = encode(input, payload)
      const call = client.makeServerStreamRequest(
        `/${service}/${rpc}`,
        same,
        same,
        bytes,
        metadataOf(metadata),
        options,
      )
      let failure: ServiceError | undefined
      const begun = Promise.withResolvers<Metadata>()
      // Who does not ask for it need not hear that it never came.
      begun.promise.catch(() => {})
      call.once('metadata', begun.resolve)
      call.on('error', (reason: ServiceError) => {
        failure = reason
        begun.reject(reason)
      })
      return {
        call,
        metadata: begun.promise,
        cancel: () => call.cancel(),
        async *[Symbol.asyncIterator]() {
          for await (const one of call as AsyncIterable<Uint8Array>) yield decode(output, one)
          if (failure !== undefined) throw failure
        },
      }
    },
  }
}

function metadataOf(given: Asking['metadata'] = {}): Metadata {
  const metadata = new Metadata()
  for (const [name, value] of Object.entries(given)) {
    for (const one of typeof value === 'string' ? [value] : value) metadata.add(name, one)
  }
  return metadata
}

export function refusalOf(given: unknown): RefusedCall {
  const { code, details: message, metadata } = given as ServiceError
  const [bytes] = metadata?.get('grpc-status-details-bin') ?? []
  const status =
    bytes === undefined ? {} : (decode('google.rpc.Status', bytes as Buffer) as { details?: { reason?: string }[] })
  const details = status.details ?? []
  return { code, message, reason: details[0]?.reason, details, metadata }
}

let count = 0
export const saying = (text = 'hi', more: object = {}) => ({
  message: { messageId: `g${++count}`, role: 'ROLE_USER', parts: [{ text }], ...more },
})
export const oldSaying = (text = 'hi', more: object = {}) => ({
  message: { messageId: `g${++count}`, role: 'ROLE_USER', content: [{ text }] },
  ...more,
})
