/**
 * The current connection to the remote agent. It is opened on first use and refreshed periodically, and after failures that
 * a new card may fix. A turn keeps the connection it started with.
 */
import { A2AError, type AgentCard } from '@parley/a2a'
import { abortable, omitUndefined, type DirectRequest } from '@parley/a2a/internal'
import {
  connect,
  type ClientBinding,
  type ConnectOptions,
  type Fetch,
  type RemoteAgent,
  type StoredToken,
} from '@parley/a2a/client'
import { grpc, type GrpcOptions } from '@parley/a2a/grpc'
import type { AgentServices } from '../kind.ts'
import type { RemoteCardWatch } from './card-watch.ts'
import type { A2AEntry } from './entry.ts'

export interface Upstream {
  /** The connected agent, from the cache if it is fresh. Throws AGENT_UNAVAILABLE or INVALID_AGENT_RESPONSE. */
  remote(signal: AbortSignal): Promise<RemoteAgent>
  /** Fetches the card, unless its HTTP caching headers say that it is still fresh. */
  fetchCard(signal: AbortSignal): Promise<AgentCard>
  /** Resolves if the card can be fetched now, bypassing all caches. */
  ping(signal: AbortSignal): Promise<void>
  /** Marks the cached card as stale, because it may have caused a failure. */
  invalidate(): void
  close(): void
}

/** Upper limit of how long a card is used without revalidation, whatever its headers say. */
const freshMs = 300_000

export function createUpstream(entry: A2AEntry, services: AgentServices, watch: RemoteCardWatch): Upstream {
  const fetch = createEgressFetch(entry, services)
  const resolve = createGrpcResolver(entry, services)
  const overGrpc = grpc(entry.grpcTls === undefined ? { resolve } : { resolve, tls: entry.grpcTls })
  const options = connectOptions(entry, services, [overGrpc])
  let current: { readonly remote: RemoteAgent; readonly at: number } | undefined
  let refreshing: Promise<RemoteAgent> | undefined

  return {
    async remote(signal) {
      if (current !== undefined && services.monotonicNow() - current.at < freshMs) return current.remote
      try {
        return await refresh(signal)
      } catch (reason) {
        signal.throwIfAborted()
        // The server of the card may be down while the agent itself works. A rejected card is different.
        if (current !== undefined && reason instanceof A2AError && reason.retryable) return current.remote
        services.log.warn('the remote agent cannot be reached', { cause: reason })
        throw upstreamUnavailable(reason)
      }
    },
    async fetchCard(signal) {
      try {
        return (await refresh(signal)).card
      } catch (reason) {
        // While a changed card is blocked, the approved card stays published.
        const approved = isCardBlocked(reason) ? await watch.approved() : undefined
        if (approved === undefined) throw reason
        return approved
      }
    },
    async ping(signal) {
      // The card cache belongs to a fetch function: a new function bypasses it.
      await connectRemote((request) => fetch(request), signal)
    },
    invalidate() {
      if (current !== undefined) current = { ...current, at: -Infinity }
    },
    close: () => overGrpc.close(),
  }

  /** Shared by all waiting callers; one that aborts does not stop it for the others. */
  async function refresh(signal: AbortSignal): Promise<RemoteAgent> {
    signal.throwIfAborted()
    refreshing ??= connectRemote(fetch)
      .then(async (remote) => {
        if (!(await watch.observe(remote))) {
          current = undefined
          throw cardBlocked()
        }
        current = { remote, at: services.monotonicNow() }
        return remote
      })
      .finally(() => (refreshing = undefined))
    return abortable(signal, refreshing)
  }

  async function connectRemote(fetchWith: Fetch, signal?: AbortSignal): Promise<RemoteAgent> {
    const remote = await connect(entry.url, {
      ...options,
      fetch: fetchWith,
      ...omitUndefined({ signal }),
    })
    const { extendedAgentCard } = remote.card.capabilities
    if (entry.extendedCard && extendedAgentCard === true)
      await remote.extendedCard(signal === undefined ? {} : { signal })
    return remote
  }
}

