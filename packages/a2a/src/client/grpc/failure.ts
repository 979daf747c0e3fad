/** What a status means that an exchange ended with: what the peer says is wrong, or that there was no peer. */
import { status } from '@grpc/grpc-js'
import type { Metadata, ServiceError } from '@grpc/grpc-js'
import { errorOf, statusNames } from '../../bindings/grpc/status.ts'
import { A2AError } from '../../model/error.ts'
import type { Dialect } from '../../versions/version.ts'

/** With what a page's refusal is turned into a second try. */
export interface Refusal {
  readonly error: A2AError
  readonly wwwAuthenticate: string | undefined
}

/** `hasBegun`: whether the peer has answered with a stream already, so that an end of the connection breaks it off. */
export function failureOf(given: ServiceError, dialect: Dialect, peer: string, hasBegun = false): Refusal {
  const { code, details: message, metadata } = given
  const wwwAuthenticate = textIn(metadata, 'www-authenticate')
  const details = bytesIn(metadata, 'grpc-status-details-bin')
  if (isOurLimit(given)) {
    const error = new A2AError('INVALID_AGENT_RESPONSE', 'The answer is larger than this client reads')
    return { error, wwwAuthenticate }
  }
  if (details !== undefined || !isTransport(statusNames[code] ?? 'UNKNOWN', message)) {
    return { error: errorOf({ code, message, details }, dialect), wwwAuthenticate }
  }
  if (hasBegun) {
    const error = new A2AError('INTERRUPTED', 'The stream broke off', { reason: 'NETWORK' }, { cause: given })
    return { error, wwwAuthenticate }
  }
  // The platform's word for it, but not its sentence, which may name an address within our network.
  const why = /\bE[A-Z]{4,}\b/.exec(message)?.[0] ?? 'no connection'
  const error = new A2AError(
    'UNAVAILABLE',
    `${peer} cannot be reached: ${why}`,
    { reason: 'NETWORK' },
    { cause: given },
  )
  return { error, wwwAuthenticate }
}

/** Made by our own side, which shows in that no header came with it: the peer's word for our message is the same. */
function isOurLimit({ code, details, metadata }: ServiceError): boolean {
  return (
    code === status.RESOURCE_EXHAUSTED &&
    /larger than/.test(details) &&
    Object.keys(metadata?.getMap() ?? {}).length === 0
  )
}

/** Statuses that the transport makes itself. A peer that means one of them says so in the details. */
function isTransport(name: string, message: string): boolean {
  if (name === 'UNAVAILABLE' || name === 'CANCELLED') return true
  return name === 'INTERNAL' && /RST_STREAM|stream (was )?(closed|reset)/i.test(message)
}

function bytesIn(metadata: Metadata | undefined, name: string): Uint8Array | undefined {
  return metadata?.get(name).find((value) => typeof value !== 'string')
}

function textIn(metadata: Metadata | undefined, name: string): string | undefined {
  return metadata?.get(name).find((value) => typeof value === 'string')
}
