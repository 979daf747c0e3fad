/** Builds a running hub from a configuration. The only file that knows all the parts. */
import { omitUndefined, type AgentLog } from '@parley/a2a'
import { ConfigError, defaultJsonNodes, systemClock, verifyMasterKey } from '@parley/a2a/server'
import type { Handler, HandlerCall, Limits } from '@parley/a2a/server'
import { guardedFetch, serve, type Middleware, type Server } from '@parley/a2a/node'
import { createAdminApi, type AdminApi } from './admin/admin-api.ts'
import type { AgentKind } from './agents/kind.ts'
import { agentKinds as allKinds } from './agents/kinds.ts'
import { createAccessControl, type AccessControl } from './auth/access-control.ts'
import { withAvailabilityCheck, accessSettings } from './auth/admit-request.ts'
import { endWithGrant } from './auth/grant-streams.ts'
import { closeAllQuietly, closeBeforeStore, describeStore, firstReadError, openStore } from './store/open-store.ts'
import { applyLive, diffConfig, type ReloadResult } from './config/diff-config.ts'
import type { HubConfig } from './config/hub-config.ts'
import type { ConfigSource } from './config/config-source.ts'
import { createConsole } from './console/console-routes.ts'
import { intersectCallerScopes } from './delegation/chain-scopes.ts'
import { hopPurpose } from './delegation/hop-token.ts'
import { createDiscovery } from './discovery/discovery-routes.ts'
import { restrictHosts, composeMiddleware } from './http/middleware.ts'
import { agentPermission, setUpDelegation, type DelegationSetup } from './delegation/delegation-setup.ts'
import { createAgentWebhooks } from './http/agent-webhooks.ts'
import { createAgentServices } from './registry/agent-services.ts'
import { createAgentQueues } from './limits/limit-concurrency.ts'
import type { McpEndpoint, McpEndpointDeps } from './mcp/http-endpoint.ts'
import { createLazyMcpEndpoint, createLazyRemoteLookup } from './mcp/lazy-endpoint.ts'
import { hubVersion } from './config/hub-version.ts'
import { namespacedKv } from './store/namespaced-kv.ts'
import { createChatEndpoint } from './profiles/chat-endpoint.ts'
import { legacyV03Draft } from './profiles/legacy-v03-draft.ts'
import { createSimpleTasksEndpoint } from './profiles/simple-tasks-endpoint.ts'
import { createAgentRegistry, type AgentStatus, type AgentRegistry } from './registry/agent-registry.ts'
import { serveOptionsFrom, isLoopback, readTls } from './http/serve-options.ts'
import { modelCost } from './telemetry/model-prices.ts'
import { openTelemetry } from './telemetry/telemetry.ts'
import type { LogBuffer } from './telemetry/logs/log-buffer.ts'

export interface HubOptions {
  readonly log: AgentLog
  /** The last lines of `log`, for the admin API. Default: none. */
  readonly logBuffer?: LogBuffer | undefined
  /** Accepts anonymous access on any address, if the configuration allows anonymous access. */
  readonly insecure?: boolean | undefined
  /** Opens a SQLite file even if acknowledged writes are missing. Default `false`: the hub refuses to start. */
  readonly acceptLoss?: boolean | undefined
  /** Environment variables for programs that agents start. Default: none. */
  readonly programEnv?: Readonly<Record<string, string>> | undefined
  /** Default: all built-in kinds. */
  readonly kinds?: readonly AgentKind[] | undefined
  /** The folder of the console files. Default: the output folder of the build. */
  readonly consoleFolder?: URL | undefined
  /** The configuration source for changes through the admin API. Default: none, so such changes are refused. */
  readonly source?: ConfigSource | undefined
}

export interface Hub extends Pick<Server, 'url' | 'port' | 'grpcPort'> {
  /** The URL of the console, if it is enabled. */
  readonly console?: string
  /** Set if the key was created by this start. It cannot be read again later. */
  readonly newAdminKey?: string
  agents(): readonly AgentStatus[]
  /** Files whose change requires a reload of the configuration. */
  files(): readonly string[]
  /** Applies changes without ending running work. */
  reload(config: HubConfig): Promise<ReloadResult>
  close(): Promise<void>
}

/** The output folder of the build, beside the sources and beside the compiled files. */
const consoleFolder = new URL('../console/', import.meta.url)

