/**
 * The agents that a caller may use: `/.well-known/ai-catalog.json` for programs that look for catalogs, and `GET /a2a` for all
 * others. A caller sees only the agents and skills that it may use. `text`, `tag` and `skill` filter both.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { A2AError, type AgentLog, type Caller } from '@parley/a2a'
import type { Middleware } from '@parley/a2a/node'
import { errorResponse, RouteError } from '../http/json-response.ts'
import { requestPath, type RouteRequest, createRouteRequest, sendJson } from '../http/route-request.ts'
import type { AccessControl } from '../auth/access-control.ts'
import type { AgentRegistry } from '../registry/agent-registry.ts'
import { type AgentFilter, matchesFilter, type ListedAgent, toListedAgent } from './listed-agent.ts'

export interface DiscoveryDeps {
  readonly registry: Pick<AgentRegistry, 'names' | 'status'>
  readonly identify: AccessControl['identify']
  /** Whether X-Forwarded-For is trusted. */
  readonly trustProxy: boolean
  /** The permissions of the caller on the agent; `undefined` if it may not use it. */
  permissionFor(caller: Caller, agent: string): { readonly skills?: readonly string[] } | undefined
  /** The public URL of the hub, if configured. */
  publicUrl(): string | undefined
  /** The URL that the hub listens on. */
  url(): string | undefined
  readonly log: AgentLog
}

const catalogPath = '/.well-known/ai-catalog.json'
const listPath = '/a2a'
const filterNames = ['text', 'tag', 'skill'] as const
/** Long enough for a caller that asks twice in a row. Private, because the list differs by caller. */
const headers = { 'cache-control': 'private, max-age=60', vary: 'Authorization, X-API-Key, Cookie' }

export function createDiscovery(parts: DiscoveryDeps): Middleware {
  async function agentsFor(request: RouteRequest): Promise<readonly ListedAgent[]> {
    const { caller } = await parts.identify(request.call(''))
    const filter = filterOf(request.query)
    const base = baseOf(request)
    return parts.registry
      .names()
      .flatMap((name) => {
        const status = parts.registry.status(name)
        const admitted = status === undefined ? undefined : parts.permissionFor(caller, name)
        return status === undefined || admitted === undefined ? [] : [toListedAgent(status, base, admitted.skills)]
      })
      .filter((agent) => matchesFilter(agent, filter))
  }

  /** The same base as on cards: if none is configured, the address of the request. */
  function baseOf(request: RouteRequest): string {
    const host = request.header('host') ?? ''
    const requestedBase = /^[\w.:[\]-]+$/.test(host) ? `${request.isEncrypted ? 'https' : 'http'}://${host}` : undefined
    return parts.publicUrl() ?? requestedBase ?? parts.url() ?? 'http://localhost'
  }

  async function answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const request = createRouteRequest(incoming, parts)
    const isHead = request.method === 'HEAD'
    try {
      const agents = await agentsFor(request)
      if (request.path === listPath) return sendJson(response, isHead, { status: 200, body: { agents }, headers })
      const body = buildAiCatalog(agents, baseOf(request))
      sendJson(response, isHead, { status: 200, body, headers: { ...headers, 'content-type': catalogType } })
    } catch (reason) {
      sendJson(response, isHead, errorResponse(toRouteError(reason, parts.log)))
    }
  }

  return (request, response) => {
    const path = requestPath(request)
    if (path !== catalogPath && path !== listPath) return false
    const { method } = request
    // Messages for the default agent are sent to the same path.
    if (method !== 'GET' && method !== 'HEAD') return false
    void answer(request, response).catch(() => response.destroy())
    return true
  }
}

function filterOf(query: URLSearchParams): AgentFilter {
  const unknown = [...query.keys()].find((name) => !filterNames.some((one) => one === name))
  if (unknown !== undefined) {
    const violations = [{ field: unknown, description: `use one of ${filterNames.join(', ')}` }]
    throw new RouteError('INVALID_PARAMS', `${unknown}: use one of ${filterNames.join(', ')}`, { violations })
  }
  return Object.fromEntries(filterNames.map((name) => [name, query.get(name) || undefined]))
}

function toRouteError(reason: unknown, log: AgentLog): RouteError {
  if (reason instanceof RouteError) return reason
  if (reason instanceof A2AError && (reason.code === 'UNAUTHENTICATED' || reason.code === 'UNAVAILABLE')) {
    const { challenge } = reason.details
    const more = typeof challenge === 'string' ? { headers: { 'www-authenticate': challenge } } : {}
    return new RouteError(reason.code, reason.message, more)
  }
  log.error('the agents could not be listed', { cause: reason })
  return new RouteError('INTERNAL', 'Internal error')
}

const catalogType = 'application/ai-catalog+json'
const cardType = 'application/a2a-agent-card+json'
/** The skills that the caller may use, which a card cannot list because it is the same for all callers. */
export const catalogExtension = 'https://parley.dev/extensions/catalog/v1'

interface AiCatalog {
  readonly specVersion: '1.0'
  readonly host: { readonly displayName: string; readonly identifier: string }
  readonly entries: readonly AiCatalogEntry[]
}

interface AiCatalogEntry {
  readonly identifier: string
  readonly type: string
  readonly url: string
  readonly tags?: readonly string[]
  readonly extensions: Readonly<Record<string, unknown>>
}

/**
 * The agents of this hub as an AI Catalog, version 1.0: the locations of the cards, with enough data beside each to choose without
 * fetching them all. Names and descriptions are left to the cards.
 */
export function buildAiCatalog(agents: readonly ListedAgent[], base: string): AiCatalog {
  const { hostname } = new URL(base)
  return {
    specVersion: '1.0',
    host: { displayName: hostname, identifier: hostname },
    entries: agents.map(({ name, url, card, tags, skills, isAvailable }) => ({
      identifier: `urn:air:${hostname}:a2a:${name}`,
      type: cardType,
      url: card,
      ...(tags.length > 0 ? { tags } : {}),
      extensions: {
        [catalogExtension]: { agent: name, url, available: isAvailable, skills: skills.map(({ id }) => id) },
      },
    })),
  }
}
