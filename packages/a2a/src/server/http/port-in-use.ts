/** The error for a port that is already in use: one sentence that names the setting, for a program that exits with it. */
import { ConfigError } from '../config-error.ts'
import { hostInUrl } from './host-in-url.ts'

export interface PortInUseError extends ConfigError {
  readonly code: 'EADDRINUSE'
  readonly port: number
}

export function portInUse(setting: 'port' | 'grpcPort', host: string, port: number): PortInUseError {
  const error = new ConfigError(setting, `${hostInUrl(host)}:${port} is already in use: choose another port`)
  // The stack only shows Node's listener: an uncaught error prints just the message.
  error.stack = `${error.name}: ${error.message}`
  return Object.assign(error, { code: 'EADDRINUSE', port } as const)
}

/** Recognizes Node's error, and the text that grpc-js repeats. */
export function isPortInUse(reason: unknown): boolean {
  return (
    reason instanceof Error && (('code' in reason && reason.code === 'EADDRINUSE') || /EADDRINUSE/.test(reason.message))
  )
}
