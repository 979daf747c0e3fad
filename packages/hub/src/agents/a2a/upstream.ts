/**
 * The remote agent as it is now: found when it is first needed, looked at again now and then, and whenever something
 * failed that another look may mend. A turn keeps the one it began with.
 */
import { A2AError } from '@parley/a2a'
import type { AgentCard } from '@parley/a2a'
import { connect } from '@parley/a2a/client'
import type { ClientBinding, ConnectOptions, Fetch, RemoteAgent, StoredToken } from '@parley/a2a/client'
import { grpc } from '@parley/a2a/grpc'
import type { KindParts } from '../kind.ts'
import type { RemoteCardWatch } from './card-watch.ts'
import type { A2AEntry } from './entry.ts'
import { grpcResolver, wayOut } from './way-out.ts'

export interface Upstream {
  /** The agent, as it was last seen if that was not long ago. Fails as AGENT_UNAVAILABLE, or as INVALID_AGENT_RESPONSE. */
  remote(signal: AbortSignal): Promise<RemoteAgent>
  /** Looks at its card, as far as its headers say that it may have changed. */
  look(signal: AbortSignal): Promise<AgentCard>
  /** Resolves when its card can be had now, whatever is remembered. */
  reach(signal: AbortSignal): Promise<void>
  /** What we know of it may be why something failed. */
  doubt(): void
  close(): void
}

/** A card may say for how long it holds; nobody is to use one for longer than this without asking. */
const freshMs = 300_000

export function createUpstream(entry: A2AEntry, parts: KindParts, watch: RemoteCardWatch): Upstream {
  const fetch = wayOut(entry, parts)
  const resolve = grpcResolver(entry, parts)
  const overGrpc = grpc(entry.grpcTls === undefined ? { resolve } : { resolve, tls: entry.grpcTls })
  const options = connectOptions(entry, parts, [overGrpc])
  let current: { readonly remote: RemoteAgent; readonly at: number } | undefined
  let looking: Promise<RemoteAgent> | undefined

  return {
    async remote(signal) {
      if (current !== undefined && parts.monotonicNow() - current.at < freshMs) return current.remote
      try {
        return await lookAgain(signal)
      } catch (reason) {
        signal.throwIfAborted()
        // Whoever shows the card may be away while the agent is there. A card that is refused is another matter.
        if (current !== undefined && reason instanceof A2AError && reason.retryable) return current.remote
        parts.log.warn('the remote agent cannot be reached', { cause: reason })
        throw unavailable(reason)
      }
    },
    async look(signal) {
      try {
        return (await lookAgain(signal)).card
      } catch (reason) {
        // What is shown is what was approved, as long as the other one is not.
        const approved = isBlocked(reason) ? await watch.approved() : undefined
        if (approved === undefined) throw reason
        return approved
      }
    },
    async reach(signal) {
      // Another function has another cache.
      await connected((request) => fetch(request), signal)
    },
    doubt() {
      if (current !== undefined) current = { ...current, at: -Infinity }
    },
    close: () => overGrpc.close(),
  }

  /** Shared by all who wait; whoever goes leaves it to the others. */
  async function lookAgain(signal: AbortSignal): Promise<RemoteAgent> {
    signal.throwIfAborted()
    looking ??= connected(fetch)
      .then(async (remote) => {
        if (!(await watch.seen(remote))) {
          current = undefined
          throw blocked()
        }
        current = { remote, at: parts.monotonicNow() }
        return remote
      })
      .finally(() => (looking = undefined))
    return orAborted(looking, signal)
  }

  async function connected(way: Fetch, signal?: AbortSignal): Promise<RemoteAgent> {
    const remote = await connect(entry.url, { ...options, fetch: way, ...(signal !== undefined ? { signal } : {}) })
    const { extendedAgentCard } = remote.card.capabilities
    if (entry.extendedCard && extendedAgentCard === true)
      await remote.extendedCard(signal === undefined ? {} : { signal })
    return remote
  }
}

function connectOptions(
  entry: A2AEntry,
  { log, jsonNodes }: KindParts,
  bindings: readonly ClientBinding[],
): ConnectOptions {
  const { auth = {}, trust, protocol, tenant, headers } = entry
  const { oauth, ...secrets } = auth
  const tokens = new Map<string, StoredToken>()
  return definedOf({
    ...secrets,
    // Kept here, so that another look at the card does not take another token.
    oauth: oauth && definedOf({ ...oauth, flow: 'client-credentials' as const, cache: tokenCache(tokens) }),
    headers,
    verify: entry.verify === 'prefer' ? ('warn' as const) : entry.verify,
    trust: trust && definedOf(trust),
    version: protocol,
    prefer: entry.bindings ?? [],
    bindings,
    tenant,
    log,
    limits: definedOf({
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

/** What is not said in the configuration is not said to the client either. */
function definedOf<T extends object>(of: T): Defined<T> {
  return Object.fromEntries(Object.entries(of).filter(([, value]) => value !== undefined)) as Defined<T>
}
type Defined<T> = { [K in keyof T]: Exclude<T[K], undefined> }

function blocked(): A2AError {
  const message = 'The agent has changed, and whoever runs this hub has to approve it first'
  return new A2AError('AGENT_UNAVAILABLE', message, { cause: 'CARD_CHANGED' })
}

function isBlocked(reason: unknown): boolean {
  return reason instanceof A2AError && reason.details.cause === 'CARD_CHANGED'
}

function unavailable(cause: unknown): A2AError {
  if (isBlocked(cause)) return cause as A2AError
  if (isNoCard(cause))
    return new A2AError('INVALID_AGENT_RESPONSE', 'The agent gives no card that can be read', {}, { cause })
  const why = cause instanceof A2AError ? cause.code : ''
  const text =
    why === 'UNAUTHENTICATED' || why === 'PERMISSION_DENIED'
      ? 'The agent does not let this hub in'
      : 'The agent cannot be reached now'
  return new A2AError('AGENT_UNAVAILABLE', text, {}, { cause })
}

/** It answered, with something that is no card. A card that is not trusted, or a way that leads elsewhere, is another matter. */
function isNoCard(cause: unknown): boolean {
  if (!(cause instanceof A2AError) || cause.code !== 'INVALID_AGENT_RESPONSE') return false
  const { reason, status = '200' } = cause.details
  return reason === undefined && status.startsWith('2')
}

async function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const left = Promise.withResolvers<never>()
  const leave = (): void => left.reject(signal.reason)
  signal.addEventListener('abort', leave, { once: true })
  try {
    return await Promise.race([promise, left.promise])
  } finally {
    signal.removeEventListener('abort', leave)
  }
}
