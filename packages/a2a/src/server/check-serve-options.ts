/** The options of `serve()` by name, in addition to those of a handler: see check-options.ts. */
import {
  checkServerOptions,
  isStore,
  limitOptions,
  pushOptions,
  serverOptions,
  webhookGuardOptions,
} from './check-options.ts'
import type { GrpcTls } from './grpc/grpc-listener.ts'
import type { ConnectionLimits } from './http/connections.ts'
import * as check from './option-checks.ts'
import type { ServerOptions } from './options.ts'
import type { ServeOptions, ServePushOptions, ServeTls } from './serve-options.ts'

const tlsOptions = {
  cert: check.unchecked,
  key: check.unchecked,
  ca: check.unchecked,
  requestCert: check.isBoolean,
  hstsSeconds: check.isLimit,
} satisfies check.ChecksOf<keyof ServeTls>

const grpcTlsOptions = {
  cert: check.unchecked,
  key: check.unchecked,
  clientCa: check.unchecked,
} satisfies check.ChecksOf<keyof GrpcTls>

const servePushOptions = {
  ...pushOptions,
  ...webhookGuardOptions,
} satisfies check.ChecksOf<keyof ServePushOptions>

const serveLimits = {
  ...limitOptions,
  connections: check.isLimit,
  connectionsPerAddress: check.isLimit,
} satisfies check.ChecksOf<keyof ConnectionLimits | keyof typeof limitOptions>

const listenerOptions = {
  headTimeoutMs: check.isTimerDuration,
  requestTimeoutMs: check.isTimerDuration,
  port: check.isPort,
  host: check.isString,
  tls: check.isClosed(tlsOptions),
  middleware: check.isFunction,
  grpcPort: check.isPort,
  grpcTls: check.isClosed(grpcTlsOptions),
  quiet: check.isBoolean,
  store: isStore,
  dataDir: check.isString,
  drainMs: check.isDuration,
  shutdownDelayMs: check.isTimerDuration,
} satisfies check.ChecksOf<Exclude<keyof ServeOptions, keyof ServerOptions | 'agent' | 'agents'>>

/** Throws ConfigError. */
export function checkServeOptions(options: ServeOptions): void {
  check.throwConfigError(
    checkServerOptions(options, {
      ...serverOptions,
      ...listenerOptions,
      limits: check.isClosed(serveLimits),
      push: check.eitherOf([true], check.isClosed(servePushOptions)),
    }),
  )
}
