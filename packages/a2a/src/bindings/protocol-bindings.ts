/** The list of protocol bindings. To add one, add its folder and its line in both lists. */
import { grpcBinding } from './grpc/grpc-binding.ts'
import { grpcServer } from './grpc/grpc-server.ts'
import { jsonrpcBinding } from './jsonrpc/jsonrpc-binding.ts'
import { jsonrpcServer } from './jsonrpc/jsonrpc-server.ts'
import type { BindingServer, HttpBindingServer, ProtocolBinding } from './protocol-binding.ts'
import { restBinding } from './rest/rest-binding.ts'
import { restServer } from './rest/rest-server.ts'

/** In the order in which cards list them. */
export const protocolBindings = [jsonrpcBinding, restBinding, grpcBinding] as const satisfies readonly ProtocolBinding[]

type ListedBinding = (typeof protocolBindings)[number]

/** A protocol binding, as agent cards spell it. */
export type BindingName = ListedBinding['name']
/** A protocol binding over HTTP. */
export type HttpBindingName = Extract<ListedBinding, { readonly loadClient: unknown }>['name']

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
