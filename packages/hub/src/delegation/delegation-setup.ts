/** Assembles delegation for the agents of a hub: rules, availability and in-process calls. */
import type { Agent, AgentLog, Caller, CheckMessage } from '@parley/a2a'
import type { KeyValueStore } from '@parley/a2a/stores'
import { systemClock } from '@parley/a2a/internal'
import type { Handler } from '@parley/a2a/server'
import type { InProcessClient } from '../agents/kind.ts'
import type { AccessControl } from '../auth/access-control.ts'
import { permissionsOf } from '../auth/scopes.ts'
import type { HubConfig } from '../config/hub-config.ts'
import { type Delegation, type DelegationDeps, type DelegationSettings, createDelegation } from './delegation.ts'
import { hopPurpose } from './hop-token.ts'
import { createHealthMonitor, type HealthMonitor, observeAgent } from '../health/health-monitor.ts'
import { createInProcessClient } from './in-process-client.ts'
import type { AgentRegistry } from '../registry/agent-registry.ts'
import { agentUnavailableError } from '../registry/agent-supervisor.ts'
import { createRouting, type Routing } from '../routing/routing.ts'
import { openHubIdentity } from './hub-identity.ts'

export interface DelegationSetupDeps {
  readonly kv: KeyValueStore
  /** The current configuration. */
  config(): HubConfig
  readonly access: Pick<AccessControl, 'canUse' | 'admitInProcess'>
  /** Set once it exists. */
  registry(): AgentRegistry | undefined
  /** Resolves once the hub has started. */
  readonly handler: Promise<Handler>
  /** The URL of the hub. */
  url(): string | undefined
  /** Called when the health of an agent changed. */
  agentChanged(name: string): void
  readonly log: AgentLog
}

export interface DelegationSetup {
  readonly delegation: Delegation
  readonly health: HealthMonitor
  readonly routing: Routing
  /** The client through which this agent calls the others. */
  inProcessClient(name: string): InProcessClient
  /** Throws if the agent itself would get a message that opens a task, and cannot answer it. */
  checkMessage(name: string, ...checked: Parameters<CheckMessage>): void
  /** Wraps the agent to observe its health. */
  observe(name: string, agent: Agent): Agent
  /** Applies the current configuration. */
  configure(): void
  close(): Promise<void>
}

export async function setUpDelegation(parts: DelegationSetupDeps): Promise<DelegationSetup> {
  const { config, access, registry, log } = parts
  const isOpen = (agent: string): boolean => registry()?.open(agent) !== undefined
  const names = (): readonly string[] => registry()?.names() ?? []
  const delegation = await openDelegation(config(), parts.kv, {
    keys: async () => (await parts.handler).signingKeys(hopPurpose),
    canUse: access.canUse,
    fetch: globalThis.fetch,
    log,
    now: systemClock.now,
  })
  const health = createHealthMonitor({
    settings: () => config().health,
    names,
    isOpen,
    probe(agent) {
      const open = registry()?.open(agent)
      return open?.health === undefined ? undefined : async (signal) => open.health?.(signal)
    },
    instance: (agent) => registry()?.open(agent),
    onChange: parts.agentChanged,
    log,
    ...systemClock,
  })
  const clientDeps = {
    handlerCall: async () => (await parts.handler).call,
    names,
    delegation,
    settings: (agent: string) => registry()?.status(agent)?.settings,
    requireOpen: (agent: string) => registry()?.requireOpen(agent),
    permissionFor: (caller: Caller, agent: string) => agentPermission(access, caller, agent),
    countCall: access.admitInProcess,
    url: (agent: string) => `${parts.url()}/a2a/${agent}`,
    idempotencyWindowMs: () => config().idempotency.window,
    now: systemClock.now,
  }
  const inProcessClient = (name: string): InProcessClient => createInProcessClient(clientDeps, name)
  const routing = createRouting({
    routes: () => config().routes,
    health,
    canUse: access.canUse,
    isInChain: delegation.isInChain,
    inProcessClient,
    isOpen,
  })
  return {
    delegation,
    health,
    routing,
    inProcessClient,
    checkMessage(name, message, about) {
      if (routing.hasRoutes(name) && routing.dryRun(name, { message, ...about }).route !== undefined) return
      if (health.get(name).breaker === 'open') throw agentUnavailableError()
      registry()?.open(name)?.checkMessage?.(message)
    },
    observe: (name, agent) => observeAgent(agent, health.observer(name), systemClock),
    configure: () => delegation.configure(delegationSettings(config())),
    close: async () => health.close(),
  }
}

/** The permissions of a caller on the agent. */
export function agentPermission({ canUse }: Pick<AccessControl, 'canUse'>, caller: Caller, agent: string) {
  if (!canUse(caller, agent)) return undefined
  const grants = permissionsOf(caller.scopes)
  const skills = grants.canUse(agent) ? grants.skillsOf(agent) : undefined
  return skills === undefined ? {} : { skills }
}

async function openDelegation(
  config: HubConfig,
  kv: KeyValueStore,
  parts: Omit<DelegationDeps, 'settings' | 'identity' | 'kv'>,
): Promise<Delegation> {
  return createDelegation({
    ...parts,
    settings: delegationSettings(config),
    identity: await openHubIdentity(kv),
    kv,
  })
}

function delegationSettings({
  delegation,
  publicUrl,
}: Pick<HubConfig, 'delegation' | 'publicUrl'>): DelegationSettings {
  const { issuer = publicUrl, maxDepth, budget, trust } = delegation
  return { issuer, maxDepth, tasks: budget.tasks, trust }
}
