/** How the agents of a hub hand work on, put together: where it may go, who can take it, and how it gets there. */
import type { Agent, AgentLog, Caller, Notes } from '@parley/a2a'
import { systemClock } from '@parley/a2a/server'
import type { Handler } from '@parley/a2a/server'
import type { House } from './agents/kind.ts'
import type { Access } from './auth/access.ts'
import { grantsOf } from './auth/scopes.ts'
import type { HubConfig } from './config/config.ts'
import type { Delegation } from './delegation/delegation.ts'
import { hopPurpose } from './delegation/hop-token.ts'
import { delegationSettings, openDelegation } from './delegation/open-delegation.ts'
import { createHealth } from './health/health.ts'
import type { Health } from './health/health.ts'
import { observed } from './health/observe.ts'
import { createHouseCalls } from './house-calls.ts'
import type { Registry } from './registry.ts'
import { createRouting } from './routing/routing.ts'
import type { Routing } from './routing/routing.ts'

export interface HandingOnParts {
  readonly notes: Notes
  /** As it is now. */
  config(): HubConfig
  readonly access: Pick<Access, 'mayUse' | 'admitWithin'>
  /** Once there is one. */
  registry(): Registry | undefined
  /** Once the hub has started. */
  readonly handler: Promise<Handler>
  /** Where the hub is reached. */
  url(): string | undefined
  readonly log: AgentLog
}

export interface HandingOn {
  readonly delegation: Delegation
  readonly health: Health
  readonly routing: Routing
  /** The other agents, as the one of that name sees them. */
  house(name: string): House
  /** The agent, with an eye on how it does. */
  observed(name: string, agent: Agent): Agent
  /** What the configuration says now holds from now on. */
  configure(): void
  close(): Promise<void>
}

export async function openHandingOn(parts: HandingOnParts): Promise<HandingOn> {
  const { config, access, registry, log } = parts
  const isOpen = (agent: string): boolean => registry()?.open(agent) !== undefined
  const names = (): readonly string[] => registry()?.names() ?? []
  const delegation = await openDelegation(config(), parts.notes, {
    keys: async () => (await parts.handler).keys(hopPurpose),
    mayUse: access.mayUse,
    fetch: globalThis.fetch,
    log,
    now: systemClock.now,
  })
  const health = createHealth({
    settings: () => config().health,
    names,
    isOpen,
    probe(agent) {
      const open = registry()?.open(agent)
      return open?.health === undefined ? undefined : async (signal) => open.health?.(signal)
    },
    log,
    ...systemClock,
  })
  const houseParts = {
    engine: async () => (await parts.handler).engine,
    names,
    delegation,
    settings: (agent: string) => registry()?.status(agent)?.settings,
    requireOpen: (agent: string) => registry()?.requireOpen(agent),
    admitted: (caller: Caller, agent: string) => admitted(access, caller, agent),
    takeCall: access.admitWithin,
    url: (agent: string) => `${parts.url()}/a2a/${agent}`,
    idempotencyWindowMs: () => config().idempotency.window,
    now: systemClock.now,
  }
  const house = (name: string): House => createHouseCalls(houseParts, name)
  const routing = createRouting({
    routes: () => config().routes,
    health,
    mayUse: access.mayUse,
    isOnTheWay: delegation.isOnTheWay,
    house,
    isOpen,
  })
  return {
    delegation,
    health,
    routing,
    house,
    observed: (name, agent) => observed(agent, health.observer(name), systemClock.monotonicNow),
    configure: () => delegation.configure(delegationSettings(config())),
    close: async () => health.close(),
  }
}

/** With what the caller may use of that agent. */
export function admitted({ mayUse }: Pick<Access, 'mayUse'>, caller: Caller, agent: string) {
  if (!mayUse(caller, agent)) return undefined
  const grants = grantsOf(caller.scopes)
  const skills = grants.mayUse(agent) ? grants.skillsOf(agent) : undefined
  return skills === undefined ? {} : { skills }
}
