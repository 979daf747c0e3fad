/** The bindings of A2A, as agent cards spell them, with the names that people use. */
export const bindingTitles = { JSONRPC: 'JSON-RPC', 'HTTP+JSON': 'REST', GRPC: 'gRPC' } as const

export type BindingName = keyof typeof bindingTitles

export const bindingNames = Object.keys(bindingTitles) as readonly BindingName[]

/** A binding that is not listed is shown by the name on its card. */
export function bindingTitle(name: string): string {
  return (bindingTitles as Readonly<Record<string, string>>)[name] ?? name
}
