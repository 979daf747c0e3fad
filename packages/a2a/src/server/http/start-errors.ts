/** Errors of a server that cannot start: one sentence that names the setting, for a program that exits with it. */
import { ConfigError } from '../config-error.ts'
import { hostInUrl } from './addresses.ts'

export interface PortInUseError extends ConfigError {
  readonly code: 'EADDRINUSE'
  readonly port: number
}

export function portInUse(setting: 'port' | 'grpcPort', host: string, port: number): PortInUseError {
  const error = new ConfigError(setting, `${hostInUrl(host)}:${port} is already in use: choose another port`)
  return Object.assign(error, { code: 'EADDRINUSE', port } as const)
}

/** The error for an address that this machine does not have; any other error stays as it is. */
export function listenError(reason: Error, host: string): Error {
  const code = 'code' in reason ? String(reason.code) : ''
  if (!['ENOTFOUND', 'EAI_AGAIN', 'EADDRNOTAVAIL', 'EINVAL'].includes(code)) return reason
  return new ConfigError(
    'host',
    `${host} is not an address of this machine (${code}): use 127.0.0.1, or 0.0.0.0 for all networks`,
  )
}

/** The default store could not be opened: its message says why. */
export function dataDirError(reason: unknown): unknown {
  if (!(reason instanceof Error) || reason.constructor !== Error) return reason
  // The operator chose the directory, not the file in it.
  const error = new ConfigError('dataDir', reason.message.replace('another file', 'another directory'))
  return 'code' in reason ? Object.assign(error, { code: reason.code }) : error
}

/** Recognizes Node's error, and the text that grpc-js repeats. */
export function isPortInUse(reason: unknown): boolean {
  return (
    reason instanceof Error && (('code' in reason && reason.code === 'EADDRINUSE') || /EADDRINUSE/.test(reason.message))
  )
}

/** An old Node fails in strange ways; this check fails with one clear sentence. */
const oldest = [22, 18] as const

export function requireNode(version: string): void {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major > oldest[0] || (major === oldest[0] && minor >= oldest[1])) return
  throw new Error(`@parley/a2a/node requires Node.js ${oldest.join('.')} or newer; found ${version}`)
}
