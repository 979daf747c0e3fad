/** From a configuration to a running hub: the only file that knows all the parts. */
import type { AgentLog } from '@parley/a2a'
import { ConfigError, defaultJsonNodes, systemClock, verifyMasterKey } from '@parley/a2a/server'
import type { Handler, Limits } from '@parley/a2a/server'
import { guardedFetch, serve } from '@parley/a2a/node'
import type { Front, Server } from '@parley/a2a/node'
import { openAdmin } from './admin/open-admin.ts'
import type { Admin } from './admin/open-admin.ts'
import type { AgentKind } from './agents/kind.ts'
import { kinds as allKinds } from './agents/kinds.ts'
import { createAccess } from './auth/access.ts'
import type { Access } from './auth/access.ts'
import { endWithGrant } from './auth/grant-streams.ts'
import { accessSettings } from './auth/settings.ts'
import { closeAll, closeFirst } from './closing.ts'
import { agentChanges, changesBetween } from './config/changes.ts'
import type { HubConfig } from './config/config.ts'
import type { ConfigSource } from './config/source.ts'
import { createConsole } from './console/front.ts'
import { defined } from './defined.ts'
import { hopPurpose } from './delegation/hop-token.ts'
import { createDiscovery } from './discovery/front.ts'
import { forHosts, oneOf } from './fronts.ts'
import { admitted, openHandingOn } from './handing-on.ts'
import type { HandingOn } from './handing-on.ts'
import { createHooks } from './hooks.ts'
import { kindPartsOf } from './kind-parts.ts'
import { createQueues } from './limits/queues.ts'
import { remoteReach } from './mcp/client-desk.ts'
import { createMcpFront } from './mcp/front.ts'
import type { McpFront, McpFrontParts } from './mcp/front.ts'
import { hubVersion } from './hub-version.ts'
import { describeStore, openStore } from './open-store.ts'
import { ownNotes } from './own-notes.ts'
import { createBotChat } from './profiles/bot-chat.ts'
import { olderDraft } from './profiles/older-draft.ts'
import { createSimpleTasks } from './profiles/simple-tasks.ts'
import { createRegistry } from './registry.ts'
import type { Reloaded } from './reloaded.ts'
import type { AgentStatus, Registry } from './registry.ts'
import { houseOptions, isLoopback, tlsOf } from './serve-options.ts'
import { costOf } from './telemetry/prices.ts'
import { openTelemetry } from './telemetry/telemetry.ts'
import { whereOpen } from './where-open.ts'

export interface HubParts {
  readonly log: AgentLog
  /** Lets anybody in from anywhere, if the configuration lets anybody in. */
  readonly insecure?: boolean | undefined
  /** Opens a SQLite file even if acknowledged writes are missing. Default `false`: the start is refused. */
  readonly acceptLoss?: boolean | undefined
  /** What programs that agents start see of the environment. Default: nothing. */
  readonly programEnv?: Readonly<Record<string, string>> | undefined
  /** Default: all there are. */
  readonly kinds?: readonly AgentKind[] | undefined
  /** Where the files of the console are. Default: where the build puts them. */
  readonly console?: URL | undefined
  /** Where the configuration is kept, for whoever changes it by the admin API. Default: nobody does. */
  readonly source?: ConfigSource | undefined
}

export interface Hub extends Pick<Server, 'url' | 'port' | 'grpcPort'> {
  /** Where the console is, if there is one. */
  readonly console?: string
  /** There if it was made just now: nobody can read it later. */
  readonly madeAdminKey?: string
  agents(): readonly AgentStatus[]
  /** Files whose change means that the configuration is to be applied anew. */
  files(): readonly string[]
  /** What changed takes effect without ending what runs. */
  reload(config: HubConfig): Promise<Reloaded>
  close(): Promise<void>
}

/** Where the build puts it, beside the sources and beside what they are compiled to. */
const consoleFolder = new URL('../console/', import.meta.url)

