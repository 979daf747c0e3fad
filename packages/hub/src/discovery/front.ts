/**
 * Which agents there are, for whoever asks: `/.well-known/ai-catalog.json` for programs that look for catalogs, and
 * `GET /a2a` for everybody else. A caller sees the agents and skills that it may use, and no others. `text`, `tag` and `skill`
 * narrow both.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { A2AError, type AgentLog, type Caller } from '@parley/a2a'
import type { Front } from '@parley/a2a/node'
import { refusal, RouteError } from '../admin/answer.ts'
import { pathOf, type RouteRequest, routeRequest, sendAnswer } from '../admin/route-request.ts'
import type { Access } from '../auth/access.ts'
import type { Registry } from '../registry.ts'
import { catalogOf, catalogType } from './catalog.ts'
import { type AgentFilter, fits, type ListedAgent, listedAgent } from './listed-agent.ts'

export interface DiscoveryParts {
  readonly registry: Pick<Registry, 'names' | 'status'>
  readonly identify: Access['identify']
  /** With what the caller may use of that agent; nothing if it may not use it. */
  admitted(caller: Caller, agent: string): { readonly skills?: readonly string[] } | undefined
  /** Where the hub is reached from outside, if the configuration says. */
  publicUrl(): string | undefined
  /** Where it listens. */
  url(): string | undefined
  readonly log: AgentLog
}

const catalogPath = '/.well-known/ai-catalog.json'
const listPath = '/a2a'
const filters = ['text', 'tag', 'skill'] as const
/** Long enough for whoever asks twice in a row, and for nobody else: it is another one for another caller. */
const headers = { 'cache-control': 'private, max-age=60', vary: 'Authorization, X-API-Key, Cookie' }

export function createDiscovery(parts: DiscoveryParts): Front {
  async function agentsFor(request: RouteRequest): Promise<readonly ListedAgent[]> {
    const caller = await parts.identify(request.credentials(''))
    const filter = filterOf(request.query)
    const base = baseOf(request)
    return parts.registry
      .names()
      .flatMap((name) => {
        const status = parts.registry.status(name)
        const admitted = status === undefined ? undefined : parts.admitted(caller, name)
        return status === undefined || admitted === undefined ? [] : [listedAgent(status, base, admitted.skills)]
      })
      .filter((agent) => fits(agent, filter))
  }

  /** As cards have it: where the configuration does not say, as whoever asks has reached us. */
  function baseOf(request: RouteRequest): string {
    const host = request.header('host') ?? ''
    const asked = /^[\w.:[\]-]+$/.test(host) ? `${request.isEncrypted ? 'https' : 'http'}://${host}` : undefined
    return parts.publicUrl() ?? asked ?? parts.url() ?? 'http://localhost'
  }

  async function answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const request = routeRequest(incoming)
    const isHead = request.method === 'HEAD'
    try {
      const agents = await agentsFor(request)
      if (request.path === listPath) return sendAnswer(response, isHead, { status: 200, body: { agents }, headers })
      const body = catalogOf(agents, baseOf(request))
      sendAnswer(response, isHead, { status: 200, body, headers: { ...headers, 'content-type': catalogType } })
    } catch (reason) {
      sendAnswer(response, isHead, refusal(asRefusal(reason, parts.log)))
    }
  }

  return (request, response) => {
    const path = pathOf(request)
    if (path !== catalogPath && path !== listPath) return false
    const { method } = request
    // A message for the default agent is sent there, too.
    if (method !== 'GET' && method !== 'HEAD') return false
    void answer(request, response).catch(() => response.destroy())
    return true
  }
}

function filterOf(query: URLSearchParams): AgentFilter {
  const unknown = [...query.keys()].find((name) => !filters.some((one) => one === name))
  if (unknown !== undefined) {
    const violations = [{ field: unknown, description: `there are ${filters.join(', ')}` }]
    throw new RouteError('INVALID_PARAMS', `${unknown}: there are ${filters.join(', ')}`, { violations })
  }
  return Object.fromEntries(filters.map((name) => [name, query.get(name) || undefined]))
}

function asRefusal(reason: unknown, log: AgentLog): RouteError {
  if (reason instanceof RouteError) return reason
  if (reason instanceof A2AError && (reason.code === 'UNAUTHENTICATED' || reason.code === 'UNAVAILABLE')) {
    const { challenge } = reason.details
    const more = typeof challenge === 'string' ? { headers: { 'www-authenticate': challenge } } : {}
    return new RouteError(reason.code, reason.message, more)
  }
  log.error('the agents could not be listed', { cause: reason })
  return new RouteError('INTERNAL', 'Internal error')
}
