/**
 * Resolves a path to an agent and one of its endpoints. Every agent has its own path; the default agent also answers at the root,
 * at /a2a and at /api/a2a, where clients look for an agent by convention. Uses indexOf, because this runs for every request.
 */
import { absentAgent, type RegisteredAgent } from '../agents/registered-agent.ts'
import type { AgentRegistry } from '../agents/agent-registry.ts'

export type Endpoint = 'jsonrpc' | 'card' | 'card-0.2' | 'extended-card-0.2' | 'rest'

export interface ResolvedRoute {
  readonly registeredAgent: RegisteredAgent
  readonly endpoint: Endpoint
  /** The rest of the path after the agent's own. */
  readonly subpath: string
}

export function resolveRoute(
  { byName, defaultAgent }: AgentRegistry,
  path: string,
  tenants: readonly string[] = [],
): ResolvedRoute {
  if (path === '/') return { registeredAgent: defaultAgent, endpoint: 'jsonrpc', subpath: '' }
  if (path.startsWith('/a2a')) {
    if (path.length === 4) return { registeredAgent: defaultAgent, endpoint: 'jsonrpc', subpath: '' }
    if (path[4] === '/') {
      const slash = path.indexOf('/', 5)
      const name = slash < 0 ? path.slice(5) : path.slice(5, slash)
      const registeredAgent = byName.get(name)
      const subpath = slash < 0 ? '' : path.slice(slash)
      if (registeredAgent !== undefined && registeredAgent.path !== '') return routeBelow(registeredAgent, subpath)
      // If agents have names, any valid name is treated as one, so that the response does not reveal whether a hidden agent exists.
      const absentPlaceholder = defaultAgent.path === '' || tenants.includes(name) ? undefined : absentAgent(name)
      return absentPlaceholder === undefined
        ? routeBelow(defaultAgent, path.slice(4))
        : routeBelow(absentPlaceholder, subpath)
    }
  }
  if (path === '/api/a2a') return { registeredAgent: defaultAgent, endpoint: 'jsonrpc', subpath: '' }
  // The card at the root does not list this address, so it is also served below it.
  if (path.startsWith('/api/a2a/') && endpointOf(path.slice(8)).startsWith('card'))
    return routeBelow(defaultAgent, path.slice(8))
  return routeBelow(defaultAgent, path)
}

function routeBelow(registeredAgent: RegisteredAgent, subpath: string): ResolvedRoute {
  return { registeredAgent, endpoint: endpointOf(subpath), subpath }
}

function endpointOf(subpath: string): Endpoint {
  switch (subpath) {
    case '':
    case '/':
      return 'jsonrpc'
    case '/.well-known/agent-card.json':
    case '/.well-known/agent':
    case '/agent-card':
      return 'card'
    case '/.well-known/agent.json':
      return 'card-0.2'
    case '/agent/authenticatedExtendedCard':
      return 'extended-card-0.2'
    default:
      return 'rest'
  }
}
