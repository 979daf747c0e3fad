/**
 * Entry point `@parley/a2a/grpc`: the one binding that needs third-party libraries, `@grpc/grpc-js` for the transport and
 * `@bufbuild/protobuf` for the messages. Contains server and client.
 */
export { descriptorRegistry } from '../../bindings/grpc/schema.ts'
export { grpc } from '../../client/grpc/grpc-binding.ts'
export type { GrpcBinding, GrpcOptions } from '../../client/grpc/grpc-binding.ts'
export { createGrpcServer } from './grpc-server.ts'
