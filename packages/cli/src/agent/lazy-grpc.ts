/** The gRPC binding, loaded when an interface of the card uses it: its libraries take longer to load than a call over HTTP takes. */
import type { ClientBinding, ClientTransport } from '@parley/a2a/client'
import type { GrpcBinding, GrpcOptions } from '@parley/a2a/grpc'

export interface LazyGrpcOptions {
  readonly tls: GrpcOptions['tls']
  /** Whether an address without a scheme has TLS, also on this machine: true if the card came over TLS. */
  readonly isSecure: boolean
}

export function lazyGrpc({ tls, isSecure }: LazyGrpcOptions): ClientBinding & { close(): void } {
  let binding: Promise<GrpcBinding> | undefined
  const load = async (): Promise<GrpcBinding> => {
    const { grpc } = await import('@parley/a2a/grpc')
    return grpc(tls === undefined ? {} : { tls })
  }
  return {
    protocolBinding: 'GRPC',
    versions: ['1.0', '0.3', '0.2'],
    open(at, version, parts): ClientTransport {
      const hasScheme = /^[a-z]+:\/\//i.test(at.url)
      const address = isSecure && !hasScheme ? { ...at, url: `grpcs://${at.url}` } : at
      let opened: Promise<ClientTransport> | undefined
      const transport = (): Promise<ClientTransport> =>
        (opened ??= (binding ??= load()).then((grpc) => grpc.open(address, version, parts)))
      return {
        call: async (operation, request, about) => (await transport()).call(operation, request, about),
        open: async (operation, request, about) => (await transport()).open(operation, request, about),
      }
    },
    close() {
      void binding?.then((grpc) => grpc.close())
    },
  }
}
