/** JSON-RPC 2.0: one path per agent, and the operation in the body. */
import { jsonrpcClientBinding } from './jsonrpc-client.ts'
import type { ProtocolBinding } from '../protocol-binding.ts'

export const jsonrpcBinding = {
  name: 'JSONRPC',
  // Not loaded on demand: most cards prefer JSON-RPC, and a chunk of its own would cost every page more than it saves some.
  loadClient: async () => jsonrpcClientBinding,
} as const satisfies ProtocolBinding
