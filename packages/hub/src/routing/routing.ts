/** The routes of a hub at run time: which agents have routes, where each message goes, and dry runs. */
import type { Agent, Caller, Message, Struct, Turn } from '@parley/a2a'
import type { InProcessClient } from '../agents/kind.ts'
import type { Route } from '../config/sections/routes.ts'
import type { HealthMonitor } from '../health/health-monitor.ts'
import { decideRoute, type RouteDecision, type AgentAvailability, messageFacts } from './decide-route.ts'
import { agentUnavailableError } from '../registry/agent-supervisor.ts'
import { createRoutedAgent } from './routed-agent.ts'

export interface RoutingDeps {
  /** The current routes. */
  routes(): readonly Route[]
  readonly health: Pick<HealthMonitor, 'get' | 'tryAcquire' | 'canAcquire'>
  canUse(caller: Caller, agent: string): boolean
  isInChain(turn: Turn, agent: string): boolean
  inProcessClient(name: string): InProcessClient
  isOpen(agent: string): boolean
  readonly random?: () => number
}

/** A hypothetical message. */
export interface DryRunMessage {
  readonly message: Pick<Message, 'parts' | 'metadata'>
  readonly caller: Caller
  /** The metadata of the request. */
  readonly metadata?: Struct
}

export interface Routing {
  /** Whether messages for the agent may be delegated, also while it is not open itself. */
  hasRoutes(agent: string): boolean
  wrapAgent(name: string, agent: Agent): Agent
  /** Which route a message would take, and why. Nothing is sent. */
  dryRun(agent: string, supposed: DryRunMessage): RouteDecision
}

export function createRouting({
  routes,
  health,
  canUse,
  isInChain,
  inProcessClient,
  isOpen,
  random = Math.random,
}: RoutingDeps): Routing {
  function decideFor(agent: string, { message, caller, metadata = {} }: DryRunMessage, turn?: Turn): RouteDecision {
    const facts = messageFacts(message, { callerId: caller.id, metadata })
    const availability = (candidate: string): AgentAvailability => {
      if (candidate !== agent && !canUse(caller, candidate))
        return { state: 'over', why: 'the caller has no permission' }
      if (turn !== undefined && isInChain(turn, candidate)) return { state: 'over', why: 'already part of this chain' }
      const { state, why } = health.get(candidate)
      if (state !== 'down' && !health.canAcquire(candidate)) return { state: 'down', why: 'tested by another task' }
      return { state, ...(why !== undefined ? { why } : {}) }
    }
    return decideRoute({ agent, routes: routes(), facts, availability, random })
  }

  return {
    hasRoutes: (agent) => routes().some(({ from }) => from.includes(agent)),
    wrapAgent: (name, agent) =>
      createRoutedAgent(agent, {
        name,
        inProcessClient: inProcessClient(name),
        decideRoute: (turn) => decideFor(name, turn, turn),
        tryAcquire: health.tryAcquire,
        requireOpen() {
          if (!isOpen(name)) throw agentUnavailableError()
        },
      }),
    dryRun: (agent, supposed) => decideFor(agent, supposed),
  }
}
