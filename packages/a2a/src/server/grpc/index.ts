/**
 * Entry point `@parley/a2a/grpc`: the one binding that needs third-party libraries, `@grpc/grpc-js` for the transport and
 * `@bufbuild/protobuf` for the messages. Contains server and client.
 */
export { grpc, type GrpcBinding, type GrpcOptions } from '../../client/grpc/grpc-binding.ts'
export { descriptorRegistry } from '../../bindings/grpc/schema.ts'
export { createGrpcServer, type GrpcServer, type GrpcServerOptions, type GrpcTls } from './grpc-server.ts'
