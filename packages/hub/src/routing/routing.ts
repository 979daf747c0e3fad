/** The routes of a hub at work: which agents have some, what each message comes to, and what one would come to. */
import type { Agent, Caller, Message, Struct, Turn } from '@parley/a2a'
import type { House } from '../agents/kind.ts'
import type { Route } from '../config/routes.ts'
import type { Health } from '../health/health.ts'
import { decide } from './decide.ts'
import type { Decision, Standing } from './decide.ts'
import { factsOf } from './match.ts'
import { unavailable } from '../stand-in.ts'
import { routedAgent } from './routed-agent.ts'

export interface RoutingParts {
  /** As they are now. */
  routes(): readonly Route[]
  readonly health: Pick<Health, 'of' | 'take' | 'wouldTake'>
  mayUse(caller: Caller, agent: string): boolean
  isOnTheWay(turn: Turn, agent: string): boolean
  house(name: string): House
  isOpen(agent: string): boolean
  readonly random?: () => number
}

/** A message that nobody has sent. */
export interface Supposed {
  readonly message: Pick<Message, 'parts' | 'metadata'>
  readonly caller: Caller
  /** Of the request. */
  readonly metadata?: Struct
}

export interface Routing {
  /** Whether messages for the agent may go elsewhere, also while it is not there itself. */
  has(agent: string): boolean
  route(name: string, agent: Agent): Agent
  /** Which route a message would take, and why. Nothing is sent. */
  suppose(agent: string, supposed: Supposed): Decision
}

export function createRouting({
  routes,
  health,
  mayUse,
  isOnTheWay,
  house,
  isOpen,
  random = Math.random,
}: RoutingParts): Routing {
  function decideFor(agent: string, { message, caller, metadata = {} }: Supposed, turn?: Turn): Decision {
    const facts = factsOf(message, { callerId: caller.id, metadata })
    const standing = (candidate: string): Standing => {
      if (candidate !== agent && !mayUse(caller, candidate)) return { state: 'over', why: 'not for this caller' }
      if (turn !== undefined && isOnTheWay(turn, candidate)) return { state: 'over', why: 'at work on this already' }
      const { state, why } = health.of(candidate)
      if (state !== 'down' && !health.wouldTake(candidate)) return { state: 'down', why: 'being tried by another task' }
      return { state, ...(why !== undefined ? { why } : {}) }
    }
    return decide({ agent, routes: routes(), facts, standing, random })
  }

  return {
    has: (agent) => routes().some(({ from }) => from.includes(agent)),
    route: (name, agent) =>
      routedAgent(agent, {
        name,
        house: house(name),
        decide: (turn) => decideFor(name, turn, turn),
        take: health.take,
        requireOpen() {
          if (!isOpen(name)) throw unavailable()
        },
      }),
    suppose: (agent, supposed) => decideFor(agent, supposed),
  }
}
