/** Maps the status of a failed call to an error: the error that the peer reports, or that there was no connection. */
import { status, type Metadata, type ServiceError } from '@grpc/grpc-js'
import { errorFromGrpcStatus, statusNames } from '../../bindings/grpc/status.ts'
import { A2AError } from '../../model/error.ts'
import type { Dialect } from '../../versions/version.ts'

/** The error, with what a retry after a 401 needs. */
export interface GrpcFailure {
  readonly error: A2AError
  readonly wwwAuthenticate: string | undefined
}

/** `hasBegun`: whether the peer has already begun to stream, so that the end of the connection interrupts the stream. */
export function toGrpcFailure(given: ServiceError, dialect: Dialect, peer: string, hasBegun = false): GrpcFailure {
  const { code, details: message, metadata } = given
  const wwwAuthenticate = textIn(metadata, 'www-authenticate')
  const details = bytesIn(metadata, 'grpc-status-details-bin')
  if (isOwnSizeLimit(given)) {
    const error = new A2AError('INVALID_AGENT_RESPONSE', 'The response exceeds the size limit of this client')
    return { error, wwwAuthenticate }
  }
  if (details !== undefined || !isTransportStatus(statusNames[code] ?? 'UNKNOWN', message)) {
    return { error: errorFromGrpcStatus({ code, message, details }, dialect), wwwAuthenticate }
  }
  if (hasBegun) {
    const error = new A2AError('INTERRUPTED', 'The stream broke off', { reason: 'NETWORK' }, { cause: given })
    return { error, wwwAuthenticate }
  }
  const error = new A2AError(
    'UNAVAILABLE',
    `${peer} cannot be reached: ${causeOf(message)}`,
    { reason: 'NETWORK' },
    { cause: given },
  )
  return { error, wwwAuthenticate }
}

/** The platform's error code or the words of TLS, but not the whole message, which may name an address within our network. */
const causePattern =
  /\bE[A-Z]{4,}\b|\bERR_TLS_[A-Z_]+|Name resolution failed|self-signed certificate|certificate (has expired|is not yet valid)|(?<=\balert )(?!number)[a-z][a-z ]*[a-z]|unable to (verify|get)[a-z ]+|wrong version number/

function causeOf(message: string): string {
  return causePattern.exec(message)?.[0] ?? 'no connection'
}

/** Our own size limit, recognizable by the missing headers: the peer reports our message with the same status. */
function isOwnSizeLimit({ code, details, metadata }: ServiceError): boolean {
  return (
    code === status.RESOURCE_EXHAUSTED &&
    /larger than/.test(details) &&
    Object.keys(metadata?.getMap() ?? {}).length === 0
  )
}

/** Statuses that the transport creates itself. A peer that means one of them says so in the details. */
function isTransportStatus(name: string, message: string): boolean {
  if (name === 'UNAVAILABLE' || name === 'CANCELLED') return true
  return name === 'INTERNAL' && /RST_STREAM|stream (was )?(closed|reset)/i.test(message)
}

function bytesIn(metadata: Metadata | undefined, name: string): Uint8Array | undefined {
  return metadata?.get(name).find((value) => typeof value !== 'string')
}

function textIn(metadata: Metadata | undefined, name: string): string | undefined {
  return metadata?.get(name).find((value) => typeof value === 'string')
}
