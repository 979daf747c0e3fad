/** A connection to an agent under test by gRPC: what it takes is loaded, and a port opened, when somebody first asks. */
import type { ClientBinding, Wire } from '../client/contract.ts'
import type { AgentCard } from '../model/card.ts'
import { cursorExtension } from '../model/extension.ts'
import type { Handler } from '../server/handler.ts'
import type { ProtocolVersion } from '../versions/version.ts'
import { filledIn, type TestWire } from './test-wire.ts'

export interface GrpcLine {
  (): Promise<{ readonly address: string; readonly binding: ClientBinding }>
  close(): Promise<void>
}

export function grpcLine(handler: Handler): GrpcLine {
  let opened: ReturnType<typeof open> | undefined
  async function open() {
    const { createGrpcServer, grpc } = await import('../server/grpc/index.ts')
    const server = await createGrpcServer(handler, { port: 0 })
    const binding = grpc()
    const close = (): void => {
      binding.close()
      server.close()
    }
    return { address: server.address, binding, close }
  }
  return Object.assign(() => (opened ??= open()), {
    close: async (): Promise<void> => (await opened)?.close(),
  })
}

/** Off a card a client learns that it may ask for cursors, which stand for the `id:` that gRPC has not. */
export function grpcTestWire(version: ProtocolVersion, line: GrpcLine): TestWire {
  let wire: Promise<Wire> | undefined
  const connected = (): Promise<Wire> => (wire ??= connect())
  async function connect(): Promise<Wire> {
    const { address: url, binding } = await line()
    const at = {
      url,
      protocolBinding: 'GRPC',
      protocolVersion: version.id,
      version: version.id,
      why: 'the test says so',
    }
    return binding.open(at, version, { http: { send: noHttp }, maxBodyBytes: Infinity, maxEventBytes: Infinity })
  }
  return {
    call: async (operation, request, options) => (await connected()).call(operation, request, filledIn(options)),
    async *stream(operation, request, options) {
      yield* await (await connected()).open(operation, request, { ...filledIn(options), card: declaresCursors })
    },
  }
}

const declaresCursors: AgentCard = {
  name: 'Under test',
  description: 'Under test',
  version: '1.0.0',
  supportedInterfaces: [],
  capabilities: { streaming: true, extensions: [{ uri: cursorExtension }] },
  defaultInputModes: [],
  defaultOutputModes: [],
  skills: [],
}

const noHttp = (): Promise<never> => Promise.reject(new Error('gRPC does not go by HTTP/1'))
