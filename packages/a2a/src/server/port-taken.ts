/** A port that is in use already: one sentence that names the setting, for a program that ends with it. */
import { ConfigError } from './config-error.ts'
import { hostInUrl } from './host-in-url.ts'

export interface PortTakenError extends ConfigError {
  readonly code: 'EADDRINUSE'
  readonly port: number
}

export function portTaken(setting: 'port' | 'grpcPort', host: string, port: number): PortTakenError {
  const error = new ConfigError(setting, `${hostInUrl(host)}:${port} is already in use, choose another port`)
  // The stack leads into Node's listener and says nothing more: an uncaught error prints its sentence.
  error.stack = `${error.name}: ${error.message}`
  return Object.assign(error, { code: 'EADDRINUSE', port } as const)
}

/** As Node says it, and as grpc-js repeats it. */
export function isPortTaken(reason: unknown): boolean {
  return (
    reason instanceof Error && (('code' in reason && reason.code === 'EADDRINUSE') || /EADDRINUSE/.test(reason.message))
  )
}