function connectOptions(
  entry: A2AEntry,
  { log, jsonNodes }: AgentServices,
  bindings: readonly ClientBinding[],
): ConnectOptions {
  const { auth = {}, trust, protocol, tenant, headers } = entry
  const { oauth, ...secrets } = auth
  const tokens = new Map<string, StoredToken>()
  return omitUndefined({
    ...secrets,
    // Kept here, so that refreshing the card does not request a new token.
    oauth: oauth && omitUndefined({ ...oauth, flow: 'client-credentials' as const, cache: tokenCache(tokens) }),
    headers,
    verify: entry.verify === 'prefer' ? ('warn' as const) : entry.verify,
    trust: trust && omitUndefined(trust),
    version: protocol,
    prefer: entry.bindings ?? [],
    bindings,
    tenant,
    log,
    limits: omitUndefined({
      timeoutMs: entry.answerTimeout,
      idleTimeoutMs: entry.idleTimeout,
      pollMs: entry.pollEvery,
      maxJsonNodes: jsonNodes,
    }),
  })
}

function tokenCache(tokens: Map<string, StoredToken>) {
  return {
    get: (key: string) => tokens.get(key),
    set(key: string, token: StoredToken | undefined) {
      if (token === undefined) tokens.delete(key)
      else tokens.set(key, token)
    },
  }
}

function cardBlocked(): A2AError {
  const message = 'The agent card changed and must be approved by the hub operator'
  return new A2AError('AGENT_UNAVAILABLE', message, { cause: 'CARD_CHANGED' })
}

function isCardBlocked(reason: unknown): boolean {
  return reason instanceof A2AError && reason.details.cause === 'CARD_CHANGED'
}

function upstreamUnavailable(cause: unknown): A2AError {
  if (isCardBlocked(cause)) return cause as A2AError
  if (isInvalidCard(cause))
    return new A2AError('INVALID_AGENT_RESPONSE', 'The agent has no readable agent card', {}, { cause })
  const why = cause instanceof A2AError ? cause.code : ''
  const text =
    why === 'UNAUTHENTICATED' || why === 'PERMISSION_DENIED'
      ? 'The agent does not accept the credentials of this hub'
      : 'The agent cannot be reached now'
  return new A2AError('AGENT_UNAVAILABLE', text, {}, { cause })
}

/** The server answered with something that is not a card. An untrusted card, or a blocked redirect, is a different error. */
function isInvalidCard(cause: unknown): boolean {
  if (!(cause instanceof A2AError) || cause.code !== 'INVALID_AGENT_RESPONSE') return false
  const { reason, status = '200' } = cause.details
  return reason === undefined && status.startsWith('2')
}

/**
 * Chooses the fetch for a request. Addresses in the configuration come from the operator and may be anywhere. Addresses in
 * a card come from its author and may not lead into our network (B-26, B-173).
 */
export function createEgressFetch(
  entry: A2AEntry,
  { fetch, guardedFetch }: Pick<AgentServices, 'fetch' | 'guardedFetch'>,
): Fetch {
  const named = configuredUrls(entry).map((url) => url.origin)
  const isTrusted = ({ origin }: URL): boolean => entry.allowPrivate || named.includes(origin)
  const guarded = async <T>(response: Promise<T>): Promise<T> => {
    try {
      return await response
    } catch (reason) {
      throw egressError(reason)
    }
  }
  const choose: Fetch = (request) => (isTrusted(new URL(request.url)) ? fetch(request) : guarded(guardedFetch(request)))
  const { exchange } = fetch
  const { exchange: guardedExchange } = guardedFetch
  if (exchange === undefined || guardedExchange === undefined) return choose
  return Object.assign(choose, {
    exchange: (request: DirectRequest) =>
      isTrusted(request.url) ? exchange(request) : guarded(guardedExchange(request)),
  })
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
export const egressBlockedReason = 'ADDRESS_BLOCKED'

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
