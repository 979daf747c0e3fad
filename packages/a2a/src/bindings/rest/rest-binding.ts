/** REST: an operation is a method and a path below that of the agent. */
import type { ProtocolBinding } from '../protocol-binding.ts'

export const restBinding = {
  name: 'HTTP+JSON',
  loadClient: async () => (await import('./rest-client.ts')).restClientBinding,
} as const satisfies ProtocolBinding
