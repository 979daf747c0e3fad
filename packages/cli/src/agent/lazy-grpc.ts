/** The gRPC binding, loaded when an interface of the card uses it: its libraries take longer to load than a call over HTTP takes. */
import { versionIds } from '@parley/a2a/internal'
import { type ClientBinding, A2AError } from '@parley/a2a/client'
import type { GrpcBinding, GrpcOptions } from '@parley/a2a/grpc'
import type { AnswerLimit } from './answer-limit.ts'

export interface LazyGrpcOptions {
  readonly tls: GrpcOptions['tls']
  /** Whether an address without a scheme has TLS, also on this machine: true if the card came over TLS. */
  readonly isSecure: boolean
  readonly limit: AnswerLimit
}

export function lazyGrpc({ tls, isSecure, limit }: LazyGrpcOptions): ClientBinding & { close(): void } {
  let binding: Promise<GrpcBinding> | undefined
  const load = async (): Promise<GrpcBinding> => {
    const [{ grpc }, { countReceived }] = await Promise.all([import('@parley/a2a/grpc'), import('./grpc-meter.ts')])
    return grpc({ ...(tls === undefined ? {} : { tls }), channel: { interceptors: [countReceived(limit)] } })
  }
  /** The client knows only that a limit was exceeded. */
  const rethrow = (reason: unknown): never => {
    const isTooLarge =
      reason instanceof A2AError &&
      reason.code === 'INVALID_AGENT_RESPONSE' &&
      reason.message === 'The response exceeds the size limit of this client'
    throw isTooLarge ? limit.error() : reason
  }
  return {
    protocolBinding: 'GRPC',
    versions: versionIds,
    async open(at, version, parts) {
      const hasScheme = /^[a-z]+:\/\//i.test(at.url)
      const address = isSecure && !hasScheme ? { ...at, url: `grpcs://${at.url}` } : at
      const transport = (await (binding ??= load())).open(address, version, parts)
      return {
        call: (operation, request, about) => transport.call(operation, request, about).catch(rethrow),
        async open(operation, request, about) {
          const stream = await transport.open(operation, request, about).catch(rethrow)
          const next = stream.next.bind(stream)
          return Object.assign(stream, { next: () => next().catch(rethrow) })
        },
      }
    },
    close() {
      void binding?.then((grpc) => grpc.close())
    },
  }
}
