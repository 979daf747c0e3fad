/**
 * Resolves a path to an agent and one of its endpoints. Every agent has its own path; the default agent also answers at the root,
 * at /a2a and at /api/a2a, where clients look for an agent by convention. If there are others, it does not answer below /a2a.
 * Uses indexOf, because this runs for every request.
 */
import { bindingServers, type HttpBindingName, httpBindingNames } from '../../bindings/protocol-bindings.ts'
import { absentAgent, unnamedAgent, type RegisteredAgent } from '../agents/registered-agent.ts'
import type { AgentRegistry } from '../agents/agent-registry.ts'

/** What a path of an agent serves: operations over a binding, or one of the documents beside them. */
interface Endpoint {
  readonly endpoint: 'call' | 'card' | 'card-0.2' | 'extended-card-0.2'
  /** For a document: REST, whose errors it has. */
  readonly binding: HttpBindingName
}

export interface ResolvedRoute extends Endpoint {
  readonly registeredAgent: RegisteredAgent
  /** The rest of the path after the agent's own. */
  readonly subpath: string
}

export function resolveRoute(registry: AgentRegistry, path: string, tenants: readonly string[] = []): ResolvedRoute {
  const { byName, defaultAgent } = registry
  if (path === '/') return routeBelow(defaultAgent, '')
  if (path.startsWith('/a2a')) {
    if (path.length === 4) return routeBelow(defaultAgent, '')
    if (path[4] === '/') {
      const slash = path.indexOf('/', 5)
      const name = slash < 0 ? path.slice(5) : path.slice(5, slash)
      const registeredAgent = byName.get(name)
      const subpath = slash < 0 ? '' : path.slice(slash)
      if (registeredAgent !== undefined && registeredAgent.path !== '') return routeBelow(registeredAgent, subpath)
      // If agents have names, any valid name is treated as one, so that the response does not reveal whether a hidden agent exists.
      const absentPlaceholder = defaultAgent.path === '' || tenants.includes(name) ? undefined : absentAgent(name)
      if (absentPlaceholder !== undefined) return routeBelow(absentPlaceholder, subpath)
      // A client that lost the agent's name must not get another agent in its place.
      const isUnnamed = path.length > 5 && !tenants.includes(name) && registry.names().length > 1
      return routeBelow(isUnnamed ? unnamedAgent() : defaultAgent, path.slice(4))
    }
  }
  if (path === '/api/a2a') return routeBelow(defaultAgent, '')
  // The card at the root does not list this address, so it is also served below it.
  if (path.startsWith('/api/a2a/') && endpointOf(path.slice(8)).endpoint.startsWith('card'))
    return routeBelow(defaultAgent, path.slice(8))
  return routeBelow(defaultAgent, path)
}

function routeBelow(registeredAgent: RegisteredAgent, subpath: string): ResolvedRoute {
  const { endpoint, binding } = endpointOf(subpath)
  return { registeredAgent, endpoint, binding, subpath }
}

const documents = {
  '/.well-known/agent-card.json': 'card',
  '/.well-known/agent': 'card',
  '/agent-card': 'card',
  '/.well-known/agent.json': 'card-0.2',
  '/agent/authenticatedExtendedCard': 'extended-card-0.2',
} as const

const otherPaths: Endpoint = { endpoint: 'call', binding: 'HTTP+JSON' }
const endpoints = new Map<string, Endpoint>([
  ...Object.entries(documents).map(([path, endpoint]) => [path, { ...otherPaths, endpoint }] as const),
  ...httpBindingNames.flatMap((binding) =>
    (bindingServers[binding].paths ?? []).map((path) => [path, { endpoint: 'call', binding }] as const),
  ),
])

function endpointOf(subpath: string): Endpoint {
  return endpoints.get(subpath) ?? otherPaths
}