export async function startHub(config: HubConfig, parts: HubOptions): Promise<Hub> {
  const { log, insecure = false, kinds = allKinds } = parts
  const hasAnonymousAgents = anonymousAgents(config).length > 0
  const isLoopbackHost = isLoopback(config.listen.host)
  if (!isLoopbackHost && !insecure) requireAccess(config)
  // On loopback with anonymous access the server must check the Host (DNS rebinding). That is decided at the start.
  const canAllowAnonymous = hasAnonymousAgents || !isLoopbackHost || config.trustProxy
  let server: Server | undefined
  let current = config
  let registry: AgentRegistry | undefined
  let access: AccessControl | undefined
  let mcp: McpEndpoint | undefined
  let delegationSetup: DelegationSetup | undefined
  let admin: AdminApi | undefined
  let reloading: Promise<unknown> = Promise.resolve()
  // Turns that a crash interrupted resume before the server exists, and may call other agents at once.
  const handler = Promise.withResolvers<Handler>()
  handler.promise.catch(() => {})
  const handlerCall: HandlerCall = async (...call) => (await handler.promise).call(...call)
  const url = (): string | undefined => current.publicUrl ?? server?.url
  const queues = createAgentQueues()
  const storeSettings = { ...storeSettingsOf(config), dataDir: config.dataDir }
  const telemetry = await openTelemetry(config.telemetry, {
    store: await openStore({ ...storeSettings, acceptLoss: parts.acceptLoss, log }),
    log,
    ...systemClock,
    retentionMs: config.retention.finished,
    isLoopbackOnly: isLoopbackHost && !config.trustProxy,
    isAdmin: (key) => access?.adminKey.matches(key) === true,
    streams: (agent) => server?.handler.openStreams(agent) ?? 0,
    readers: () => server?.handler.readers,
    connections: () => server?.connections(),
    agents: () => registry,
    queues: queues.lengths,
  })
  const { store } = telemetry

  try {
    await verifyMasterKey(store).catch((reason: unknown) => {
      throw firstReadError(reason, storeSettings)
    })
    access = await openAccess()
    delegationSetup = await setUpDelegation({
      kv: namespacedKv(store.kv, 'delegation'),
      config: () => current,
      access,
      registry: () => registry,
      handler: handler.promise,
      url,
      agentChanged: (name) => admin?.agentChanged(name),
      log,
    })
    const { delegation, routing, inProcessClient, observe } = delegationSetup
    registry = createAgentRegistry({
      kinds,
      log,
      agentServices: createAgentServices({
        kv: store.kv,
        log,
        limitBytes: config.limits.fetched,
        jsonNodes: config.limits.jsonNodes,
        inProcessClient,
        programEnv: parts.programEnv ?? {},
        model: (agent) => registry?.open(agent)?.model,
        cost: (model, usage) => modelCost(model, usage, current.prices),
        publicUrl: url,
        agentChanged: (name) => admin?.agentChanged(name),
      }),
      limit: (agent, agentConfig, name) => queues.limit(observe(name, agent), agentConfig.limits, name),
      routing,
      security: access.security,
      extensions: (name) => [delegation.extension(name)],
      onChange: (name) => admin?.agentChanged(name),
    })
    await registry.apply(config)
    // Open parts need the store until they are closed, and running work ends before the store closes.
    closeBeforeStore(store, delegationSetup, registry, access, telemetry)
    admin = openAdminApi(registry, access, delegationSetup)
    server = await start(registry, access, admin)
  } catch (reason) {
    handler.reject(reason)
    await closeAllQuietly(store, delegationSetup, registry, access, telemetry)
    throw reason
  }
  handler.resolve(server.handler)
  registry.attachServer(server.handler.agents)
  return toHub(server, registry, access)

  function openAccess(): Promise<AccessControl> {
    return createAccessControl({
      kv: store.kv,
      settings: accessSettings(config),
      adminKey: config.admin.key,
      auditMs: config.retention.audit,
      log,
      secrets: async () => (await handler.promise).secrets,
    })
  }

  function openAdminApi(agents: AgentRegistry, known: AccessControl, { health, routing }: DelegationSetup): AdminApi {
    return createAdminApi({
      access: known,
      store,
      storeName: describeStore({ store: config.store.url, dataDir: config.dataDir }),
      registry: agents,
      handler: () => handler.promise,
      stats: telemetry.stats,
      kinds,
      programEnv: parts.programEnv ?? {},
      config: () => current,
      source: parts.source,
      preview,
      reload,
      isAnonymousAllowed: (agent) => canAllowAnonymous && accessSettings(current).isAnonymousAllowed(agent),
      health,
      dryRun: routing.dryRun,
      traces: () => telemetry.traces,
      url,
      version: hubVersion(),
      log,
      logBuffer: parts.logBuffer,
      ...systemClock,
    })
  }

  function openDiscovery(agents: AgentRegistry, known: AccessControl): Middleware {
    return createDiscovery({
      registry: agents,
      identify: known.identify,
      permissionFor: (caller, agent) => agentPermission(known, caller, agent),
      publicUrl: () => current.publicUrl,
      url,
      log,
    })
  }

  function start(
    agents: AgentRegistry,
    known: AccessControl,
    { middleware: front, withListeners }: AdminApi,
  ): Promise<Server> {
    const { settings, defaultName, requireOpen, open } = agents
    const serveOptions = serveOptionsFrom(config, hasAnonymousAgents)
    const admit = withAvailabilityCheck(requireOpen, known.admit)
    const webhooks = createAgentWebhooks({ open, log, bodyBytes: serveOptions.limits?.bodyBytes ?? 20_000_000 })
    const { onAnswer, onEvent, push } = withListeners(telemetry.withListeners(known, serveOptions.push))
    const shared = {
      handlerCall,
      admit,
      onAnswer,
      log,
      ...systemClock,
    }
    const { pages, notFound } = createConsole({
      folder: parts.consoleFolder ?? consoleFolder,
      isEnabled: () => current.admin.console,
      routes: (request, response, next) =>
        server === undefined ? next() : server.handler.node(request, response, next),
    })
    mcp = openMcp(shared, serveOptions.limits, known)
    const middleware = composeMiddleware({
      admin: front,
      console: pages,
      discovery: openDiscovery(agents, known),
      webhooks,
      metrics: telemetry.middleware,
      simpleTasks: config.profiles.simpleTasks
        ? createSimpleTasksEndpoint({
            ...shared,
            defaultAgent: explicitDefault,
            hasMessagePerText: (agent) => open(agent)?.hasMessagePerText === true,
            records: (taskId) => store.tasks.read(taskId, 0),
          })
        : undefined,
      chat: config.profiles.botChat ? createChatEndpoint({ ...shared, cardName }) : undefined,
      mcp: mcp?.middleware,
      notFound,
    })
    return serve({
      ...serveOptions,
      // The command prints the address, and browsers get the console.
      quiet: true,
      homePage: false,
      ...(config.profiles.olderDraft ? { endpointVariants: legacyV03Draft } : {}),
      store,
      log,
      agents: settings(),
      default: defaultName(),
      authenticate: known.authenticate,
      admit,
      canSeeAgent: known.canUse,
      intersectScopes: intersectCallerScopes,
      onAnswer,
      onEvent,
      onStream: known.onStream,
      ...omitUndefined({ push }),
      signingPurposes: [hopPurpose],
      middleware: restrictHosts(serveOptions.hosts, middleware),
    })
  }

  /** Serves the agents as tools for MCP clients. */
  function openMcp(
    shared: Pick<McpEndpointDeps, 'handlerCall' | 'admit' | 'onAnswer' | 'log' | 'monotonicNow'>,
    limits: Partial<Limits> = {},
    known: AccessControl,
  ): McpEndpoint | undefined {
    if (config.mcp === false) return undefined
    const { tools, wait: waitMs, remote } = config.mcp
    const allow = typeof remote === 'object' ? remote.allow : []
    const reach = remote === false ? undefined : createLazyRemoteLookup(guardedFetch({ allowHttp: true, allow }))
    return createLazyMcpEndpoint({
      ...shared,
      settings: { tools, waitMs },
      identify: known.identify,
      endWithGrant(caller, response) {
        const grant = known.grantOf(caller)
        if (grant !== undefined) endWithGrant(known.streams, grant, response)
      },
      admitted: (caller, agent) => agentPermission(known, caller, agent),
      names: () => registry?.names() ?? [],
      agentSettings: (agent) => registry?.status(agent)?.settings,
      isOpen: (agent) => registry?.open(agent) !== undefined,
      url: (agent) => `${url()}/a2a/${agent}`,
      hasOpenAgents: () => anonymousAgents(current).length > 0,
      // For callers that may use every agent; for anonymous callers only where all callers are anonymous.
      remoteFor: (caller) =>
        known.canUse(caller, '*') && (caller.anonymous !== true || current.access === undefined) ? reach : undefined,
      isProxyTrusted: () => current.trustProxy,
      bodyBytes: limits.bodyBytes ?? 20_000_000,
      jsonNodes: limits.jsonNodes ?? defaultJsonNodes,
      maxConcurrentCalls: config.limits.streamsPerCaller ?? 2_000,
      publicUrl: url,
      issuers: () => (current.access?.jwt ?? []).map(({ issuer }) => issuer),
      cors: config.cors,
    })
  }

  function cardName(agent: string): string | undefined {
    const status = registry?.status(agent)
    return status === undefined ? undefined : (status.settings.name ?? agent)
  }

  /** The agent whose entry sets `default`. */
  function explicitDefault(): string | undefined {
    return Object.entries(current.agents).find(([, agent]) => agent.default)?.[0]
  }

  function toHub({ url: address, port, grpcPort, close }: Server, agents: AgentRegistry, known: AccessControl): Hub {
    return {
      url: address,
      port,
      ...omitUndefined({ grpcPort }),
      ...(config.admin.console ? { console: `${address}/` } : {}),
      ...omitUndefined({ newAdminKey: known.newAdminKey }),
      agents: () => agents.names().flatMap((name) => agents.status(name) ?? []),
      files: () => [...(current.file === undefined ? [] : [current.file]), ...agents.files()],
      reload,
      async close() {
        // Before the store closes.
        await admin?.close()
        await Promise.all([mcp?.close(), close()])
      },
    }
  }

  /** Reloads run one after the other. */
  function reload(nextConfig: HubConfig): Promise<ReloadResult> {
    const done = reloading.then(() => change(nextConfig, registry as AgentRegistry, access as AccessControl))
    reloading = done.catch(() => {})
    return done
  }

  async function change(nextConfig: HubConfig, agents: AgentRegistry, known: AccessControl): Promise<ReloadResult> {
    const { applied, restart } = preview(nextConfig)
    current = applyLive(current, nextConfig)
    known.configure({ ...accessSettings(current), ...(canAllowAnonymous ? {} : { isAnonymousAllowed: () => false }) })
    delegationSetup?.configure()
    const changes = await agents.apply(current)
    // Resolves when the gRPC ports of the agents are open.
    await server?.grpcPorts()
    mcp?.toolsChanged()
    admin?.configChanged()
    renewCertificate()
    return { ...changes, applied, restart }
  }

  /** Returns what `change` would do. Throws ConfigError, as `change` does. */
  function preview(nextConfig: HubConfig): ReloadResult {
    if (!isLoopbackHost && !insecure) requireAccess(nextConfig)
    const changes = diffConfig(current, nextConfig)
    const anonymousAfterRestart = canAllowAnonymous
      ? []
      : anonymousAgents(nextConfig).map((name) => `access without credentials to ${name}`)
    return { ...changes, restart: [...changes.restart, ...anonymousAfterRestart] }
  }

  function renewCertificate(): void {
    const tls = readTls(current)
    if (tls !== undefined && server !== undefined && 'setSecureContext' in server.server) {
      server.server.setSecureContext(tls)
    }
  }
}

function storeSettingsOf({ store: { url, ...rest } }: HubConfig) {
  const { direct, masterKey }: { direct?: string | undefined; masterKey?: string | undefined } = rest
  return { store: url, directStore: direct, masterKey }
}

/** The agents that accept calls without credentials. */
function anonymousAgents(config: HubConfig): readonly string[] {
  return Object.keys(config.agents).filter(accessSettings(config).isAnonymousAllowed)
}

function requireAccess(config: HubConfig): void {
  if (config.access !== undefined || anonymousAgents(config).length === 0) return
  throw new ConfigError(
    'listen.host',
    `Refusing to listen on ${config.listen.host} without authentication. Configure \`access\`, or start with --insecure.`,
  )
}
