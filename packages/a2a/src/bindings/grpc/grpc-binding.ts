/** gRPC: a port of its own. Its client half needs third-party libraries: `grpc()` of `@parley/a2a/grpc`. */
import type { ProtocolBinding } from '../protocol-binding.ts'

export const grpcBinding = { name: 'GRPC' } as const satisfies ProtocolBinding
