/** An agent at a server, called in one binding and version as a client writes it. One connection for each, as programs have it. */
import { createGrpcRaw } from '../matrix/grpc-raw.ts'
import { createRaw, type Raw } from '../matrix/raw.ts'

export const tongues = (['1.0', '0.3'] as const).flatMap((version) =>
  (['JSONRPC', 'HTTP+JSON', 'GRPC'] as const).map((binding) => ({ binding, version })),
)
export type Tongue = (typeof tongues)[number]

export interface Address {
  readonly url: string
  readonly grpcPort: number | undefined
  readonly agent: string
}

export function peerOf({ url, grpcPort, agent }: Address, { binding, version }: Tongue): Raw {
  const home = `${url}/a2a/${agent}`
  const send = (request: Request): Promise<Response> => {
    const { pathname, search } = new URL(request.url)
    return fetch(new Request(home + (pathname === '/' ? '' : pathname) + search, request))
  }
  if (binding !== 'GRPC') return createRaw({ binding, version }, send)
  const raw = createGrpcRaw(version, { grpcAddress: async () => `127.0.0.1:${grpcPort}`, fetch: send })
  const named = { 'x-parley-agent': agent }
  return {
    ...raw,
    call: (operation, request, about = {}) =>
      raw.call(operation, request, { ...about, headers: { ...named, ...about.headers } }),
    stream: (operation, request, about = {}) =>
      raw.stream(operation, request, { ...about, headers: { ...named, ...about.headers } }),
  }
}
