/**
 * The agents of the hub by name: opened from their entries, registered with the server, and changed with the configuration while
 * the server runs. A turn ends with the agent it began with, and an agent is closed when its last turn has ended. An agent that
 * cannot be opened does not prevent the others from starting.
 */
import { statSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import type { Agent, AgentLog, CheckMessage } from '@parley/a2a'
import { omitUndefined, type HandlerAgents, resultWithin } from '@parley/a2a/internal'
import type { AgentSettings, Extension } from '@parley/a2a/server'
import { buildAgentSettings } from './agent-settings.ts'
import { closeWithWhole } from '../agents/close-with-whole.ts'
import type { AgentKind, AgentServices, OpenAgent } from '../agents/kind.ts'
import type { CardConfig } from '../config/sections/card.ts'
import { listsSharedGrpc } from '../config/sections/listen.ts'
import type { AgentConfig, HubConfig } from '../config/hub-config.ts'
import { fillHubReferences, hubReferencesIn, missingSecretText } from '../config/secrets/hub-references.ts'
import { superviseAgent, createUnavailableAgent, agentUnavailableError } from './agent-supervisor.ts'
import type { AgentSupervisor, AgentSupervisorTimes, StartError } from './agent-supervisor.ts'
import type { RetryState } from './retry-schedule.ts'

/** The configuration of all agents. */
export type AgentsConfig = Pick<
  HubConfig,
  'agents' | 'skillBundles' | 'card' | 'default' | 'listen' | 'grpcUrl' | 'baseDir'
>

export interface AgentStatus {
  readonly name: string
  readonly kind: string
  readonly state: 'open' | 'unavailable'
  /** Why the agent is not open. Not for callers. */
  readonly startError?: StartError
  /** When it is tried again. */
  readonly retry?: RetryState
  readonly settings: AgentSettings
}

export interface AgentChanges {
  readonly added: readonly string[]
  readonly changed: readonly string[]
  readonly removed: readonly string[]
}

export interface AgentRegistry {
  /** Opens new agents, updates the server and closes removed agents. Resolves when new calls reach the new agents. */
  apply(agentsConfig: AgentsConfig): Promise<AgentChanges>
  /** For the start of the server, after the first `apply`. */
  settings(): Readonly<Record<string, AgentSettings>>
  /** The default agent, or `false`. */
  defaultName(): string | false
  /** From now on the server receives every change. */
  attachServer(server: HandlerAgents): void
  names(): readonly string[]
  has(name: string): boolean
  status(name: string): AgentStatus | undefined
  /** The agent, if it is open. */
  open(name: string): OpenAgent | undefined
  /** Throws AGENT_UNAVAILABLE for an agent that is registered but not open, unless routes provide alternatives. */
  requireOpen(name: string): void
  /** Fetches the live card of an agent again. */
  refreshCard(name: string): Promise<void>
  /** Tries to open an agent now. Resolves when the attempt has ended; at once if it is open. */
  retryNow(name: string): Promise<void>
  /** Stops retrying an agent that is not open, until `retryNow` or until its configuration changes. */
  stopRetrying(name: string): void
  /** The source files of agents. */
  files(): readonly string[]
  close(): Promise<void>
}

export interface AgentRegistryDeps {
  readonly kinds: readonly AgentKind[]
  readonly log: AgentLog
  agentServices(name: string, config: AgentConfig, kind: AgentKind, baseDir: string): AgentServices
  /** Wraps the agent in its limits. */
  limit(agent: Agent, config: AgentConfig, name: string): Agent
  /** Whether an agent has routes, and the wrapper that delegates its messages by them. */
  readonly routing?: { hasRoutes(name: string): boolean; wrapAgent(name: string, agent: Agent): Agent }
  /** Refuses a message that the agent would have to answer and cannot (`OpenAgent.checkMessage`). */
  checkMessage?(name: string, ...checked: Parameters<CheckMessage>): void
  /** The security fields of the card. */
  security(name: string): Pick<AgentSettings, 'securitySchemes' | 'securityRequirements'>
  /** Protocol extensions that the hub itself adds to the agent. */
  extensions?(name: string): readonly Extension[]
  /** Called when an agent was added, removed or changed. */
  onChange?(name: string): void
  /** The values of references `${hub:<name>}` in entries. Default: none. */
  secrets?(): ReadonlyMap<string, string> | undefined
  readonly times?: Partial<AgentSupervisorTimes & { readonly agentWaitMs: number }> | undefined
}

/** One agent name: its configuration and what currently runs. */
interface RegistryEntry {
  readonly name: string
  readonly config: AgentConfig
  readonly bundles: AgentsConfig['skillBundles']
  readonly cards: CardConfig
  readonly listsGrpc: boolean
  readonly baseDir: string
  /** All inputs for opening the agent. It is reopened only if this changes. */
  readonly fingerprint: string
  readonly supervisor: AgentSupervisor
  /** The agent behind its limits, cached: a new card must not discard the queue. */
  readonly limited: { of?: Agent; agent?: Agent; limits?: AgentConfig['limits'] }
  /** The agent behind its routes, cached likewise. */
  readonly routed: { of?: Agent; agent?: Agent }
  readonly checkMessage: CheckMessage
  /** The settings last sent to the server. */
  readonly published: { settings?: AgentSettings }
  /** Resolve when turns that may still need the agent have ended. */
  readonly pendingTurns: Set<Promise<void>>
}

/** How long the server start waits for live cards. */
const initialRefreshMs = 3_000
/** How long an interrupted turn waits for its agent. */
const defaultAgentWaitMs = 120_000

export function createAgentRegistry({
  kinds,
  log,
  agentServices,
  limit,
  security,
  times,
  ...rest
}: AgentRegistryDeps): AgentRegistry {
  const { routing } = rest
  const registered = new Map<string, RegistryEntry>()
  const openWaiters = new Map<string, PromiseWithResolvers<Agent>>()
  const closing = new Set<Promise<void>>()
  let server: HandlerAgents | undefined
  let isStarted = false
  let hasDefault = true

  function settingsFor(entry: RegistryEntry): AgentSettings {
    const { name, config, cards, listsGrpc, bundles, supervisor } = entry
    const { open, liveCard } = supervisor
    return buildAgentSettings({
      name,
      config,
      cards,
      listsGrpc,
      bundles,
      agent: agentOf(entry),
      checkMessage: open?.checkMessage === undefined ? undefined : entry.checkMessage,
      open,
      liveCard,
      isAvailable: open !== undefined,
      turnTimeoutMs: config.timeout ?? kindOf(config).turnTimeoutMs,
      openAfterMs: open?.openAfterMs ?? kindOf(config).openAfterMs,
      hasRemoteCard: kindOf(config).hasRemoteCard,
      security: security(name),
      extensions: rest.extensions?.(name) ?? [],
    })
  }

  function agentOf(entry: RegistryEntry): Agent {
    const agent = routedOf(entry)
    return entry.config.closeWithWhole === true ? closeWithWhole(agent) : agent
  }

  function routedOf(entry: RegistryEntry): Agent {
    const { name, routed } = entry
    const agent = limitedOf(entry)
    if (routing?.hasRoutes(name) !== true) return agent
    if (routed.of !== agent) Object.assign(routed, { of: agent, agent: routing.wrapAgent(name, agent) })
    return routed.agent as Agent
  }

  function limitedOf({ name, config, limited, supervisor }: RegistryEntry): Agent {
    const agent = supervisor.open?.agent
    if (limited.agent === undefined || limited.of !== agent || !isDeepStrictEqual(limited.limits, config.limits)) {
      const made =
        agent === undefined
          ? createUnavailableAgent(() => whenOpen(name), times?.agentWaitMs ?? defaultAgentWaitMs)
          : limit(agent, config, name)
      Object.assign(limited, { of: agent, agent: made, limits: config.limits })
    }
    return limited.agent as Agent
  }

  /** Returns the first agent that opens under the name: the one being retried, or its replacement from a new configuration. */
  async function whenOpen(name: string): Promise<Agent> {
    const entry = registered.get(name)
    if (entry?.supervisor.open !== undefined) return limitedOf(entry)
    const waiter = openWaiters.get(name) ?? Promise.withResolvers<Agent>()
    openWaiters.set(name, waiter)
    return waiter.promise
  }

  function resolveWaiters(entry: RegistryEntry): void {
    if (entry.supervisor.open === undefined) return
    openWaiters.get(entry.name)?.resolve(limitedOf(entry))
    openWaiters.delete(entry.name)
  }

  /** Updates the server if the settings changed. The promise resolves when turns begun with the previous settings have ended. */
  function publish(entry: RegistryEntry): Promise<void> {
    const settings = settingsFor(entry)
    if (server === undefined || isDeepStrictEqual(entry.published.settings, settings)) return Promise.resolve()
    entry.published.settings = settings
    rest.onChange?.(entry.name)
    const ended: Promise<void> = server.set(entry.name, settings).finally(() => entry.pendingTurns.delete(ended))
    entry.pendingTurns.add(ended)
    return ended
  }

  function changed(name: string, supervisor: AgentSupervisor): void {
    const entry = registered.get(name)
    if (entry?.supervisor !== supervisor) return
    void publish(entry)
    resolveWaiters(entry)
  }

  function createEntry(name: string, config: AgentConfig, agentsConfig: AgentsConfig): RegistryEntry {
    const { baseDir } = agentsConfig
    const own = filledEntry(config)
    const supervisor: AgentSupervisor = superviseAgent({
      kind: withSecretsCheck(kindOf(config), own),
      entry: own,
      services: agentServices(name, config, kindOf(config), baseDir),
      log,
      onChange: () => changed(name, supervisor),
      onFailure: () => registered.get(name)?.supervisor === supervisor && rest.onChange?.(name),
      times,
    })
    const made = fingerprintOf(config, baseDir)
    return {
      name,
      config,
      ...sharedSettings(agentsConfig),
      baseDir,
      fingerprint: made,
      supervisor,
      limited: {},
      routed: {},
      checkMessage: (...checked) => rest.checkMessage?.(name, ...checked),
      published: {},
      pendingTurns: new Set(),
    }
  }

  function kindOf(config: AgentConfig): AgentKind {
    const kind = kinds.find((one) => one.kind === config.kind)
    if (kind === undefined) throw new Error(`unknown kind ${config.kind}`)
    return kind
  }

  function filledEntry({ own }: AgentConfig): unknown {
    return fillHubReferences(own, rest.secrets?.() ?? new Map<string, string>())
  }

  function fingerprintOf(config: AgentConfig, baseDir: string): string {
    const stats = filesOf(config, baseDir).map((file) => statSync(file, { throwIfNoEntry: false }))
    // All inputs for opening an agent.
    const { kind, persona, timeout } = config
    return JSON.stringify([
      kind,
      filledEntry(config),
      persona,
      timeout,
      baseDir,
      stats.map((one) => [one?.mtimeMs, one?.size]),
    ])
  }

  function filesOf(config: AgentConfig, baseDir: string): readonly string[] {
    return kindOf(config).files?.(config.own, baseDir) ?? []
  }

  /** Takes the agent out of use, and closes it when the turns that need it have ended. */
  function closeWhenIdle(entry: RegistryEntry, serverDone?: Promise<void>): void {
    const closed: Promise<void> = Promise.all([serverDone, ...entry.pendingTurns])
      .then(() => entry.supervisor.close())
      .catch((cause: unknown) => log.warn('an agent could not be closed', { agent: entry.name, cause }))
      .finally(() => closing.delete(closed))
    closing.add(closed)
  }

  async function apply(agentsConfig: AgentsConfig): Promise<AgentChanges> {
    const entries = Object.entries(agentsConfig.agents)
    const next = entries.map(([name, config]) => {
      const before = registered.get(name)
      const isSame = before?.fingerprint === fingerprintOf(config, agentsConfig.baseDir)
      const entry = isSame
        ? { ...before, config, ...sharedSettings(agentsConfig) }
        : createEntry(name, config, agentsConfig)
      return { place: entry, before }
    })
    await Promise.all(next.map(({ place: entry }) => entry.supervisor.firstAttempt))
    hasDefault = agentsConfig.default !== 'none'
    const removed = [...registered.values()].filter(({ name }) => !Object.hasOwn(agentsConfig.agents, name))
    registered.clear()
    for (const { place: entry, before } of next) replaceEntry(entry, before)
    if (next.length > 0) server?.makeDefault(defaultName())
    for (const entry of removed) {
      closeWhenIdle(entry, server?.remove(entry.name))
      rest.onChange?.(entry.name)
    }
    return {
      added: next.filter(({ before }) => before === undefined).map(({ place: entry }) => entry.name),
      changed: next
        .filter(({ place: entry, before }) => isChanged(entry, before))
        .map(({ place: entry }) => entry.name),
      removed: removed.map(({ name }) => name),
    }
  }

  function replaceEntry(entry: RegistryEntry, before: RegistryEntry | undefined): void {
    registered.set(entry.name, entry)
    const ended = publish(entry)
    resolveWaiters(entry)
    if (before !== undefined && before.supervisor !== entry.supervisor) closeWhenIdle(before, ended)
  }

  function defaultName(): string | false {
    if (!hasDefault) return false
    const all = [...registered.values()]
    return (all.find(({ config }) => config.default) ?? all[0])?.name ?? ''
  }

  return {
    async apply(agentsConfig) {
      const changes = await apply(agentsConfig)
      if (!isStarted) await resultWithin(refreshAllCards(), initialRefreshMs)
      isStarted = true
      return changes
    },
    settings: () =>
      Object.fromEntries(
        [...registered].map(([name, entry]) => [name, (entry.published.settings = settingsFor(entry))] as const),
      ),
    defaultName,
    attachServer(handler) {
      server = handler
      // An agent may have opened since the server was created.
      for (const entry of registered.values()) void publish(entry)
    },
    names: () => [...registered.keys()],
    has: (name) => registered.has(name),
    status(name) {
      const entry = registered.get(name)
      if (entry === undefined) return undefined
      const { open, startError, retry } = entry.supervisor
      return {
        name,
        kind: entry.config.kind,
        state: open === undefined ? 'unavailable' : 'open',
        ...omitUndefined({ startError, retry }),
        settings: settingsFor(entry),
      }
    },
    open: (name) => registered.get(name)?.supervisor.open,
    requireOpen(name) {
      const entry = registered.get(name)
      if (entry !== undefined && entry.supervisor.open === undefined && routing?.hasRoutes(name) !== true)
        throw agentUnavailableError()
    },
    refreshCard: async (name) => registered.get(name)?.supervisor.refreshCard(),
    retryNow: async (name) => registered.get(name)?.supervisor.retryNow(),
    stopRetrying: (name) => registered.get(name)?.supervisor.stopRetrying(),
    files: () => [...registered.values()].flatMap(({ config, baseDir }) => filesOf(config, baseDir)),
    async close() {
      server = undefined
      for (const entry of registered.values()) closeWhenIdle(entry)
      registered.clear()
      await Promise.all(closing)
    },
  }

  async function refreshAllCards(): Promise<void> {
    await Promise.all([...registered.values()].map(({ supervisor }) => supervisor.refreshCard()))
  }
}

/** Only the agent that needs a missing secret is unavailable. It opens when the secret is set: its fingerprint changes then. */
function withSecretsCheck(kind: AgentKind, entry: unknown): AgentKind {
  const [missing] = hubReferencesIn(entry)
  if (missing === undefined) return kind
  return { ...kind, open: () => Promise.reject(new Error(missingSecretText(missing))) }
}

/** What the cards of all agents share. */
function sharedSettings(config: AgentsConfig): Pick<RegistryEntry, 'bundles' | 'cards' | 'listsGrpc'> {
  return { bundles: config.skillBundles, cards: config.card, listsGrpc: listsSharedGrpc(config) }
}

function isChanged(entry: RegistryEntry, before: RegistryEntry | undefined): boolean {
  if (before === undefined) return false
  return (
    before.supervisor !== entry.supervisor ||
    !isDeepStrictEqual([before.config, before.bundles], [entry.config, entry.bundles])
  )
}
