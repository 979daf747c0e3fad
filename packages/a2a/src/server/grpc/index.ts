/**
 * The door `@parley/a2a/grpc`: the one binding that needs libraries of others, `@grpc/grpc-js` for the transport and
 * `@bufbuild/protobuf` for the messages. Serving and calling, so that whoever installs them gets both.
 */
export { grpc, type GrpcBinding, type GrpcOptions } from '../../client/grpc/grpc-binding.ts'
export { createGrpcServer, type GrpcServer, type GrpcServerOptions, type GrpcTls } from './grpc-server.ts'
