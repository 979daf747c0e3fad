/** The simple REST façade as a binding of the client: peers from before interfaces had names. Loaded with the first call. */
import type { ClientBinding, Wire } from './contract.ts'
import { simpleTasksBinding } from './address.ts'

/** `timeoutMs` is how long the peer may take for a task; by default the peer decides. */
export function facadeBinding(timeoutMs?: number): ClientBinding {
  return {
    protocolBinding: simpleTasksBinding,
    versions: ['0.2'],
    open({ url }, _version, parts) {
      const load = async (): Promise<Wire> => (await import('./facade.ts')).createFacadeWire(url, parts, timeoutMs)
      return {
        call: async (operation, request, about) => (await load()).call(operation, request, about),
        open: async (operation, request, about) => (await load()).open(operation, request, about),
      }
    },
  }
}
