/** Opens a listener for gRPC if the libraries that it takes are there, and says what to install if they are not. */
import { ConfigError } from './config-error.ts'
import type { GrpcListener, GrpcServerOptions } from './grpc-listener.ts'
import type { Handler } from './handler.ts'

/** Loaded only when wanted. */
export async function listenForGrpc(handler: Handler, options: GrpcServerOptions): Promise<GrpcListener> {
  const { createGrpcServer } = await import('./grpc/grpc-server.ts').catch((cause: unknown) => {
    if ((cause as { code?: unknown }).code !== 'ERR_MODULE_NOT_FOUND') throw cause
    throw new ConfigError('grpcPort', 'gRPC takes two packages: npm install @grpc/grpc-js @bufbuild/protobuf')
  })
  return createGrpcServer(handler, options)
}
