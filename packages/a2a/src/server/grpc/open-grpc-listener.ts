/** Opens a gRPC listener if the required libraries are installed; otherwise the error names the packages to install. */
import { ConfigError } from '../config-error.ts'
import type { GrpcListener, GrpcServerOptions } from './grpc-listener.ts'
import type { Handler } from '../handler.ts'

/** Loaded only if gRPC is enabled. */
export async function openGrpcListener(handler: Handler, options: GrpcServerOptions): Promise<GrpcListener> {
  const { createGrpcServer } = await import('./grpc-server.ts').catch((cause: unknown) => {
    if ((cause as { code?: unknown }).code !== 'ERR_MODULE_NOT_FOUND') throw cause
    throw new ConfigError('grpcPort', 'gRPC requires two packages: npm install @grpc/grpc-js @bufbuild/protobuf')
  })
  return createGrpcServer(handler, options)
}
