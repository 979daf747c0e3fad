/**
 * Which way a request goes. What the configuration names is the operator's word and may be anywhere; what a card names is
 * its author's, and may not lead into our network (B-26, B-173).
 */
import { A2AError } from '@parley/a2a'
import type { Fetch } from '@parley/a2a/client'
import type { GrpcOptions } from '@parley/a2a/grpc'
import type { KindParts } from '../kind.ts'
import type { A2AEntry } from './entry.ts'

export function wayOut(entry: A2AEntry, { fetch, guardedFetch }: Pick<KindParts, 'fetch' | 'guardedFetch'>): Fetch {
  const named = namedUrls(entry).map((url) => url.origin)
  return async (request) => {
    if (entry.allowPrivate || named.includes(new URL(request.url).origin)) return fetch(request)
    try {
      return await guardedFetch(request)
    } catch (reason) {
      throw denied(reason)
    }
  }
}

/**
 * To the client a refusal of the guard is an interface that cannot be reached: it tries the next one of the card, and this
 * one never again. Other failures stay what they are.
 */
function denied(cause: unknown): unknown {
  if (!(cause instanceof A2AError) || cause.code !== 'PERMISSION_DENIED') return cause
  const message = 'Blocked: the card names an address inside the network; set allowPrivate to allow it'
  return new A2AError('PERMISSION_DENIED', message, { reason: outOfBoundsReason }, { cause })
}
export const outOfBoundsReason = 'NOT_LOADED'

/**
 * gRPC opens its own connections, so it is given the addresses that it may connect to. A host that the configuration names
 * is reached at the named port only: another port of the same host is the card's word.
 */
export function grpcResolver(
  entry: A2AEntry,
  { guardedLookup }: Pick<KindParts, 'guardedLookup'>,
): NonNullable<GrpcOptions['resolve']> {
  const named = namedUrls(entry).map(({ hostname, port, protocol }) => {
    return `${hostname.replace(/^\[|\]$/g, '')} ${port || (protocol === 'https:' ? '443' : '80')}`
  })
  return async (host, port) => {
    if (entry.allowPrivate || named.includes(`${host} ${port}`)) return undefined
    try {
      return await guardedLookup(host, port)
    } catch (reason) {
      throw denied(reason)
    }
  }
}

function namedUrls({ url, trust, auth }: A2AEntry): readonly URL[] {
  const { tokenUrl, metadataUrl, trust: servers = [] } = auth?.oauth ?? {}
  const given = [url, tokenUrl, metadataUrl, ...servers, ...[trust?.jwks ?? []].flat(), ...(trust?.origins ?? [])]
  return given.flatMap((text) => (text !== undefined && URL.canParse(text) ? [new URL(text)] : []))
}
