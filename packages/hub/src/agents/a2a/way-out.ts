/**
 * Which way a request goes. What the configuration names is the operator's word and may be anywhere; what a card names is
 * its author's, and may not lead into our network (B-26, B-173).
 */
import { A2AError } from '@parley/a2a'
import type { ClientBinding, Fetch } from '@parley/a2a/client'
import type { KindParts } from '../kind.ts'
import type { A2AEntry } from './entry.ts'

export function wayOut(entry: A2AEntry, { fetch, guardedFetch }: Pick<KindParts, 'fetch' | 'guardedFetch'>): Fetch {
  const named = namedUrls(entry).map((url) => url.origin)
  return async (request) => {
    if (entry.allowPrivate || named.includes(new URL(request.url).origin)) return fetch(request)
    try {
      return await guardedFetch(request)
    } catch (reason) {
      throw reason instanceof A2AError && reason.code === 'PERMISSION_DENIED' ? outOfBounds(reason) : reason
    }
  }
}

/** To the client it is an interface where nobody is: it tries the next one of the card, and this one never again. */
function outOfBounds(cause?: unknown): A2AError {
  const message = 'The card leads to where this hub does not go; allowPrivate would let it'
  return new A2AError('PERMISSION_DENIED', message, { reason: outOfBoundsReason }, { cause })
}
export const outOfBoundsReason = 'NOT_LOADED'

/**
 * gRPC has connections of its own, which no guard sees. So it is spoken with the hosts that the configuration names, and
 * with others only where private addresses are allowed anyway.
 */
export function guardedBinding(entry: A2AEntry, binding: ClientBinding): ClientBinding {
  const named = namedUrls(entry).map((url) => url.hostname)
  const { protocolBinding, versions } = binding
  return {
    protocolBinding,
    versions,
    open(at, version, parts) {
      if (entry.allowPrivate || named.includes(hostOf(at.url))) return binding.open(at, version, parts)
      const refuse = (): Promise<never> => Promise.reject(outOfBounds())
      return { call: refuse, open: refuse }
    },
  }
}

function namedUrls({ url, trust, auth }: A2AEntry): readonly URL[] {
  const { tokenUrl, metadataUrl, trust: servers = [] } = auth?.oauth ?? {}
  const given = [url, tokenUrl, metadataUrl, ...servers, ...[trust?.jwks ?? []].flat(), ...(trust?.origins ?? [])]
  return given.flatMap((text) => (text !== undefined && URL.canParse(text) ? [new URL(text)] : []))
}

/** Of `host:port`, or of a url of any scheme. */
function hostOf(address: string): string {
  const authority = address.replace(/^[a-z+]+:\/\//i, '')
  return URL.canParse(`http://${authority}`) ? new URL(`http://${authority}`).hostname : ''
}
