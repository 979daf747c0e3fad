/**
 * The agents of the hub by name: opened as their entries say, told to the server, and changed with the configuration while
 * the server runs. A turn ends with the agent it began with, and an agent is closed when its last turn has ended. One that
 * cannot be opened does not keep the others from starting.
 */
import { statSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import type { Agent, AgentLog, AgentSkill } from '@parley/a2a'
import type { AgentSettings, Extension, HandlerAgents } from '@parley/a2a/server'
import { settingsOf } from './agent-settings.ts'
import type { AgentKind, KindParts, OpenAgent } from './agents/kind.ts'
import type { CardConfig } from './config/card.ts'
import type { AgentConfig } from './config/config.ts'
import { keepAgent } from './keeper.ts'
import type { Keeper, KeeperTimes, StartError } from './keeper.ts'
import { standIn, unavailable } from './stand-in.ts'

/** What the configuration says of agents. */
export interface Wanted {
  readonly agents: Readonly<Record<string, AgentConfig>>
  readonly skillBundles: Readonly<Record<string, readonly AgentSkill[]>>
  readonly card: CardConfig
  /** `none`: no agent answers where none is named. */
  readonly default?: 'none' | undefined
  readonly baseDir: string
}

export interface AgentStatus {
  readonly name: string
  readonly kind: string
  readonly state: 'open' | 'unavailable'
  /** Why it is not open. Not for callers. */
  readonly startError?: StartError
  readonly settings: AgentSettings
}

export interface Changes {
  readonly added: readonly string[]
  readonly changed: readonly string[]
  readonly removed: readonly string[]
}

export interface Registry {
  /** Opens what is new, tells the server of it, lets go of what went. Resolves when new calls reach what is wanted. */
  apply(wanted: Wanted): Promise<Changes>
  /** For the server's start, after the first `apply`. */
  settings(): Readonly<Record<string, AgentSettings>>
  /** The one that answers where none is named, if there is one. */
  defaultName(): string | false
  /** From now on the server is told of every change. */
  attach(server: HandlerAgents): void
  names(): readonly string[]
  status(name: string): AgentStatus | undefined
  /** If it is open. */
  open(name: string): OpenAgent | undefined
  /** Throws AGENT_UNAVAILABLE for an agent that is there and not open, unless others may stand in for it. */
  requireOpen(name: string): void
  /** Looks anew at what one says of itself. */
  look(name: string): Promise<void>
  /** Files that agents are made of. */
  files(): readonly string[]
  close(): Promise<void>
}

export interface RegistryParts {
  readonly kinds: readonly AgentKind[]
  readonly log: AgentLog
  kindParts(name: string, config: AgentConfig, kind: AgentKind, baseDir: string): KindParts
  /** Puts the agent behind its limits. */
  limit(agent: Agent, config: AgentConfig, name: string): Agent
  /** Whether messages for the agent may be for others, and the agent that then hands them on. */
  readonly routing?: { has(name: string): boolean; route(name: string, agent: Agent): Agent }
  /** What the card says of who may call it. */
  security(name: string): Pick<AgentSettings, 'securitySchemes' | 'securityRequirements'>
  /** Protocol extensions that the hub itself brings to the agent. */
  extensions?(name: string): readonly Extension[]
  /** An agent came, went, or is otherwise than it was. */
  changed?(name: string): void
  readonly times?: Partial<KeeperTimes & { readonly patienceMs: number }> | undefined
}

/** One name: what is wanted behind it, and what is there. */
interface Place {
  readonly name: string
  readonly config: AgentConfig
  readonly bundles: Wanted['skillBundles']
  readonly cards: CardConfig
  readonly baseDir: string
  /** What it is made of: it is opened anew when this changes, and only then. */
  readonly made: string
  readonly keeper: Keeper
  /** The agent behind its limits, kept with it: a queue must not be forgotten with a new card. */
  readonly limited: { of?: Agent; agent?: Agent; limits?: AgentConfig['limits'] }
  /** The same before the routes. */
  readonly routed: { of?: Agent; agent?: Agent }
  /** What the server was last told. */
  readonly told: { settings?: AgentSettings }
  /** Resolve when turns have ended that may still need the agent. */
  readonly needed: Set<Promise<void>>
}

/** The server should not wait longer than this for what agents say of themselves before it begins. */
const firstLookMs = 3_000
/** How long a turn that was interrupted waits for its agent. */
const usualPatienceMs = 120_000

export function createRegistry({ kinds, log, kindParts, limit, security, times, ...rest }: RegistryParts): Registry {
  const { routing } = rest
  const places = new Map<string, Place>()
  const arrivals = new Map<string, PromiseWithResolvers<Agent>>()
  const closing = new Set<Promise<void>>()
  let server: HandlerAgents | undefined
  let isBegun = false
  let hasDefault = true

  function settingsFor(place: Place): AgentSettings {
    const { name, config, cards, bundles, keeper } = place
    const { open, looked } = keeper
    return settingsOf({
      name,
      config,
      cards,
      bundles,
      agent: agentOf(place),
      open,
      looked,
      isAvailable: open !== undefined,
      turnTimeoutMs: config.timeout ?? kindOf(config).turnTimeoutMs,
      openAfterMs: kindOf(config).openAfterMs,
      security: security(name),
      extensions: rest.extensions?.(name) ?? [],
    })
  }

  function agentOf(place: Place): Agent {
    const { name, routed } = place
    const agent = limitedOf(place)
    if (routing?.has(name) !== true) return agent
    if (routed.of !== agent) Object.assign(routed, { of: agent, agent: routing.route(name, agent) })
    return routed.agent as Agent
  }

  function limitedOf({ name, config, limited, keeper }: Place): Agent {
    const agent = keeper.open?.agent
    if (limited.agent === undefined || limited.of !== agent || !isDeepStrictEqual(limited.limits, config.limits)) {
      const made =
        agent === undefined
          ? standIn(() => whenOpen(name), times?.patienceMs ?? usualPatienceMs)
          : limit(agent, config, name)
      Object.assign(limited, { of: agent, agent: made, limits: config.limits })
    }
    return limited.agent as Agent
  }

  /** Whichever comes first by that name: the one that is being tried, or one that the configuration puts in its place. */
  async function whenOpen(name: string): Promise<Agent> {
    const place = places.get(name)
    if (place?.keeper.open !== undefined) return limitedOf(place)
    const awaited = arrivals.get(name) ?? Promise.withResolvers<Agent>()
    arrivals.set(name, awaited)
    return awaited.promise
  }

  function welcome(place: Place): void {
    if (place.keeper.open === undefined) return
    arrivals.get(place.name)?.resolve(limitedOf(place))
    arrivals.delete(place.name)
  }

  /** If there is something to tell. The promise is of the turns that began with what was there before. */
  function tell(place: Place): Promise<void> {
    const settings = settingsFor(place)
    if (server === undefined || isDeepStrictEqual(place.told.settings, settings)) return Promise.resolve()
    place.told.settings = settings
    rest.changed?.(place.name)
    const ended: Promise<void> = server.set(place.name, settings).finally(() => place.needed.delete(ended))
    place.needed.add(ended)
    return ended
  }

  function changed(name: string, keeper: Keeper): void {
    const place = places.get(name)
    if (place?.keeper !== keeper) return
    void tell(place)
    welcome(place)
  }

  function begin(name: string, config: AgentConfig, { baseDir, skillBundles, card }: Wanted): Place {
    const keeper: Keeper = keepAgent({
      kind: kindOf(config),
      entry: config.own,
      parts: kindParts(name, config, kindOf(config), baseDir),
      log,
      changed: () => changed(name, keeper),
      failed: () => places.get(name)?.keeper === keeper && rest.changed?.(name),
      times,
    })
    const made = madeOf(config, baseDir)
    return {
      name,
      config,
      bundles: skillBundles,
      cards: card,
      baseDir,
      made,
      keeper,
      limited: {},
      routed: {},
      told: {},
      needed: new Set(),
    }
  }

  function kindOf(config: AgentConfig): AgentKind {
    const kind = kinds.find((one) => one.kind === config.kind)
    if (kind === undefined) throw new Error(`there is no kind ${config.kind}`)
    return kind
  }

  function madeOf(config: AgentConfig, baseDir: string): string {
    const stats = filesOf(config, baseDir).map((file) => statSync(file, { throwIfNoEntry: false }))
    // All that an agent is opened with.
    const { kind, own, persona, timeout } = config
    return JSON.stringify([kind, own, persona, timeout, baseDir, stats.map((one) => [one?.mtimeMs, one?.size])])
  }

  function filesOf(config: AgentConfig, baseDir: string): readonly string[] {
    return kindOf(config).files?.(config.own, baseDir) ?? []
  }

  /** Nothing new reaches it; it is closed when what needs it has ended. */
  function letGo(place: Place, gone?: Promise<void>): void {
    const closed: Promise<void> = Promise.all([gone, ...place.needed])
      .then(() => place.keeper.close())
      .catch((cause: unknown) => log.warn('an agent could not be closed', { agent: place.name, cause }))
      .finally(() => closing.delete(closed))
    closing.add(closed)
  }

  async function apply(wanted: Wanted): Promise<Changes> {
    const entries = Object.entries(wanted.agents)
    const next = entries.map(([name, config]) => {
      const before = places.get(name)
      const isSame = before?.made === madeOf(config, wanted.baseDir)
      const place = isSame
        ? { ...before, config, bundles: wanted.skillBundles, cards: wanted.card }
        : begin(name, config, wanted)
      return { place, before }
    })
    await Promise.all(next.map(({ place }) => place.keeper.tried))
    hasDefault = wanted.default !== 'none'
    const removed = [...places.values()].filter(({ name }) => !Object.hasOwn(wanted.agents, name))
    places.clear()
    for (const { place, before } of next) enter(place, before)
    if (next.length > 0) server?.makeDefault(defaultName())
    for (const place of removed) {
      letGo(place, server?.remove(place.name))
      rest.changed?.(place.name)
    }
    return {
      added: next.filter(({ before }) => before === undefined).map(({ place }) => place.name),
      changed: next.filter(({ place, before }) => isChanged(place, before)).map(({ place }) => place.name),
      removed: removed.map(({ name }) => name),
    }
  }

  function enter(place: Place, before: Place | undefined): void {
    places.set(place.name, place)
    const ended = tell(place)
    welcome(place)
    if (before !== undefined && before.keeper !== place.keeper) letGo(before, ended)
  }

  function defaultName(): string | false {
    if (!hasDefault) return false
    const all = [...places.values()]
    return (all.find(({ config }) => config.default) ?? all[0])?.name ?? ''
  }

  return {
    async apply(wanted) {
      const changes = await apply(wanted)
      if (!isBegun) await Promise.race([lookAll(), sleep(firstLookMs)])
      isBegun = true
      return changes
    },
    settings: () =>
      Object.fromEntries(
        [...places].map(([name, place]) => [name, (place.told.settings = settingsFor(place))] as const),
      ),
    defaultName,
    attach(handler) {
      server = handler
      // Something may have come since the server was made.
      for (const place of places.values()) void tell(place)
    },
    names: () => [...places.keys()],
    status(name) {
      const place = places.get(name)
      if (place === undefined) return undefined
      const { open, startError } = place.keeper
      return {
        name,
        kind: place.config.kind,
        state: open === undefined ? 'unavailable' : 'open',
        ...(startError !== undefined ? { startError } : {}),
        settings: settingsFor(place),
      }
    },
    open: (name) => places.get(name)?.keeper.open,
    requireOpen(name) {
      const place = places.get(name)
      if (place !== undefined && place.keeper.open === undefined && routing?.has(name) !== true) throw unavailable()
    },
    look: async (name) => places.get(name)?.keeper.look(),
    files: () => [...places.values()].flatMap(({ config, baseDir }) => filesOf(config, baseDir)),
    async close() {
      server = undefined
      for (const place of places.values()) letGo(place)
      places.clear()
      await Promise.all(closing)
    },
  }

  async function lookAll(): Promise<void> {
    await Promise.all([...places.values()].map(({ keeper }) => keeper.look()))
  }
}

function isChanged(place: Place, before: Place | undefined): boolean {
  if (before === undefined) return false
  return (
    before.keeper !== place.keeper || !isDeepStrictEqual([before.config, before.bundles], [place.config, place.bundles])
  )
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref())
}
