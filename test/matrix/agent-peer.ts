/** A client of one agent of a server, in one binding and version, that sends raw test requests. Each has its own connection. */
import { newest, newestLegacy } from '../../packages/a2a/src/versions/index.ts'
import { createGrpcRawClient } from './grpc-raw-client.ts'
import { createRawClient, type RawClient } from './raw-client.ts'

export const bindingVersions = [newest.id, newestLegacy.id].flatMap((version) =>
  (['JSONRPC', 'HTTP+JSON', 'GRPC'] as const).map((binding) => ({ binding, version })),
)
export type BindingVersion = (typeof bindingVersions)[number]

export interface AgentAddress {
  readonly url: string
  readonly grpcPort: number | undefined
  readonly agent: string
}

export function createAgentPeer(
  { url, grpcPort, agent }: AgentAddress,
  { binding, version }: BindingVersion,
): RawClient {
  const agentUrl = `${url}/a2a/${agent}`
  const send = (request: Request): Promise<Response> => {
    const { pathname, search } = new URL(request.url)
    return fetch(new Request(agentUrl + (pathname === '/' ? '' : pathname) + search, request))
  }
  if (binding !== 'GRPC') return createRawClient({ binding, version }, send)
  const raw = createGrpcRawClient(version, { grpcAddress: async () => `127.0.0.1:${grpcPort}`, fetch: send })
  const named = { 'x-parley-agent': agent }
  return {
    ...raw,
    call: (operation, request, about = {}) =>
      raw.call(operation, request, { ...about, headers: { ...named, ...about.headers } }),
    stream: (operation, request, about = {}) =>
      raw.stream(operation, request, { ...about, headers: { ...named, ...about.headers } }),
  }
}
