/**
 * Simple tasks as a binding of the client: for peers from before cards listed interfaces. Loaded with the first call.
 */
import type { ClientBinding, ClientTransport } from '../contract.ts'
import { simpleTasksBindingUri } from '../http/http-url.ts'

/** `timeoutMs` is how long the peer may take for a task; by default the peer decides. */
export function createSimpleTasksBinding(timeoutMs?: number): ClientBinding {
  return {
    protocolBinding: simpleTasksBindingUri,
    versions: ['0.2'],
    open({ url }, _version, parts) {
      const load = async (): Promise<ClientTransport> =>
        (await import('./simple-tasks-transport.ts')).createSimpleTasksTransport(url, parts, timeoutMs)
      return {
        call: async (operation, request, about) => (await load()).call(operation, request, about),
        open: async (operation, request, about) => (await load()).open(operation, request, about),
      }
    },
  }
}
