/**
 * The list of protocol bindings: JSON-RPC 2.0 (one path per agent, and the operation in the body), REST (an operation is a method
 * and a path below that of the agent) and gRPC (a port of its own). To add one, add its folder and its line in both lists.
 */
import { jsonrpcClientBinding } from './jsonrpc/jsonrpc-client.ts'
import { jsonrpcServer } from './jsonrpc/jsonrpc-server.ts'
import type { BindingServer, HttpBindingServer, ProtocolBinding } from './protocol-binding.ts'
import { restServer } from './rest/rest-server.ts'

/** In the order in which cards list them. */
const protocolBindings = [
  // Not loaded on demand: most cards prefer JSON-RPC, and a chunk of its own would cost every page more than it saves some.
  { name: 'JSONRPC', loadClient: async () => jsonrpcClientBinding },
  { name: 'HTTP+JSON', loadClient: async () => (await import('./rest/rest-client.ts')).restClientBinding },
  // Its client half needs third-party libraries: `grpc()` of `@parley/a2a/grpc`.
  { name: 'GRPC' },
] as const satisfies readonly ProtocolBinding[]

type ListedBinding = (typeof protocolBindings)[number]

/** A protocol binding, as agent cards spell it. */
export type BindingName = ListedBinding['name']
/** A protocol binding over HTTP. */
export type HttpBindingName = Extract<ListedBinding, { readonly loadClient: unknown }>['name']

/** Here and not in the folder of gRPC, whose modules need its libraries. */
const grpcServer: BindingServer = {
  dialectOf: ({ proto }) => proto,
  isIn: () => true,
  cardEntry({ behavior }, { tenant, ownAddress }) {
    if (ownAddress === undefined || (!behavior.hasTenants && !ownAddress.isDefault)) return undefined
    const names = behavior.hasTenants ? [ownAddress.tenant, tenant].filter((name) => name !== undefined) : []
    return { url: ownAddress.url, ...(names.length === 0 ? {} : { tenant: names.join('/') }) }
  },
}

/** The server halves. Not in the list above, so that a page that calls agents does not load them. */
export const bindingServers: Readonly<Record<HttpBindingName, HttpBindingServer> & Record<BindingName, BindingServer>> =
  {
    JSONRPC: jsonrpcServer,
    'HTTP+JSON': restServer,
    GRPC: grpcServer,
  }

/** Finds a binding by the name that a card has for it. */
export function findBinding(name: string): ProtocolBinding | undefined {
  return protocolBindings.find((binding) => binding.name === name.toUpperCase())
}

/** The names of all bindings, as agent cards spell them. */
export const bindingNames: readonly BindingName[] = /* @__PURE__ */ protocolBindings.map(({ name }) => name)

/** The names of the bindings over HTTP. */
export const httpBindingNames: readonly HttpBindingName[] = /* @__PURE__ */ protocolBindings.flatMap((binding) =>
  'loadClient' in binding ? [binding.name] : [],
)
