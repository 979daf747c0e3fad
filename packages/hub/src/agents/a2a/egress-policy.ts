/**
 * Chooses the fetch for a request. Addresses in the configuration come from the operator and may be anywhere. Addresses in
 * a card come from its author and may not lead into our network (B-26, B-173).
 */
import { A2AError } from '@parley/a2a'
import type { Fetch } from '@parley/a2a/client'
import type { GrpcOptions } from '@parley/a2a/grpc'
import type { AgentServices } from '../kind.ts'
import type { A2AEntry } from './entry.ts'

export function createEgressFetch(
  entry: A2AEntry,
  { fetch, guardedFetch }: Pick<AgentServices, 'fetch' | 'guardedFetch'>,
): Fetch {
  const named = configuredUrls(entry).map((url) => url.origin)
  return async (request) => {
    if (entry.allowPrivate || named.includes(new URL(request.url).origin)) return fetch(request)
    try {
      return await guardedFetch(request)
    } catch (reason) {
      throw egressError(reason)
    }
  }
}

/**
 * Turns a rejection by the guard into an unreachable interface: the client tries the next interface of the card and never
 * this one again. Other errors are unchanged.
 */
function egressError(cause: unknown): unknown {
  if (!(cause instanceof A2AError) || cause.code !== 'PERMISSION_DENIED') return cause
  const message = 'Blocked: the card names an address inside the network; set allowPrivate to allow it'
  return new A2AError('PERMISSION_DENIED', message, { reason: egressBlockedReason }, { cause })
}
export const egressBlockedReason = 'NOT_LOADED'

/**
 * gRPC opens its own connections, so it receives the addresses that it may connect to. A configured host is allowed only on
 * its configured port, because another port comes from the card.
 */
export function createGrpcResolver(
  entry: A2AEntry,
  { guardedLookup }: Pick<AgentServices, 'guardedLookup'>,
): NonNullable<GrpcOptions['resolve']> {
  const named = configuredUrls(entry).map(({ hostname, port, protocol }) => {
    return `${hostname.replace(/^\[|\]$/g, '')} ${port || (protocol === 'https:' ? '443' : '80')}`
  })
  return async (host, port) => {
    if (entry.allowPrivate || named.includes(`${host} ${port}`)) return undefined
    try {
      return await guardedLookup(host, port)
    } catch (reason) {
      throw egressError(reason)
    }
  }
}

function configuredUrls({ url, trust, auth }: A2AEntry): readonly URL[] {
  const { tokenUrl, metadataUrl, trust: servers = [] } = auth?.oauth ?? {}
  const given = [url, tokenUrl, metadataUrl, ...servers, ...[trust?.jwks ?? []].flat(), ...(trust?.origins ?? [])]
  return given.flatMap((text) => (text !== undefined && URL.canParse(text) ? [new URL(text)] : []))
}