export async function startHub(config: HubConfig, parts: HubParts): Promise<Hub> {
  const { log, insecure = false, kinds = allKinds } = parts
  const hasGuests = guestsOf(config).length > 0
  const isAtHome = isLoopback(config.listen.host)
  if (!isAtHome && !insecure) requireAccess(config)
  // On a machine of one's own, whoever lets anybody in must look at the Host (DNS rebinding), which is decided at the start.
  const mayOpen = hasGuests || !isAtHome || config.trustProxy
  let server: Server | undefined
  let current = config
  let registry: Registry | undefined
  let access: Access | undefined
  let mcp: McpFront | undefined
  let handing: HandingOn | undefined
  let admin: Admin | undefined
  let reloading: Promise<unknown> = Promise.resolve()
  // Turns that a crash interrupted are taken up before the server is there, and may call other agents at once.
  const handler = Promise.withResolvers<Handler>()
  handler.promise.catch(() => {})
  const url = (): string | undefined => current.publicUrl ?? server?.url
  const queues = createQueues()
  const telemetry = await openTelemetry(config.telemetry, {
    store: openStore({ ...storeOf(config), dataDir: config.dataDir, acceptLoss: parts.acceptLoss, log }),
    log,
    ...systemClock,
    keptMs: config.retention.finished,
    isAtHome: isAtHome && !config.trustProxy,
    isAdmin: (key) => access?.adminKey.isGood(key) === true,
    streams: () => server?.handler.streams() ?? 0,
    readers: () => server?.handler.readers,
    connections: () => server?.connections(),
    agents: () => registry,
    queues: queues.lengths,
  })
  const { store } = telemetry

  try {
    await verifyMasterKey(store)
    access = await openAccess()
    handing = await openHandingOn({
      notes: ownNotes(store.notes, 'delegation'),
      config: () => current,
      access,
      registry: () => registry,
      handler: handler.promise,
      url,
      log,
    })
    const { delegation, routing, house, observed } = handing
    registry = createRegistry({
      kinds,
      log,
      kindParts: kindPartsOf({
        notes: store.notes,
        log,
        limitBytes: config.limits.fetched,
        jsonNodes: config.limits.jsonNodes,
        house,
        programEnv: parts.programEnv ?? {},
        model: (agent) => registry?.open(agent)?.model,
        cost: (model, usage) => costOf(model, usage, current.prices),
        publicUrl: url,
        notice: (name) => admin?.agentChanged(name),
      }),
      limit: (agent, agentConfig, name) => queues.limit(observed(name, agent), agentConfig.limits, name),
      routing,
      security: access.security,
      extensions: (name) => [delegation.extension(name)],
      changed: (name) => admin?.agentChanged(name),
    })
    await registry.apply(config)
    // What is open needs the store until it is closed, and what ran has ended before the store is.
    closeFirst(store, handing, registry, access, telemetry)
    admin = openOffice(registry, access, handing)
    server = await start(registry, access, admin)
  } catch (reason) {
    handler.reject(reason)
    await closeAll(store, handing, registry, access, telemetry)
    throw reason
  }
  handler.resolve(server.handler)
  registry.attach(server.handler.agents)
  return asHub(server, registry, access)

  function openAccess(): Promise<Access> {
    return createAccess({
      notes: store.notes,
      settings: accessSettings(config),
      adminKey: config.admin.key,
      auditMs: config.retention.audit,
      log,
      secrets: async () => (await handler.promise).secrets,
    })
  }

  function openOffice(agents: Registry, known: Access, { health, routing }: HandingOn): Admin {
    return openAdmin({
      access: known,
      store,
      storeName: describeStore({ store: config.store.url, dataDir: config.dataDir }),
      registry: agents,
      handler: () => handler.promise,
      streams: () => server?.handler.streams() ?? 0,
      kinds,
      programEnv: parts.programEnv ?? {},
      config: () => current,
      source: parts.source,
      preview,
      reload,
      isOpen: (agent) => mayOpen && accessSettings(current).isOpen(agent),
      health,
      suppose: routing.suppose,
      traces: () => telemetry.traces,
      url,
      version: hubVersion(),
      log,
      ...systemClock,
    })
  }

  function openDiscovery(agents: Registry, known: Access): Front {
    return createDiscovery({
      registry: agents,
      identify: known.identify,
      admitted: (caller, agent) => admitted(known, caller, agent),
      publicUrl: () => current.publicUrl,
      url,
      log,
    })
  }

  function start(agents: Registry, known: Access, { front, listening }: Admin): Promise<Server> {
    const { settings, defaultName, requireOpen, open } = agents
    const house = houseOptions(config, hasGuests)
    const admit = whereOpen(requireOpen, known.admit)
    const hooks = createHooks({ open, log, bodyBytes: house.limits?.bodyBytes ?? 20_000_000 })
    const { authenticate } = known
    const { onAnswer, onEvent, push } = listening(telemetry.listening(known, house.push))
    const shared = {
      engine: () => server?.handler.engine,
      requireOpen,
      authenticate,
      admit,
      onAnswer,
      log,
      ...systemClock,
    }
    const { pages, notFound } = createConsole({
      folder: parts.console ?? consoleFolder,
      isOn: () => current.admin.console,
      routes: (request, response, next) =>
        server === undefined ? next() : server.handler.node(request, response, next),
    })
    const fronts: Front[] = [front, pages, openDiscovery(agents, known), hooks]
    if (telemetry.front !== undefined) fronts.push(telemetry.front)
    if (config.profiles.simpleTasks) {
      const textsAreMessages = (agent: string): boolean => open(agent)?.textsAreMessages === true
      const records = (taskId: string) => store.read(taskId, 0)
      fronts.push(createSimpleTasks({ ...shared, defaultAgent: chosenDefault, textsAreMessages, records }))
    }
    if (config.profiles.botChat) fronts.push(createBotChat({ ...shared, cardName }))
    mcp = openMcp(shared, house.limits, known)
    if (mcp !== undefined) fronts.push(mcp.front)
    fronts.push(notFound)
    return serve({
      ...house,
      // The command says where it listens, and what browsers see is the console.
      quiet: true,
      homePage: false,
      ...(config.profiles.olderDraft ? { endpointVariants: olderDraft } : {}),
      store,
      log,
      agents: settings(),
      default: defaultName(),
      authenticate,
      admit,
      mayKnow: known.mayUse,
      onAnswer,
      onEvent,
      onStream: known.onStream,
      ...defined({ push }),
      signsFor: [hopPurpose],
      front: forHosts(house.hosts, oneOf(...fronts)),
    })
  }

  /** The agents as tools for MCP clients. */
  function openMcp(
    shared: Pick<McpFrontParts, 'engine' | 'authenticate' | 'admit' | 'onAnswer' | 'log' | 'monotonicNow'>,
    limits: Partial<Limits> = {},
    known: Access,
  ): McpFront | undefined {
    if (config.mcp === false) return undefined
    const { tools, wait: waitMs, remote } = config.mcp
    const allow = typeof remote === 'object' ? remote.allow : []
    const reach = remote === false ? undefined : remoteReach(guardedFetch({ allowHttp: true, allow }))
    return createMcpFront({
      ...shared,
      settings: { tools, waitMs },
      identify: known.identify,
      endWithGrant(caller, response) {
        const grant = known.grantOf(caller)
        if (grant !== undefined) endWithGrant(known.streams, grant, response)
      },
      admitted: (caller, agent) => admitted(known, caller, agent),
      names: () => registry?.names() ?? [],
      agentSettings: (agent) => registry?.status(agent)?.settings,
      isOpen: (agent) => registry?.open(agent) !== undefined,
      url: (agent) => `${url()}/a2a/${agent}`,
      hasOpenAgents: () => guestsOf(current).length > 0,
      // For those who may use every agent here; of those without a name only where nobody has one.
      remoteFor: (caller) =>
        known.mayUse(caller, '*') && (caller.anonymous !== true || current.access === undefined) ? reach : undefined,
      trustsProxy: () => current.trustProxy,
      bodyBytes: limits.bodyBytes ?? 20_000_000,
      jsonNodes: limits.jsonNodes ?? defaultJsonNodes,
      mostCalls: config.limits.streamsPerCaller ?? 2_000,
      publicUrl: url,
      issuers: () => (current.access?.jwt ?? []).map(({ issuer }) => issuer),
      cors: config.cors,
    })
  }

  function cardName(agent: string): string | undefined {
    const status = registry?.status(agent)
    return status === undefined ? undefined : (status.settings.name ?? agent)
  }

  /** The one whose entry says that it is. */
  function chosenDefault(): string | undefined {
    return Object.entries(current.agents).find(([, agent]) => agent.default)?.[0]
  }

  function asHub({ url: address, port, grpcPort, close }: Server, agents: Registry, known: Access): Hub {
    return {
      url: address,
      port,
      ...(grpcPort !== undefined ? { grpcPort } : {}),
      ...(config.admin.console ? { console: `${address}/` } : {}),
      ...(known.madeAdminKey !== undefined ? { madeAdminKey: known.madeAdminKey } : {}),
      agents: () => agents.names().flatMap((name) => agents.status(name) ?? []),
      files: () => [...(current.file === undefined ? [] : [current.file]), ...agents.files()],
      reload,
      async close() {
        // While the store is there to be told.
        await admin?.close()
        await Promise.all([mcp?.close(), close()])
      },
    }
  }

  /** One change after the other. */
  function reload(wanted: HubConfig): Promise<Reloaded> {
    const done = reloading.then(() => change(wanted, registry as Registry, access as Access))
    reloading = done.catch(() => {})
    return done
  }

  async function change(wanted: HubConfig, agents: Registry, known: Access): Promise<Reloaded> {
    const { applied, restart } = preview(wanted)
    // What the server was made with stays what it is made with.
    const { sections } = changesBetween(current, wanted)
    current = { ...wanted, ...Object.fromEntries(sections.map((name) => [name, current[name]])) }
    known.configure({ ...accessSettings(current), ...(mayOpen ? {} : { isOpen: () => false }) })
    handing?.configure()
    const changes = await agents.apply(current)
    // Resolves when the ports that agents ask for are open.
    await server?.grpcPorts()
    mcp?.changed()
    admin?.configChanged()
    renewCertificate()
    return { ...changes, applied, restart }
  }

  /** What `change` would come to. Throws ConfigError, as it does. */
  function preview(wanted: HubConfig): Reloaded {
    if (!isAtHome && !insecure) requireAccess(wanted)
    const { sections, bounds, applied } = changesBetween(current, wanted)
    const shut = mayOpen ? [] : guestsOf(wanted).map((name) => `access without credentials to ${name}`)
    return { ...agentChanges(current, wanted), applied, restart: [...sections, ...bounds, ...shut] }
  }

  function renewCertificate(): void {
    const tls = tlsOf(current)
    if (tls !== undefined && server !== undefined && 'setSecureContext' in server.server) {
      server.server.setSecureContext(tls)
    }
  }
}

function storeOf({ store: { url, ...rest } }: HubConfig) {
  const { direct, masterKey }: { direct?: string | undefined; masterKey?: string | undefined } = rest
  return { store: url, directStore: direct, masterKey }
}

/** The agents that may be called without credentials. */
function guestsOf(config: HubConfig): readonly string[] {
  return Object.keys(config.agents).filter(accessSettings(config).isOpen)
}

function requireAccess(config: HubConfig): void {
  if (config.access !== undefined || guestsOf(config).length === 0) return
  throw new ConfigError(
    'listen.host',
    `everybody who reaches ${config.listen.host} could call every agent: say who may under \`access\`, or start with --insecure`,
  )
}
