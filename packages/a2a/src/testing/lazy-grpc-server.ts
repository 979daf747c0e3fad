/** A gRPC connection to an agent under test: the code is loaded, and a port opened, at the first call. */
import type { ClientBinding, ClientTransport } from '../client/contract.ts'
import type { AgentCard } from '../model/card.ts'
import { cursorExtension } from '../model/extension.ts'
import type { Handler } from '../server/handler.ts'
import type { ProtocolVersion } from '../versions/index.ts'
import { withCallDefaults, type TestWire } from './test-wire.ts'

export interface LazyGrpcServer {
  (): Promise<{ readonly address: string; readonly binding: ClientBinding }>
  close(): Promise<void>
}

export function createLazyGrpcServer(handler: Handler): LazyGrpcServer {
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

/** From the card a client learns that it may request cursors, which replace the `id:` that gRPC lacks. */
export function grpcTestWire(version: ProtocolVersion, line: LazyGrpcServer): TestWire {
  let wire: Promise<ClientTransport> | undefined
  const connected = (): Promise<ClientTransport> => (wire ??= connect())
  async function connect(): Promise<ClientTransport> {
    const { address: url, binding } = await line()
    const at = {
      url,
      protocolBinding: 'GRPC',
      protocolVersion: version.id,
      version: version.id,
      why: 'selected by the test',
    }
    const http = { send: noHttp, credentialHeaders: async () => undefined }
    return binding.open(at, version, { http, maxBodyBytes: Infinity, maxEventBytes: Infinity })
  }
  return {
    call: async (operation, request, options) =>
      (await connected()).call(operation, request, withCallDefaults(options)),
    async *stream(operation, request, options) {
      yield* await (await connected()).open(operation, request, { ...withCallDefaults(options), card: declaresCursors })
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
